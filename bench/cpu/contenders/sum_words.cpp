#include "cpu/contenders/sum_words.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/contenders/sum_words.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kith::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kWord = sizeof(std::uint64_t);

// One vector of words. The target without vectors has no byte vector as wide as a word.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::uint8_t* bytes) {
#if HWY_TARGET == HWY_SCALAR
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return hn::Set(d, word);
#else
  return hn::BitCast(d, hn::LoadU(hn::Repartition<std::uint8_t, D>(), bytes));
#endif
}

// Reads at four places at once, each with its own sum: a core that follows one stream only leaves up to a third of what
// memory can give it.
std::uint64_t sum_words(const std::uint8_t* HWY_RESTRICT bytes, std::int64_t words) {
  const hn::ScalableTag<std::uint64_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t stream = words / 4 / lanes * lanes;
  const std::uint8_t* second = bytes + stream * kWord;
  const std::uint8_t* third = second + stream * kWord;
  const std::uint8_t* fourth = third + stream * kWord;
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto sum2 = hn::Zero(d);
  auto sum3 = hn::Zero(d);
  for (std::int64_t i = 0; i < stream; i += lanes) {
    sum0 = hn::Add(sum0, load(d, bytes + i * kWord));
    sum1 = hn::Add(sum1, load(d, second + i * kWord));
    sum2 = hn::Add(sum2, load(d, third + i * kWord));
    sum3 = hn::Add(sum3, load(d, fourth + i * kWord));
  }
  std::uint64_t sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
  for (std::int64_t i = 4 * stream; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i * kWord, sizeof word);
    sum += word;
  }
  return sum;
}

}  // namespace kith::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::bench {

HWY_EXPORT(sum_words);

std::uint64_t sum_words(const std::uint8_t* bytes, std::int64_t words) {
  return HWY_DYNAMIC_DISPATCH(sum_words)(bytes, words);
}

}  // namespace kith::bench
#endif
