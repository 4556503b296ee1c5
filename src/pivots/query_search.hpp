// query_search.hpp: one query's way through the objects.
//
// 1. Every object gets a lower bound: the user's, if there is one; then what some pivots say, the one that may be
//    nearest to the query first. Pivots are objects: what is evaluated for their bounds counts as found.
// 2. Of a search for the k nearest, as many objects of the least bounds are evaluated: from here on there is a k-th
//    distance, and what its bound rules out is left out. Where bounds are the user's, as many more as there are pivots:
//    good bounds are done by then, without any pivot.
// 3. More pivots, while many objects are left, or as long as one rules out more than it costs.
// 4. The others in the order of (bound, id), until a bound is beyond the k-th distance or the radius.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numeric>
#include <variant>
#include <vector>

#include "cpu/progress.hpp"
#include "pivots/cells.hpp"
#include "pivots/evaluator.hpp"
#include "pivots/hits.hpp"
#include "pivots/table.hpp"

namespace kith::pivots {

// Counts of a worker.
struct Counts {
  std::int64_t evaluations = 0;
  std::int64_t pivot_evaluations = 0;
  std::int64_t lower_bounds = 0;
};

// What a worker's queries share. Cell is that of the table's columns.
template <class Cell>
class QuerySearch {
 public:
  // With `self`, queries are the objects, and their distances to pivots are known.
  QuerySearch(const Table& table, const PairSource& source, bool self, cpu::ProgressMeter& meter, int worker)
      : table_(table),
        columns_(std::get<Columns<Cell>>(table.columns)),
        source_(source),
        bounds_of_(table.properties),
        distance_(source, table.properties, self ? Asked::object : Asked::query),
        self_(self),
        meter_(meter),
        worker_(worker),
        done_(static_cast<std::size_t>(table.objects), 0),
        pivot_bounds_(table.pivots.size()),
        unused_(table.pivots.size()) {}

  // Fills in hits, which wants those that are searched for; `seeds` of them are found early.
  void run(std::int64_t query, std::int64_t seeds, Hits& hits) {
    query_ = query;
    hits_ = &hits;
    if (self_) leave_out(query);
    if (table_.pivots.empty() && !source_.has_lower_bounds()) {
      for (std::int64_t id = 0; id < table_.objects; ++id) evaluate(id);
    } else {
      start_bounds();
      const bool bounded = source_.has_lower_bounds();
      while (unused_count_ > 0 && (self_ || (!bounded && unused_count_ + kFirstPivots > table_.pivots.size())))
        use_pivot_for_all();
      if (seeds > 0) evaluate_least(seeds + (bounded ? static_cast<std::int64_t>(unused_count_) : 0));
      narrow();
      evaluate_rest();
    }
    for (const std::int64_t id : touched_) done_[static_cast<std::size_t>(id)] = 0;
    touched_.clear();
  }

  const Counts& counts() {
    counts_.evaluations = distance_.count();
    return counts_;
  }

 private:
  static constexpr std::size_t kFirstPivots = 8;      // that bound all objects, at a time
  static constexpr std::size_t kFew = 16;             // one in so many objects
  static constexpr std::int64_t kBoundsAtOnce = 512;  // of the user's
  static constexpr std::int64_t kPatience = 32;       // evaluations between two looks at the caller's wish to go on
  static constexpr std::size_t kTrial = 2;            // pivots in turn that must rule out more than they cost
  static constexpr std::size_t kFirstPart = 64;       // candidates that are sorted at first
  static constexpr std::size_t kPlenty = 8;           // candidates for each pivot, of which all pivots are used

  struct Candidate {
    Cell bound;
    std::int64_t id;

    friend bool operator<(const Candidate& a, const Candidate& b) {
      return a.bound != b.bound ? a.bound < b.bound : a.id < b.id;
    }
  };

  bool is_done(std::int64_t id) const { return done_[static_cast<std::size_t>(id)] != 0; }
  bool wants(Cell bound, std::int64_t id) const { return hits_->wants(static_cast<double>(bound), id); }

  void leave_out(std::int64_t id) {
    done_[static_cast<std::size_t>(id)] = 1;
    touched_.push_back(id);
  }

  void evaluate(std::int64_t id) {
    if (is_done(id)) return;
    leave_out(id);
    hits_->offer(distance_(query_, id, hits_->limit(id)), id);
    if (distance_.count() % kPatience == 0) meter_.check(worker_);
  }

  void start_bounds() {
    const auto objects = static_cast<std::size_t>(table_.objects);
    bounds_.assign(objects, Cell{0});
    if (source_.has_lower_bounds()) {
      given_.resize(static_cast<std::size_t>(std::min(table_.objects, kBoundsAtOnce)));
      for (std::int64_t first = 0; first < table_.objects; first += kBoundsAtOnce) {
        const std::int64_t count = std::min(kBoundsAtOnce, table_.objects - first);
        source_.lower_bounds(query_, first, count, given_.data());
        for (std::int64_t i = 0; i < count; ++i)
          bounds_[static_cast<std::size_t>(first + i)] =
              bounds_of_.template by_user<Cell>(given_[static_cast<std::size_t>(i)]);
        meter_.check(worker_);
      }
      counts_.lower_bounds += table_.objects;
    }
    for (std::size_t j = 0; j < pivot_bounds_.size(); ++j) {
      pivot_bounds_[j] = bounds_[static_cast<std::size_t>(table_.pivots[j])];
      unused_[j] = j;
    }
    unused_count_ = unused_.size();
  }

  // The unused pivot that may be nearest; it counts as used from now on.
  std::size_t next_pivot() {
    const auto end = unused_.begin() + static_cast<std::ptrdiff_t>(unused_count_);
    const auto best = std::min_element(unused_.begin(), end, [&](std::size_t a, std::size_t b) {
      return pivot_bounds_[a] != pivot_bounds_[b] ? pivot_bounds_[a] < pivot_bounds_[b] : a < b;
    });
    const std::size_t pivot = *best;
    *best = unused_[--unused_count_];
    return pivot;
  }

  // Of the query to a pivot, which is no candidate any more where it was one.
  Cell distance_to_pivot(std::size_t j) {
    const std::int64_t pivot = table_.pivots[j];
    Cell cell{};
    if (self_) {
      cell = columns_[j][static_cast<std::size_t>(query_)];
      if (is_distance(cell) && !is_done(pivot)) {
        leave_out(pivot);
        hits_->offer(static_cast<double>(cell), pivot);
      }
    } else {
      const double distance = distance_(query_, pivot, std::numeric_limits<double>::infinity());
      ++counts_.pivot_evaluations;
      if (!is_done(pivot)) {
        leave_out(pivot);
        hits_->offer(distance, pivot);
      }
      meter_.check(worker_);
      cell = cell_of<Cell>(distance);
    }
    for (std::size_t i = 0; i < unused_count_; ++i) {
      Cell& bound = pivot_bounds_[unused_[i]];
      const auto other = static_cast<std::size_t>(table_.pivots[unused_[i]]);
      bound = std::max(bound, bounds_of_.by_pivot(cell, columns_[j][other]));
    }
    return cell;
  }

  void use_pivot_for_all() {
    const std::size_t j = next_pivot();
    bounds_of_.raise(distance_to_pivot(j), columns_[j], bounds_);
  }

  // The objects of the least bounds; ids decide among equal ones.
  void evaluate_least(std::int64_t count) {
    candidates_.clear();
    if constexpr (std::same_as<Cell, double>) {
      for (std::int64_t id = 0; id < table_.objects; ++id)
        if (!is_done(id)) candidates_.push_back({bounds_[static_cast<std::size_t>(id)], id});
      if (count < std::ssize(candidates_)) {
        std::nth_element(candidates_.begin(), candidates_.begin() + count, candidates_.end());
        candidates_.resize(static_cast<std::size_t>(count));
      }
    } else {
      list_least(count);
    }
    std::sort(candidates_.begin(), candidates_.end());
    evaluate_while_wanted(0, candidates_.size(), candidates_);
  }

  // By counting how often each bound occurs.
  void list_least(std::int64_t count) {
    occurrences_.assign(std::size_t{1} << (8 * sizeof(Cell)), 0);
    for (const Cell bound : bounds_) ++occurrences_[static_cast<std::size_t>(bound)];
    std::int64_t below = 0;
    std::size_t last = 0;  // the largest bound among them
    while (last + 1 < occurrences_.size() && below + occurrences_[last] < count) below += occurrences_[last++];
    std::int64_t of_last = count - below;
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      const auto id = static_cast<std::int64_t>(i);
      if (static_cast<std::size_t>(bounds_[i]) > last || is_done(id)) continue;
      if (static_cast<std::size_t>(bounds_[i]) == last && of_last-- <= 0) continue;
      candidates_.push_back({bounds_[i], id});
    }
  }

  void gather() {
    candidates_.clear();
    const Cell most = cell_ceiling();
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      if (bounds_[i] > most) continue;
      const auto id = static_cast<std::int64_t>(i);
      if (wants(bounds_[i], id) && !is_done(id)) candidates_.push_back({bounds_[i], id});
    }
  }

  // No larger bound is wanted.
  Cell cell_ceiling() const {
    if constexpr (std::same_as<Cell, double>) {
      return hits_->ceiling();
    } else {
      return cell_of<Cell>(std::floor(hits_->ceiling()));
    }
  }

  // To raise all bounds takes less time than to raise those of many candidates one by one.
  bool many_candidates() const {
    return candidates_.size() > bounds_.size() / kFew && candidates_.size() >= kPlenty * unused_count_;
  }

  // Pivots by turns, until they rule out too few of too few candidates.
  void narrow() {
    gather();
    while (unused_count_ > 0 && many_candidates()) {
      for (std::size_t i = 0; i < kFirstPivots && unused_count_ > 0; ++i) use_pivot_for_all();
      gather();
    }
    std::size_t before = candidates_.size();
    for (std::size_t turn = 1; unused_count_ > 0 && candidates_.size() > kTrial; ++turn) {
      const std::size_t j = next_pivot();
      const Cell to_pivot = distance_to_pivot(j);
      const std::vector<Cell>& column = columns_[j];
      std::size_t kept = 0;
      for (Candidate candidate : candidates_) {
        candidate.bound =
            std::max(candidate.bound, bounds_of_.by_pivot(to_pivot, column[static_cast<std::size_t>(candidate.id)]));
        candidates_[kept] = candidate;
        kept += wants(candidate.bound, candidate.id) && candidate.id != table_.pivots[j] ? 1 : 0;
      }
      candidates_.resize(kept);
      if (turn % kTrial != 0) continue;
      if (candidates_.size() < kPlenty * unused_count_ && candidates_.size() + kTrial >= before) return;
      before = candidates_.size();
    }
  }

  // In the order of their bounds, until one is not wanted; nor are then the others.
  void evaluate_rest() {
    if constexpr (std::same_as<Cell, double>) {
      evaluate_in_parts();
    } else {
      sort_by_counting();
      evaluate_while_wanted(0, sorted_.size(), sorted_);
    }
  }

  bool evaluate_while_wanted(std::size_t begin, std::size_t end, const std::vector<Candidate>& candidates) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!wants(candidates[i].bound, candidates[i].id)) return false;
      evaluate(candidates[i].id);
    }
    return true;
  }

  // Sorts no more than it needs.
  void evaluate_in_parts() {
    std::size_t begin = 0;
    for (std::size_t size = kFirstPart; begin < candidates_.size(); size *= 4) {
      const std::size_t end = std::min(begin + size, candidates_.size());
      const auto at = [&](std::size_t i) { return candidates_.begin() + static_cast<std::ptrdiff_t>(i); };
      std::nth_element(at(begin), at(end - 1), candidates_.end());
      std::sort(at(begin), at(end));
      if (!evaluate_while_wanted(begin, end, candidates_)) return;
      begin = end;
    }
  }

  // Candidates come in the order of their ids.
  void sort_by_counting() {
    occurrences_.assign((std::size_t{1} << (8 * sizeof(Cell))) + 1, 0);
    for (const Candidate& candidate : candidates_) ++occurrences_[static_cast<std::size_t>(candidate.bound) + 1];
    std::partial_sum(occurrences_.begin(), occurrences_.end(), occurrences_.begin());
    sorted_.resize(candidates_.size());
    for (const Candidate& candidate : candidates_)
      sorted_[static_cast<std::size_t>(occurrences_[static_cast<std::size_t>(candidate.bound)]++)] = candidate;
  }

  const Table& table_;
  const Columns<Cell>& columns_;
  const PairSource& source_;
  Bounds bounds_of_;
  Evaluator distance_;
  bool self_;
  cpu::ProgressMeter& meter_;
  int worker_;
  Counts counts_;

  // Of the query in work.
  std::int64_t query_ = 0;
  Hits* hits_ = nullptr;
  std::vector<Cell> bounds_;
  std::vector<double> given_;          // bounds of the user's
  std::vector<std::uint8_t> done_;     // objects that are evaluated or left out
  std::vector<std::int64_t> touched_;  // those
  std::vector<Cell> pivot_bounds_;     // of unused pivots
  std::vector<std::size_t> unused_;    // pivots: the first unused_count_
  std::size_t unused_count_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<Candidate> sorted_;
  std::vector<std::int64_t> occurrences_;  // of bounds
};

}  // namespace kith::pivots
