// sparse_search.cpp: tasks, and what becomes of their lists.
#include "cpu/sparse/sparse_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/max_distance.hpp"
#include "core/sizes.hpp"
#include "cpu/parallel.hpp"
#include "cpu/sort_hits.hpp"
#include "cpu/sparse/sparse_candidates.hpp"
#include "cpu/sparse/sparse_key.hpp"
#include "plan/cpu_threads.hpp"

namespace kith::cpu {
namespace {

using core::kNoNeighbor;

// Shares of the blocks, so that every thread has something to do.
std::int64_t shares_of(const SparseLayout& layout, std::int64_t queries, std::int64_t blocks) {
  const std::int64_t tasks = (queries + layout.query_block - 1) / layout.query_block;
  return std::clamp<std::int64_t>((layout.threads + tasks - 1) / tasks, 1, blocks);
}

// Calls run(task) for all tasks of a part.
template <class T, class Run>
void each_task(const SparseLayout& layout, std::int64_t queries, const std::vector<Postings<T>>& blocks,
               std::int64_t shares, ProgressMeter& progress, Run run) {
  const auto count = static_cast<std::int64_t>(blocks.size());
  const std::int64_t query_blocks = (queries + layout.query_block - 1) / layout.query_block;
  parallel_for(layout.threads, query_blocks * shares, [&](std::int64_t index, int worker) {
    const std::int64_t share = index % shares;
    const std::int64_t first = index / shares * layout.query_block;
    const SparseTask task{first,
                          std::min(layout.query_block, queries - first),
                          count * share / shares,
                          count * (share + 1) / shares,
                          share,
                          worker};
    std::int64_t rows = 0;
    for (std::int64_t b = task.first_block; b < task.last_block; ++b) rows += blocks[static_cast<std::size_t>(b)].count;
    run(task);
    progress.add(task.queries * rows, worker);
  });
}

// Rows of a task, and the largest size among them.
template <class T>
struct Extent {
  std::int64_t first = 0;
  std::int64_t rows = 0;
  double largest_size = 0;

  Extent(const SparseTask& task, const std::vector<Postings<T>>& blocks)
      : first(blocks[static_cast<std::size_t>(task.first_block)].first) {
    for (std::int64_t b = task.first_block; b < task.last_block; ++b) {
      const Postings<T>& block = blocks[static_cast<std::size_t>(b)];
      rows += block.count;
      if (!(block.largest_size <= largest_size)) largest_size = block.largest_size;
    }
  }
};

// Keys are distances, but for inner products.
template <class T>
T returned(SparseMetric metric, T key) {
  return metric == SparseMetric::inner_product ? -key + T{0} : key;
}

}  // namespace

template <SparseElement T>
NearestSparse<T>::NearestSparse(const SparseProblem<T>& problem, const SparseLayout& layout, std::int64_t k,
                                double max_distance, const NeighborsView<T>& out)
    : problem_(problem),
      layout_(layout),
      k_(k),
      largest_(core::largest_within<T>(max_distance)),
      out_(out),
      scratch_(static_cast<std::size_t>(layout.threads)) {}

template <SparseElement T>
void NearestSparse<T>::add(const std::vector<Postings<T>>& blocks, ProgressMeter& progress) {
  const std::int64_t queries = problem_.queries.rows;
  const std::int64_t shares = shares_of(layout_, queries, static_cast<std::int64_t>(blocks.size()));
  std::vector<Hits> lists(static_cast<std::size_t>(shares > 1 ? queries * shares : 0));
  each_task(layout_, queries, blocks, shares, progress, [&](const SparseTask& task) { run(task, blocks, lists); });
  if (shares > 1) {
    for (std::int64_t query = 0; query < queries; ++query) {
      Hits all;
      for (std::int64_t share = 0; share < shares; ++share) {
        const Hits& some = lists[static_cast<std::size_t>(query * shares + share)];
        all.insert(all.end(), some.begin(), some.end());
      }
      merge(query, all, scratch_[0]);
    }
  }
  for (const Postings<T>& block : blocks) rows_done_ += block.count;
}

template <SparseElement T>
void NearestSparse<T>::run(const SparseTask& task, const std::vector<Postings<T>>& blocks, std::vector<Hits>& lists) {
  Scratch& scratch = scratch_[static_cast<std::size_t>(task.worker)];
  const Extent<T> extent(task, blocks);
  const std::int64_t wanted = std::min(k_ + (problem_.self ? 1 : 0), extent.rows);
  const std::int64_t capacity = sparse_capacity(wanted, extent.rows);
  scratch.candidate_scores.resize(static_cast<std::size_t>(capacity * task.queries));
  scratch.candidate_offsets.resize(scratch.candidate_scores.size());

  std::vector<SparseCandidates<T>> candidates;
  std::vector<ScoredQuery<T>> scored;
  candidates.reserve(static_cast<std::size_t>(task.queries));
  scored.reserve(static_cast<std::size_t>(task.queries));
  for (std::int64_t i = 0; i < task.queries; ++i) {
    const std::int64_t query = task.first_query + i;
    const SparseQuery<T> asked{problem_.base, problem_.queries, problem_.metric,     query,
                               wanted,        extent.first,     extent.largest_size, problem_.scale};
    // No key above that of a list of k is wanted, nor one that is too far away; of equal ones the earlier rows win.
    const bool full = rows_done_ > k_;
    const T limit = full ? std::min(largest_, out_.distances[query * k_ + k_ - 1]) : largest_;
    candidates.emplace_back(asked, limit, scratch.candidate_scores.data() + i * capacity,
                            scratch.candidate_offsets.data() + i * capacity, capacity);
    scored.push_back(scored_query(problem_.queries, problem_.metric, problem_.scale, query));
  }
  for (std::int64_t b = task.first_block; b < task.last_block; ++b) {
    const Postings<T>& block = blocks[static_cast<std::size_t>(b)];
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      T* const scores = make_scores(problem_.metric, problem_.base, scored[i], block, scratch.scores);
      candidates[i].add_block(block.first, scores, block.bias.empty() ? nullptr : block.bias.data(), block.count,
                              block.largest_size, tells_zeros(problem_.metric, scored[i], block));
    }
  }
  const auto shares = static_cast<std::int64_t>(lists.size()) / problem_.queries.rows;
  for (std::int64_t i = 0; i < task.queries; ++i) {
    const std::int64_t query = task.first_query + i;
    SparseCandidates<T>& each = candidates[static_cast<std::size_t>(i)];
    Hits hits = each.finish();
    finalists_ += each.finalists();
    if (problem_.self)
      hits.erase(std::remove_if(hits.begin(), hits.end(), [&](const auto& hit) { return hit.id == query; }),
                 hits.end());
    if (shares > 0) {
      lists[static_cast<std::size_t>(query * shares + task.share)] = std::move(hits);
    } else {
      merge(query, hits, scratch);
    }
  }
}

// Adds what a part has to the list of earlier ones.
template <SparseElement T>
void NearestSparse<T>::merge(std::int64_t query, const Hits& found, Scratch& scratch) {
  std::int64_t* const ids = out_.ids + query * k_;
  T* const keys = out_.distances + query * k_;
  scratch.merged = found;
  if (rows_done_ > 0)
    for (std::int64_t i = 0; i < k_ && ids[i] != kNoNeighbor; ++i) scratch.merged.push_back({keys[i], ids[i]});
  sort_hits(scratch.merged);
  const std::int64_t count = std::min(static_cast<std::int64_t>(scratch.merged.size()), k_);
  for (std::int64_t i = 0; i < k_; ++i) {
    ids[i] = i < count ? scratch.merged[static_cast<std::size_t>(i)].id : kNoNeighbor;
    keys[i] = i < count ? scratch.merged[static_cast<std::size_t>(i)].key : std::numeric_limits<T>::infinity();
  }
}

template <SparseElement T>
void NearestSparse<T>::finish() {
  const std::int64_t places = problem_.queries.rows * k_;
  if (problem_.metric == SparseMetric::inner_product)
    for (std::int64_t i = 0; i < places; ++i) out_.distances[i] = returned(problem_.metric, out_.distances[i]);
  if (std::isfinite(largest_)) core::leave_out_beyond(out_, 0, places, largest_);
}

template <SparseElement T>
WithinSparse<T>::WithinSparse(const SparseProblem<T>& problem, const SparseLayout& layout,
                              const core::RadiusQuery<T>& query)
    : problem_(problem),
      layout_(layout),
      query_(query),
      scratch_(static_cast<std::size_t>(layout.threads)),
      found_(static_cast<std::size_t>(problem.queries.rows)) {}

template <SparseElement T>
void WithinSparse<T>::add(const std::vector<Postings<T>>& blocks, ProgressMeter& progress) {
  const std::int64_t queries = problem_.queries.rows;
  const std::int64_t shares = shares_of(layout_, queries, static_cast<std::int64_t>(blocks.size()));
  std::vector<Found> found(static_cast<std::size_t>(queries * shares));
  each_task(layout_, queries, blocks, shares, progress, [&](const SparseTask& task) { run(task, blocks, found); });
  for (std::size_t i = 0; i < found.size(); ++i) {
    Found& all = found_[i / static_cast<std::size_t>(shares)];
    all.count += found[i].count;
    if (all.hits.empty()) {
      all.hits = std::move(found[i].hits);
    } else {
      all.hits.insert(all.hits.end(), found[i].hits.begin(), found[i].hits.end());
    }
  }
}

template <SparseElement T>
void WithinSparse<T>::run(const SparseTask& task, const std::vector<Postings<T>>& blocks, std::vector<Found>& found) {
  Scratch& scratch = scratch_[static_cast<std::size_t>(task.worker)];
  const Extent<T> extent(task, blocks);
  const std::int64_t capacity = sparse_capacity(0, extent.rows);
  scratch.kept_scores.resize(static_cast<std::size_t>(capacity));
  scratch.kept_offsets.resize(scratch.kept_scores.size());
  const auto shares = static_cast<std::int64_t>(found.size()) / problem_.queries.rows;
  for (std::int64_t query = task.first_query; query < task.first_query + task.queries; ++query) {
    const CsrRow<T> x = problem_.queries.row(query);
    const double size = problem_.queries.size(query);
    const SparseBounds<T> bounds(problem_.metric, x.count + problem_.base.most_entries, size, extent.largest_size,
                                 problem_.base.is_integral && problem_.queries.is_integral && problem_.scale == 1,
                                 problem_.scale);
    const ScoredQuery<T> scored = scored_query(problem_.queries, problem_.metric, problem_.scale, query);
    const T limit = query_.key_of(query);
    const double true_limit = bounds.true_limit(limit);
    Found& mine = found[static_cast<std::size_t>(query * shares + task.share)];
    std::int64_t keys = 0;
    for (std::int64_t b = task.first_block; b < task.last_block; ++b) {
      const Postings<T>& block = blocks[static_cast<std::size_t>(b)];
      const T* const scores = make_scores(problem_.metric, problem_.base, scored, block, scratch.scores);
      const T* const bias = block.bias.empty() ? nullptr : block.bias.data();
      const double error = bounds.error(block.largest_size);
      const T threshold = bounds.computed_limit(true_limit, error);
      for (std::int64_t done = 0; done < block.count;) {
        const auto result = filter(scores + done, bias != nullptr ? bias + done : nullptr, block.count - done,
                                   threshold, core::round_up<T>(error), static_cast<OffsetOf<T>>(done),
                                   scratch.kept_scores.data(), scratch.kept_offsets.data(), capacity);
        done += result.consumed;
        keys += result.kept;
        for (std::int64_t i = 0; i < result.kept; ++i) {
          const std::int64_t id =
              block.first + static_cast<std::int64_t>(scratch.kept_offsets[static_cast<std::size_t>(i)]);
          if (problem_.self && id == query) continue;
          const T key =
              sparse_key(problem_.metric, x, size, problem_.base.row(id), problem_.base.size(id), problem_.base.cols);
          if (!(key <= limit)) continue;
          mine.count += 1;
          if (!query_.count_only) mine.hits.push_back({key, id});
        }
      }
    }
    finalists_ += keys;
    if ((hits_ += static_cast<std::int64_t>(mine.hits.size())) > query_.max_hits)
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("more than {} neighbors lie within the radius; free memory holds no more of them",
                              query_.max_hits));
  }
}

template <SparseElement T>
void WithinSparse<T>::finish(const RadiusLists<T>& out) {
  const std::int64_t queries = problem_.queries.rows;
  out.offsets[0] = 0;
  for (std::int64_t query = 0; query < queries; ++query)
    out.offsets[query + 1] = out.offsets[query] + found_[static_cast<std::size_t>(query)].count;
  if (query_.count_only) return;
  const NeighborsView<T> to = out.allocate(out.offsets[queries]);
  constexpr double kHitSeconds = 3e-8;
  const int threads = plan::threads_worth(static_cast<double>(out.offsets[queries]) * kHitSeconds, layout_.threads);
  parallel_for(threads, queries, [&](std::int64_t query, int) {
    Hits hits = std::move(found_[static_cast<std::size_t>(query)].hits);
    sort_hits(hits);
    std::int64_t place = out.offsets[query];
    for (const core::Hit<T>& hit : hits) {
      to.ids[place] = hit.id;
      to.distances[place++] = returned(problem_.metric, hit.key);
    }
  });
}

template class NearestSparse<float>;
template class NearestSparse<double>;
template class WithinSparse<float>;
template class WithinSparse<double>;

}  // namespace kith::cpu
