// make_table.cpp: chooses pivots and computes the distances of all objects to them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "cpu/facts.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "kith/error.hpp"
#include "pivots/arguments.hpp"
#include "pivots/cells.hpp"
#include "pivots/evaluator.hpp"
#include "pivots/table.hpp"

namespace kith::pivots {
namespace {

constexpr std::int64_t kBlock = 64;       // evaluations of a task
constexpr std::int64_t kSample = 64;      // objects whose pairs judge candidates
constexpr std::int64_t kCandidates = 32;  // of a pivot

// The same numbers on every machine.
class Random {
 public:
  std::int64_t below(std::int64_t limit) {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return static_cast<std::int64_t>((z ^ (z >> 31)) % static_cast<std::uint64_t>(limit));
  }

 private:
  std::uint64_t state_ = 0;
};

class Builder {
 public:
  Builder(const PairSource& base, Table& table, std::int64_t pivots)
      : base_(base),
        table_(table),
        wanted_(pivots),
        threads_(cpu::threads_for(table.options.threads, static_cast<double>(evaluations_ahead()) * kSecondsEach)),
        meter_(table.options.progress, evaluations_ahead()) {}

  void run() {
    if (by_bounds()) draw_sample();
    while (std::ssize(table_.pivots) < wanted_) {
      const std::optional<std::int64_t> next = table_.pivots.empty() ? 0 : by_bounds() ? best_bounds() : farthest();
      if (!next) break;  // the rest are copies of pivots
      add(*next);
    }
    meter_.finish();
    keep();
  }

 private:
  bool by_bounds() const { return table_.options.choice == PivotChoice::best_bounds; }
  std::int64_t evaluations_ahead() const {
    return wanted_ * (table_.objects + (by_bounds() ? kSample * kCandidates : 0));
  }

  // distances[i] of the i-th pair, of first(i) and second(i).
  template <class First, class Second>
  void evaluate(std::vector<double>& distances, First first, Second second) {
    const auto count = std::ssize(distances);
    cpu::parallel_for(threads_, (count + kBlock - 1) / kBlock, [&](std::int64_t block, int worker) {
      Evaluator distance(base_, table_.properties, Asked::object);
      const std::int64_t end = std::min(count, (block + 1) * kBlock);
      for (std::int64_t i = block * kBlock; i < end; ++i)
        distances[static_cast<std::size_t>(i)] = distance(first(i), second(i), kInfinity);
      meter_.add(end - block * kBlock, worker);
    });
    table_.build_evaluations += count;
  }

  void add(std::int64_t pivot) {
    std::vector<double> column(static_cast<std::size_t>(table_.objects));
    evaluate(
        column, [](std::int64_t object) { return object; }, [&](std::int64_t) { return pivot; });
    if (nearest_.empty()) nearest_.assign(column.size(), kInfinity);
    for (std::size_t i = 0; i < column.size(); ++i) nearest_[i] = std::min(nearest_[i], column[i]);
    // No column has it twice, whatever its distance to itself is.
    nearest_[static_cast<std::size_t>(pivot)] = 0;
    std::vector<double> to_sample;
    for (const std::int64_t object : sample_) to_sample.push_back(column[static_cast<std::size_t>(object)]);
    raise(sample_bounds_, to_sample.data());
    table_.pivots.push_back(pivot);
    columns_.push_back(std::move(column));
  }

  std::optional<std::int64_t> farthest() const {
    const auto found = std::max_element(nearest_.begin(), nearest_.end());
    if (*found <= 0) return std::nullopt;
    return found - nearest_.begin();
  }

  void draw_sample() {
    for (std::int64_t i = 0; i < std::min(kSample, table_.objects); ++i)
      sample_.push_back(random_.below(table_.objects));
    sample_bounds_.assign(sample_.size() * sample_.size(), 0);
  }

  // Of some candidates the one that raises the bounds of the sample most.
  std::optional<std::int64_t> best_bounds() {
    std::vector<std::int64_t> candidates;
    for (std::int64_t i = 0; i < kCandidates; ++i) {
      const std::int64_t candidate = random_.below(table_.objects);
      if (nearest_[static_cast<std::size_t>(candidate)] > 0) candidates.push_back(candidate);
    }
    if (candidates.empty()) return farthest();
    const auto samples = std::ssize(sample_);
    std::vector<double> distances(candidates.size() * sample_.size());
    evaluate(
        distances, [&](std::int64_t i) { return sample_[static_cast<std::size_t>(i % samples)]; },
        [&](std::int64_t i) { return candidates[static_cast<std::size_t>(i / samples)]; });
    std::size_t best = 0;
    double best_sum = -1;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      std::vector<double> bounds = sample_bounds_;
      const double sum = raise(bounds, distances.data() + c * sample_.size());
      if (sum <= best_sum) continue;
      best = c;
      best_sum = sum;
    }
    return candidates[best];
  }

  // bounds[a, b] of two objects of the sample becomes what a pivot at these distances from the sample says, where that
  // is more. Returns the sum of them.
  double raise(std::vector<double>& bounds, const double* to_sample) const {
    double sum = 0;
    for (std::size_t a = 0; a < sample_.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        double& bound = bounds[a * sample_.size() + b];
        bound = std::max(bound, std::abs(to_sample[a] - to_sample[b]));
        sum += bound;
      }
    return sum;
  }

  template <class Cell>
  Columns<Cell> converted() {
    Columns<Cell> cells;
    for (std::vector<double>& column : columns_) {
      if constexpr (std::is_same_v<Cell, double>) {
        cells.push_back(std::move(column));
      } else {
        cells.emplace_back(column.size());
        std::transform(column.begin(), column.end(), cells.back().begin(), cell_of<Cell>);
        column = {};
      }
    }
    return cells;
  }

  void keep() {
    check_promises();
    if (!table_.properties.integer_valued) {
      table_.columns = converted<double>();
      return;
    }
    double largest = 0;
    for (const std::vector<double>& column : columns_)
      largest = std::max(largest, *std::max_element(column.begin(), column.end()));
    if (largest < kLargest<std::uint8_t>) {
      table_.columns = converted<std::uint8_t>();
    } else {
      table_.columns = converted<std::uint16_t>();
    }
  }

  // Of pivot `a`, as an object, to pivot `b`.
  double between(std::size_t a, std::size_t b) const { return columns_[b][static_cast<std::size_t>(table_.pivots[a])]; }

  // The distances among pivots are there, so to look at them costs nothing.
  void check_promises() const {
    const DistanceProperties& promised = table_.properties;
    const Bounds bounds(promised);
    const auto refuse = [&](std::size_t a, std::size_t b, const std::string& what) {
      throw Error(ErrorCode::bad_data, fmt::format("the distance of objects {} and {} is {}{}", table_.pivots[a],
                                                   table_.pivots[b], between(a, b), what));
    };
    for (std::size_t a = 0; a < columns_.size(); ++a)
      for (std::size_t b = 0; b < columns_.size(); ++b) {
        if (promised.symmetric && std::abs(between(a, b) - between(b, a)) > leeway(between(a, b), between(b, a)))
          refuse(a, b, fmt::format(" but {} the other way; it was said to be symmetric", between(b, a)));
        for (std::size_t c = 0; c < columns_.size(); ++c)
          if (between(a, b) - (between(a, c) + between(c, b)) > leeway(between(a, b), between(a, c) + between(c, b)))
            refuse(a, b,
                   fmt::format(", more than the {} by way of object {}; the triangle inequality was promised",
                               between(a, c) + between(c, b), table_.pivots[c]));
      }
  }

  // What two sums of distances that are equal may differ by; three distances are in them.
  double leeway(double a, double b) const {
    if (table_.properties.integer_valued) return 0;
    return (4 * table_.properties.relative_error + 0x1p-48) * (a + b) + 6 * table_.properties.absolute_error;
  }

  const PairSource& base_;
  Table& table_;
  std::int64_t wanted_;
  int threads_;
  cpu::ProgressMeter meter_;
  Random random_;
  std::vector<std::int64_t> sample_;
  std::vector<double> sample_bounds_;  // of pairs of the sample
  std::vector<double> nearest_;        // the distance of each object to the nearest pivot
  std::vector<std::vector<double>> columns_;
};

}  // namespace

Table make_table(const PairSource& base, std::int64_t objects, const DistanceProperties& properties,
                 const PivotOptions& options) {
  Table table{objects, properties, options, {}, 0, {}};
  if (properties.integer_valued) table.columns = Columns<std::uint8_t>();
  const std::int64_t pivots = pivots_of(objects, properties, options);
  if (pivots > 0) Builder(base, table, pivots).run();
  return table;
}

}  // namespace kith::pivots
