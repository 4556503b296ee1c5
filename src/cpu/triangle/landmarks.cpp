// landmarks.cpp: draws and their sums of pairwise distances.
#include "cpu/triangle/landmarks.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>

#include "core/instantiate.hpp"
#include "core/triangle_bounds.hpp"
#include "cpu/simd/lane_blocks.hpp"
#include "cpu/triangle/block_rows.hpp"

namespace kith::cpu {
namespace {

constexpr std::uint64_t kDraws = 10;
constexpr std::int64_t kComparedRows = 128;

template <Element T>
double sum_of_distances(const PreparedRows<T>& set, const std::vector<std::int64_t>& draw) {
  using F = DistanceOf<T>;
  const auto count = static_cast<std::int64_t>(draw.size());
  std::vector<std::int64_t> measured(static_cast<std::size_t>(std::min(kComparedRows, count)));
  const auto chosen = static_cast<std::int64_t>(measured.size());
  for (std::int64_t i = 0; i < chosen; ++i)
    measured[static_cast<std::size_t>(i)] = draw[static_cast<std::size_t>(i * count / chosen)];
  const std::vector<F> blocks = block_rows(set, measured.data(), chosen);
  std::vector<F> row(static_cast<std::size_t>(set.view.cols));
  std::vector<F> scores(static_cast<std::size_t>(block_count<F>(chosen) * kBlockPoints<F>));
  double sum = 0;
  for (const std::int64_t id : measured) {
    block_scores(core::metric_distance_form(set.metric), set.metric.p, working_rows(set, id, 1, row.data()).data,
                 {blocks.data(), chosen, set.view.cols}, scores.data());
    for (std::int64_t i = 0; i < chosen; ++i)
      sum += core::metric_distance_of_raw(set.metric, static_cast<double>(scores[static_cast<std::size_t>(i)]));
  }
  return sum;
}

}  // namespace

std::vector<std::int64_t> draw_rows(std::int64_t first, std::int64_t rows, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> draw(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = rows / count * i + std::min(i, rows % count);
    const std::int64_t part = rows / count + (i < rows % count ? 1 : 0);
    draw[static_cast<std::size_t>(i)] =
        first + from + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(part));
  }
  return draw;
}

template <Element T>
std::vector<std::int64_t> choose_landmarks(const PreparedRows<T>& set, std::int64_t first, std::int64_t rows,
                                           std::int64_t count) {
  std::vector<std::int64_t> best = draw_rows(first, rows, count, 0);
  if (count == rows) return best;
  double largest = sum_of_distances(set, best);
  for (std::uint64_t seed = 1; seed < kDraws; ++seed) {
    std::vector<std::int64_t> draw = draw_rows(first, rows, count, seed);
    const double sum = sum_of_distances(set, draw);
    if (!(sum > largest)) continue;
    largest = sum;
    best = std::move(draw);
  }
  return best;
}

#define KITH_INSTANTIATE(T) \
  template std::vector<std::int64_t> choose_landmarks(const PreparedRows<T>&, std::int64_t, std::int64_t, std::int64_t);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
