// The filter and its partners against plain loops, on every instruction set.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "cpu/brute/kth_value.hpp"
#include "cpu/simd/kernels.hpp"
#include "simd_targets.hpp"

namespace kith::cpu {
namespace {

template <class F>
std::vector<F> scores_with_oddities(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<F> out(static_cast<std::size_t>(count));
  for (F& value : out) value = static_cast<F>(static_cast<int>(random() % 200) - 100) / F{7};
  if (count > 5) {
    out[1] = std::numeric_limits<F>::quiet_NaN();
    out[3] = std::numeric_limits<F>::infinity();
    out[5] = -std::numeric_limits<F>::infinity();
  }
  return out;
}

template <class F>
struct Kept {
  std::vector<F> scores;
  std::vector<OffsetOf<F>> offsets;
};

template <class F>
Kept<F> plain_filter(const std::vector<F>& scores, const std::vector<F>* bias, F threshold, F raise,
                     OffsetOf<F> first) {
  Kept<F> kept;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const F score = bias != nullptr ? scores[i] + (*bias)[i] : scores[i];
    if (score > threshold) continue;
    kept.scores.push_back(score + raise);
    kept.offsets.push_back(first + static_cast<OffsetOf<F>>(i));
  }
  return kept;
}

template <class F>
void expect_equal(const std::vector<F>& expected, const F* got) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(got[i] == expected[i] || (got[i] != got[i] && expected[i] != expected[i]))
        << "element " << i << ": " << got[i] << " is not " << expected[i];
}

template <class F>
void check_filter(std::int64_t count, F threshold, bool with_bias) {
  const std::vector<F> scores = scores_with_oddities<F>(count, 3);
  const std::vector<F> bias = scores_with_oddities<F>(count, 4);
  const std::vector<F>* used = with_bias ? &bias : nullptr;
  const Kept<F> expected = plain_filter<F>(scores, used, threshold, F{0.5}, 1000);
  // A buffer that is large enough is filled in one call, a small one in several.
  for (const std::int64_t room : {count + 2 * kSlack, 2 * kSlack}) {
    std::vector<F> kept_scores(static_cast<std::size_t>(room));
    std::vector<OffsetOf<F>> kept_offsets(kept_scores.size());
    std::size_t at = 0;
    for (std::int64_t done = 0; done < count;) {
      const auto result =
          filter(scores.data() + done, used != nullptr ? bias.data() + done : nullptr, count - done, threshold, F{0.5},
                 static_cast<OffsetOf<F>>(1000 + done), kept_scores.data(), kept_offsets.data(), room);
      ASSERT_GT(result.consumed, 0);
      ASSERT_LE(at + static_cast<std::size_t>(result.kept), expected.scores.size());
      const auto from = static_cast<std::ptrdiff_t>(at);
      const auto to = from + result.kept;
      expect_equal<F>({expected.scores.begin() + from, expected.scores.begin() + to}, kept_scores.data());
      ASSERT_TRUE(std::equal(expected.offsets.begin() + from, expected.offsets.begin() + to, kept_offsets.begin()));
      at += static_cast<std::size_t>(result.kept);
      done += result.consumed;
    }
    EXPECT_EQ(at, expected.scores.size());
  }
}

TEST(Filter, KeepsWhatIsNotAboveTheThreshold) {
  test::on_every_target([] {
    for (const std::int64_t count : {1, 5, 63, 64, 65, 200, 1000})
      for (const bool bias : {false, true})
        for (const double threshold : {-100.0, -3.0, 0.0, 20.0, std::numeric_limits<double>::infinity()}) {
          check_filter<float>(count, static_cast<float>(threshold), bias);
          check_filter<double>(count, threshold, bias);
        }
  });
}

template <class F>
void check_compact(std::int64_t count, F threshold) {
  std::vector<F> scores = scores_with_oddities<F>(count, 5);
  const Kept<F> expected = plain_filter<F>(scores, nullptr, threshold, F{0}, 0);
  std::vector<OffsetOf<F>> offsets(scores.size() + kSlack);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<OffsetOf<F>>(i);
  scores.resize(scores.size() + kSlack);
  ASSERT_EQ(compact(scores.data(), offsets.data(), count, threshold),
            static_cast<std::int64_t>(expected.scores.size()));
  expect_equal<F>(expected.scores, scores.data());
  EXPECT_TRUE(std::equal(expected.offsets.begin(), expected.offsets.end(), offsets.begin()));
}

TEST(Compact, KeepsOrderInPlace) {
  test::on_every_target([] {
    for (const std::int64_t count : {1, 15, 16, 17, 100, 333})
      for (const double threshold : {-50.0, 0.0, 3.0, 1000.0}) {
        check_compact<float>(count, static_cast<float>(threshold));
        check_compact<double>(count, threshold);
      }
  });
}

template <class F>
void check_kth(std::int64_t count) {
  const std::vector<F> values = scores_with_oddities<F>(count, 6);
  std::vector<F> sorted;
  for (const F value : values)
    if (!std::isnan(value)) sorted.push_back(value);
  std::sort(sorted.begin(), sorted.end());
  const auto numbers = static_cast<std::int64_t>(sorted.size());
  const auto up_to = [&](F limit) { return std::upper_bound(sorted.begin(), sorted.end(), limit) - sorted.begin(); };
  for (std::int64_t k = 1; k <= count; ++k) {
    const F tight = kth_value(values.data(), count, k, 0);
    const F loose = kth_value(values.data(), count, k, 5);
    if (k > numbers) {
      EXPECT_EQ(tight, std::numeric_limits<F>::infinity());
      continue;
    }
    // Without spare: nothing lies between the k-th value and what is returned.
    EXPECT_EQ(up_to(tight), up_to(sorted[static_cast<std::size_t>(k - 1)]));
    EXPECT_GE(up_to(loose), k);
    EXPECT_LE(up_to(loose), std::max<std::int64_t>(k + 5, up_to(tight)));
  }
}

TEST(KthValue, HasKNumbersUpToItAndFewMore) {
  test::on_every_target([] {
    check_kth<float>(90);
    check_kth<double>(90);
  });
}

TEST(FindBeyond, FindsTheFirst) {
  test::on_every_target([] {
    constexpr float kLargest = 3.0e38F;
    for (const std::int64_t count : {1, 7, 64, 131}) {
      std::vector<float> values(static_cast<std::size_t>(count), -kLargest);
      EXPECT_EQ(find_beyond(values.data(), count, kLargest), -1);
      values.back() = 3.1e38F;
      EXPECT_EQ(find_beyond(values.data(), count, kLargest), count - 1);
      EXPECT_EQ(find_beyond(values.data(), count, std::numeric_limits<float>::max()), -1);
      values.back() = std::numeric_limits<float>::quiet_NaN();
      EXPECT_EQ(find_beyond(values.data(), count, kLargest), count - 1);
      values[static_cast<std::size_t>(count / 2)] = -std::numeric_limits<float>::infinity();
      EXPECT_EQ(find_beyond(values.data(), count, kLargest), count / 2);
    }
  });
}

}  // namespace
}  // namespace kith::cpu
