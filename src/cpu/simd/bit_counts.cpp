// bit_counts.cpp: several queries by several panels of base rows at a time, counts in registers.
// Idea    A word of a query is broadcast, combined with the same word of as many base rows as a vector has lanes, and
//         its bits are counted in each lane. Only blocks in which a count passes the query's test write anything.
// Cost    Per pair and vector of bits three instructions: combine, count, add. AVX-512 with VPOPCNTDQ counts in one,
//         others in about six, in bytes that are added up every 31 words.
// Floors  1,000 queries × 1,000,000 rows × 1024 bits are 10⁹ pairs of two vectors of 512 bits, 6·10⁹
// instructions: 1.5·10⁹
//         cycles of a core with four vector units, of which two count. Bytes are no floor: rows that lie in panels are
//         read once for all queries of a block, 128 MB at all; so for one query they are the only one.
#include "cpu/simd/bit_counts.hpp"

#include "cpu/simd/targets.hpp"

// Beside what all kernels are compiled for, AVX-512 with VPOPCNTDQ.
#define HWY_WANT_AVX3_DL
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/bit_counts.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "cpu/simd/register_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using U32 = hn::ScalableTag<std::uint32_t>;
using I32 = hn::ScalableTag<std::int32_t>;
using F32 = hn::ScalableTag<float>;
using Words = hn::Vec<U32>;
using Counts = hn::Vec<I32>;

// An instruction counts the bits of a lane.
constexpr bool kCountsLanes = HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_AVX3_DL;
// What compilers keep in registers: they put off additions, so a tile of all of them is spilled.
constexpr bool kHasManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64;
constexpr int kRowPanels = kHasManyRegisters ? 4 : 2;
constexpr int kQueryRows = kHasManyRegisters ? 4 : 3;
// So many words of which each byte has up to eight bits can be counted in a byte.
constexpr std::int64_t kByteWords = 31;

struct Differing {
  static HWY_INLINE Words combine(Words x, Words y) { return hn::Xor(x, y); }
};
struct Common {
  static HWY_INLINE Words combine(Words x, Words y) { return hn::And(x, y); }
};

#if HWY_TARGET != HWY_SCALAR
// The bits of each byte.
HWY_INLINE Words count_bytes(Words v) {
  const hn::Repartition<std::uint8_t, U32> bytes;
  return hn::BitCast(U32(), hn::PopulationCount(hn::BitCast(bytes, v)));
}

HWY_INLINE Words add_bytes(Words a, Words b) {
  const hn::Repartition<std::uint8_t, U32> bytes;
  return hn::BitCast(U32(), hn::Add(hn::BitCast(bytes, a), hn::BitCast(bytes, b)));
}

// The four bytes of each lane.
HWY_INLINE Words sum_of_bytes(Words v) {
  const U32 d;
  const Words even = hn::Set(d, 0x00FF00FFU);
  const Words pairs = hn::Add(hn::And(v, even), hn::And(hn::ShiftRight<8>(v), even));
  return hn::And(hn::Add(pairs, hn::ShiftRight<16>(pairs)), hn::Set(d, 0xFFFFU));
}
#endif

// Adds the bits of words `first` … `last` − 1 to the counts of kCount queries by the panels.
template <class Op, int kCount>
HWY_INLINE void add_counts(std::int64_t first, std::int64_t last, std::int64_t words,
                           const std::uint32_t* HWY_RESTRICT query, const std::uint32_t* HWY_RESTRICT panels,
                           Words (&count)[kCount][kRowPanels]) {
  const U32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t word = first; word < last; ++word) {
    Words y[kRowPanels];
    HWY_UNROLL(8)
    for (int i = 0; i < kRowPanels; ++i) y[i] = hn::LoadU(d, panels + (i * words + word) * lanes);
    HWY_UNROLL(8)
    for (int r = 0; r < kCount; ++r) {
      const Words x = hn::Set(d, query[r * words + word]);
      HWY_UNROLL(8)
      for (int i = 0; i < kRowPanels; ++i) {
#if HWY_TARGET != HWY_SCALAR
        if constexpr (!kCountsLanes) {
          count[r][i] = add_bytes(count[r][i], count_bytes(Op::combine(x, y[i])));
          continue;
        }
#endif
        if constexpr (kCountsLanes) count[r][i] = hn::Add(count[r][i], hn::PopulationCount(Op::combine(x, y[i])));
      }
    }
  }
}

template <int kCount>
HWY_INLINE void set_zero(Words (&count)[kCount][kRowPanels]) {
  HWY_UNROLL(8)
  for (int r = 0; r < kCount; ++r) {
    HWY_UNROLL(8)
    for (int i = 0; i < kRowPanels; ++i) count[r][i] = hn::Zero(U32());
  }
}

template <class Op, int kCount>
HWY_INLINE void count_block(std::int64_t words, const std::uint32_t* query, const std::uint32_t* panels,
                            Words (&count)[kCount][kRowPanels]) {
  set_zero(count);
  if constexpr (kCountsLanes) {
    add_counts<Op, kCount>(0, words, words, query, panels, count);
  } else {
#if HWY_TARGET != HWY_SCALAR
    for (std::int64_t first = 0; first < words; first += kByteWords) {
      Words bytes[kCount][kRowPanels];
      set_zero(bytes);
      add_counts<Op, kCount>(first, std::min(words, first + kByteWords), words, query, panels, bytes);
      HWY_UNROLL(8)
      for (int r = 0; r < kCount; ++r) {
        HWY_UNROLL(8)
        for (int i = 0; i < kRowPanels; ++i) count[r][i] = hn::Add(count[r][i], sum_of_bytes(bytes[r][i]));
      }
    }
#endif
  }
}

// Fewer bits differ than the limit.
struct DifferingTest {
  using Op = Differing;
  const std::int32_t* limits;

  HWY_INLINE hn::Mask<I32> operator()(std::int64_t query, std::int64_t /*row*/, Counts count) const {
    return hn::Lt(count, hn::Set(I32(), limits[query]));
  }
};

struct CommonTest {
  using Op = Common;
  const core::JaccardLimit* limits;
  const float* populations;

  HWY_INLINE hn::Mask<I32> operator()(std::int64_t query, std::int64_t row, Counts count) const {
    const F32 d;
    const auto least =
        hn::MulAdd(hn::Set(d, limits[query].slope), hn::LoadU(d, populations + row), hn::Set(d, limits[query].floor));
    return hn::RebindMask(I32(), hn::Ge(hn::ConvertTo(d, count), least));
  }
};

// Appends the rows of a panel that passed.
HWY_INLINE BitHit* append(std::int64_t query, std::int64_t first, std::int64_t rows, Counts count, hn::Mask<I32> passed,
                          BitHit* hits) {
  const I32 d;
  HWY_ALIGN std::int32_t counts[HWY_MAX_BYTES / 4];
  std::uint8_t bytes[8] = {};
  hn::Store(count, d, counts);
  hn::StoreMaskBits(d, passed, bytes);
  std::uint32_t rest = bytes[0] | std::uint32_t{bytes[1]} << 8;
  for (; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (first + lane >= rows) break;
    *hits++ = {static_cast<std::uint32_t>(query), static_cast<std::uint32_t>(first + lane), counts[lane]};
  }
  return hits;
}

// Counts of kCount queries from `q` on by the panels that begin with row `first`.
template <class Test, int kCount>
HWY_INLINE BitHit* search_block(const BitQueries& queries, const BitPanels& base, const Test& test, std::int64_t q,
                                std::int64_t first, BitHit* hits) {
  const I32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t words = queries.words_each;
  Words count[kCount][kRowPanels];
  count_block<typename Test::Op, kCount>(words, queries.words + q * words, base.words + first * words, count);
  const auto passed = [&](int r, int i)
                          HWY_ATTR { return test(q + r, first + i * lanes, hn::BitCast(d, count[r][i])); };
  const auto any = [&](int r) HWY_ATTR {
    auto found = passed(r, 0);
    HWY_UNROLL(8)
    for (int i = 1; i < kRowPanels; ++i) found = hn::Or(found, passed(r, i));
    return found;
  };
  auto all = any(0);
  HWY_UNROLL(8)
  for (int r = 1; r < kCount; ++r) all = hn::Or(all, any(r));
  if (HWY_LIKELY(hn::AllFalse(d, all))) return hits;
  HWY_UNROLL(8)
  for (int r = 0; r < kCount; ++r) {
    if (hn::AllFalse(d, any(r))) continue;
    HWY_UNROLL(8)
    for (int i = 0; i < kRowPanels; ++i)
      hits = append(q + r, first + i * lanes, base.count, hn::BitCast(d, count[r][i]), passed(r, i), hits);
  }
  return hits;
}

template <class Test>
std::int64_t search_panels(const BitQueries& queries, const BitPanels& base, const Test& test, BitHit* hits) {
  const std::int64_t rows = kRowPanels * static_cast<std::int64_t>(hn::Lanes(U32()));
  BitHit* end = hits;
  for (std::int64_t first = 0; first < base.count; first += rows) {
    std::int64_t q = 0;
    for (; q + kQueryRows <= queries.count; q += kQueryRows)
      end = search_block<Test, kQueryRows>(queries, base, test, q, first, end);
    for (; q < queries.count; ++q) end = search_block<Test, 1>(queries, base, test, q, first, end);
  }
  return end - hits;
}

std::int64_t search_differing(const BitQueries& queries, const BitPanels& base, const std::int32_t* limits,
                              BitHit* hits) {
  return search_panels(queries, base, DifferingTest{limits}, hits);
}

std::int64_t search_common(const BitQueries& queries, const BitPanels& base, const core::JaccardLimit* limits,
                           BitHit* hits) {
  return search_panels(queries, base, CommonTest{limits, base.populations}, hits);
}

// Words `word` … of the rows of a panel, of which there are `count`, one by one.
void pack_words(const BitRows& rows, std::int64_t first, std::int64_t count, std::int64_t word, std::uint32_t* panel) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(U32()));
  for (; word < rows.words(); ++word)
    for (std::int64_t j = 0; j < lanes; ++j)
      panel[word * lanes + j] =
          j < count ? bit_word(rows.data + (first + j) * rows.stride, rows.bytes, word) : std::uint32_t{0};
}

// Words of a panel that has all its rows, four at a time as far as all their bytes are there; returns how many.
std::int64_t pack_fours(const BitRows& rows, std::int64_t first, std::uint32_t* panel) {
#if HWY_TARGET == HWY_SCALAR
  static_cast<void>(rows);
  static_cast<void>(first);
  static_cast<void>(panel);
  return 0;
#else
  const hn::FixedTag<std::uint32_t, 4> d;
  const hn::FixedTag<std::uint8_t, 16> bytes;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(U32()));
  const std::int64_t fours = rows.bytes / 16;
  for (std::int64_t j = 0; j < lanes; j += 4) {
    const std::uint8_t* from = rows.data + (first + j) * rows.stride;
    for (std::int64_t i = 0; i < fours; ++i) {
      const auto load = [&](std::int64_t row)
                            HWY_ATTR { return hn::BitCast(d, hn::LoadU(bytes, from + row * rows.stride + i * 16)); };
      store_transposed(d, load(0), load(1), load(2), load(3), panel + 4 * i * lanes + j, lanes);
    }
  }
  return 4 * fours;
#endif
}

void pack(const BitRows& rows, std::uint32_t* words, float* populations) {
  const U32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t first = 0; first < padded(rows.count); first += lanes, words += lanes * rows.words()) {
    const std::int64_t count = std::clamp<std::int64_t>(rows.count - first, 0, lanes);
    pack_words(rows, first, count, count == lanes ? pack_fours(rows, first, words) : 0, words);
    if (populations == nullptr) continue;
    Words sum = hn::Zero(d);
    for (std::int64_t i = 0; i < rows.words(); ++i)
      sum = hn::Add(sum, hn::PopulationCount(hn::LoadU(d, words + i * lanes)));
    hn::StoreU(hn::ConvertTo(F32(), hn::BitCast(I32(), sum)), F32(), populations + first);
  }
}

core::StageCost cost() {
  if (HWY_TARGET == HWY_AVX3_DL) return {1.3e-11, 3e-11};
  if (HWY_TARGET == HWY_AVX3) return {3.5e-11, 5e-11};
  return HWY_TARGET == HWY_SCALAR ? core::StageCost{1e-9, 1e-9} : core::StageCost{8e-11, 1e-10};
}

const char* target_name() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace
}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(search_differing);
HWY_EXPORT(search_common);
HWY_EXPORT(pack);
HWY_EXPORT(cost);
HWY_EXPORT(target_name);

core::StageCost bit_cost() {
  return HWY_DYNAMIC_DISPATCH(cost)();
}

const char* bit_target() {
  return HWY_DYNAMIC_DISPATCH(target_name)();
}

void pack_bit_queries(const BitRows& rows, std::uint32_t* words) {
  for (std::int64_t q = 0; q < rows.count; ++q, words += rows.words())
    for (std::int64_t i = 0; i < rows.words(); ++i) words[i] = bit_word(rows.data + q * rows.stride, rows.bytes, i);
}

std::int64_t population(const std::uint32_t* words, std::int64_t count) {
  std::int64_t bits = 0;
  for (std::int64_t i = 0; i < count; ++i) bits += std::popcount(words[i]);
  return bits;
}

void pack_bit_panels(const BitRows& rows, std::uint32_t* words, float* populations) {
  HWY_DYNAMIC_DISPATCH(pack)(rows, words, populations);
}

std::int64_t differing_bits(const BitQueries& queries, const BitPanels& base, const std::int32_t* limits,
                            BitHit* hits) {
  return HWY_DYNAMIC_DISPATCH(search_differing)(queries, base, limits, hits);
}

std::int64_t common_bits(const BitQueries& queries, const BitPanels& base, const core::JaccardLimit* limits,
                         BitHit* hits) {
  return HWY_DYNAMIC_DISPATCH(search_common)(queries, base, limits, hits);
}

}  // namespace kith::cpu
#endif
