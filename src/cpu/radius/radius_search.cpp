// radius_search.cpp: tasks of a block of queries and a part of the base run on all threads.
// Idea    tile by tile, scores are computed, and points that may lie within the query's radius kept; their exact keys
//         decide. At the end the hits of each query, from all parts, are sorted into the result.
#include "cpu/radius/radius_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <utility>

#include "core/instantiate.hpp"
#include "core/order.hpp"
#include "core/score_bounds.hpp"
#include "cpu/finish_keys.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "cpu/simd/kernels.hpp"
#include "cpu/sort_hits.hpp"
#include "kith/error.hpp"
#include "plan/cpu_threads.hpp"

namespace kith::cpu {
namespace {

// Buffers that a thread keeps from task to task.
template <class F>
struct RadiusWorkspace {
  std::vector<F> query_rows;
  std::vector<double> exact_queries;
  std::vector<F> base_rows;
  std::vector<F> panels;
  std::vector<F> scores;
  std::vector<F> norms;
  std::vector<F> limits;
  std::vector<F> errors;
  std::vector<BlockHit> hits;
  std::vector<F> kept_scores;
  std::vector<OffsetOf<F>> kept_offsets;
  std::vector<std::int64_t> ids;
  std::vector<double> raw;
};

template <class F>
struct QueryHits {
  std::vector<core::Hit<F>> hits;
  std::int64_t count = 0;
};

template <Element T>
class RadiusTask {
 public:
  using F = DistanceOf<T>;

  RadiusTask(const PreparedRows<T>& base, const PreparedRows<T>& queries, const Plan& plan,
             const core::RadiusQuery<F>& request, RadiusWorkspace<F>& workspace)
      : base_(base),
        queries_(queries),
        plan_(plan),
        request_(request),
        form_(core::form_of(plan.metric)),
        bounds_(plan.metric, base.view.cols, plan.expanded, core::range_of_type<T>(), base.scale),
        workspace_(workspace) {}

  // Searches base rows [part, part_end) for queries [first, first + count); found[q] belongs to query first + q. Calls
  // tile_done(pairs, hits) after each tile.
  template <class TileDone>
  std::int64_t run(std::int64_t first, std::int64_t count, std::int64_t part, std::int64_t part_end,
                   QueryHits<F>* const* found, TileDone tile_done) {
    first_ = first;
    found_ = found;
    const Rows<F> query_rows = working_queries(first, count);
    workspace_.kept_scores.resize(static_cast<std::size_t>(plan_.candidates));
    workspace_.kept_offsets.resize(static_cast<std::size_t>(plan_.candidates));
    workspace_.ids.resize(static_cast<std::size_t>(plan_.candidates));
    workspace_.raw.resize(static_cast<std::size_t>(plan_.candidates));
    for (std::int64_t tile = part; tile < part_end; tile += plan_.base_tile) {
      const std::int64_t rows = std::min(plan_.base_tile, part_end - tile);
      hits_ = 0;
      set_limits(first, count, tile, rows);
      const Rows<F> base_rows = tile_rows(tile, rows);
      if (plan_.distance == DistanceStage::register_tiled) {
        search_panels(query_rows, base_rows, tile);
      } else {
        search_rows(query_rows, base_rows, tile);
      }
      tile_done(count * rows, hits_);
    }
    return finalists_;
  }

 private:
  std::int64_t dims() const { return base_.view.cols; }

  // The queries in working precision, doubled for ‖y‖² − ⟨2x,y⟩; also stores them in double, for the keys.
  Rows<F> working_queries(std::int64_t first, std::int64_t count) {
    workspace_.exact_queries.resize(static_cast<std::size_t>(count * dims()));
    for (std::int64_t q = 0; q < count; ++q)
      exact_query(queries_, first + q, workspace_.exact_queries.data() + q * dims());
    workspace_.query_rows.resize(static_cast<std::size_t>(count * dims()));
    const Rows<F> rows = working_rows(queries_, first, count, workspace_.query_rows.data());
    if (!plan_.expanded) return rows;
    for (std::int64_t q = 0; q < count; ++q)
      for (std::int64_t c = 0; c < dims(); ++c)
        workspace_.query_rows[static_cast<std::size_t>(q * dims() + c)] = 2 * rows.data[q * rows.stride + c];
    return {workspace_.query_rows.data(), count, dims()};
  }

  Rows<F> tile_rows(std::int64_t first, std::int64_t count) {
    if (!is_working_layout(base_)) workspace_.base_rows.resize(static_cast<std::size_t>(plan_.base_tile * dims()));
    return working_rows(base_, first, count, workspace_.base_rows.data());
  }

  // Scores of the tile above limits[q] lie outside the radius. errors[q] is their error, rounded up.
  void set_limits(std::int64_t first, std::int64_t count, std::int64_t tile, std::int64_t rows) {
    double max_square_norm = 0;
    if (bounds_.is_absolute()) {
      const double* norms = base_.square_norms.data() + tile;
      max_square_norm = *std::max_element(norms, norms + rows);
    }
    workspace_.limits.resize(static_cast<std::size_t>(count));
    workspace_.errors.resize(static_cast<std::size_t>(count));
    for (std::int64_t q = 0; q < count; ++q) {
      const double square_norm = queries_.facts(first + q).square_norm;
      const double error = bounds_.error(square_norm, max_square_norm);
      const double limit = bounds_.true_limit(request_.key_of(first + q), square_norm);
      workspace_.limits[static_cast<std::size_t>(q)] = bounds_.computed_limit(limit, error);
      workspace_.errors[static_cast<std::size_t>(q)] = core::round_up<F>(error);
    }
  }

  void search_rows(Rows<F> query_rows, Rows<F> base_rows, std::int64_t tile) {
    const std::int64_t stride = padded(base_rows.count);
    workspace_.scores.resize(static_cast<std::size_t>(query_rows.count * stride));
    direct_scores(form_, plan_.metric.p, query_rows, base_rows, dims(), workspace_.scores.data(), stride);
    for (std::int64_t q = 0; q < query_rows.count; ++q)
      filter_scores(q, tile, workspace_.scores.data() + q * stride, base_rows.count);
  }

  void search_panels(Rows<F> query_rows, Rows<F> base_rows, std::int64_t tile) {
    const std::int64_t block_rows = tiled_block_rows<F>();
    const std::int64_t blocks = (base_rows.count + block_rows - 1) / block_rows;
    const std::int64_t padded_rows = padded(base_rows.count);
    workspace_.panels.resize(static_cast<std::size_t>(padded_rows * dims()));
    pack_panels(base_rows, dims(), workspace_.panels.data());
    if (plan_.expanded) {
      workspace_.norms.assign(static_cast<std::size_t>(padded_rows), F{0});
      scaled_norms(base_, tile, base_rows.count, workspace_.norms.data());
    }
    workspace_.scores.resize(static_cast<std::size_t>(query_rows.count * padded_rows));
    workspace_.hits.resize(static_cast<std::size_t>(query_rows.count * blocks));
    std::vector<F>& limits = exclusive_limits();
    const std::int64_t count = register_tiled_scores(
        plan_.expanded ? core::Form::dot : form_, plan_.metric.p, query_rows,
        {workspace_.panels.data(), plan_.expanded ? workspace_.norms.data() : nullptr, base_rows.count}, dims(),
        {workspace_.scores.data(), workspace_.hits.data(), limits.data()});
    for (std::int64_t i = 0; i < count; ++i) {
      const BlockHit hit = workspace_.hits[static_cast<std::size_t>(i)];
      const std::int64_t row = hit.block * block_rows;
      filter_scores(hit.query, tile + row, workspace_.scores.data() + i * block_rows,
                    std::min(block_rows, base_rows.count - row));
    }
  }

  // Limits for register_tiled_scores(), which keeps scores below a limit, not at most the limit.
  std::vector<F>& exclusive_limits() {
    exclusive_limits_.resize(workspace_.limits.size());
    std::transform(workspace_.limits.begin(), workspace_.limits.end(), exclusive_limits_.begin(), core::next_above<F>);
    return exclusive_limits_;
  }

  // Keeps scores of base rows [row, row + count) of one query that may be within its radius, and checks their keys.
  void filter_scores(std::int64_t q, std::int64_t row, const F* scores, std::int64_t count) {
    const auto at = static_cast<std::size_t>(q);
    for (std::int64_t done = 0; done < count;) {
      const auto result = filter(scores + done, nullptr, count - done, workspace_.limits[at], workspace_.errors[at],
                                 static_cast<OffsetOf<F>>(done), workspace_.kept_scores.data(),
                                 workspace_.kept_offsets.data(), plan_.candidates);
      done += result.consumed;
      std::int64_t undecided = 0;
      for (std::int64_t i = 0; i < result.kept; ++i) {
        const auto candidate = static_cast<std::size_t>(i);
        const std::int64_t id = row + static_cast<std::int64_t>(workspace_.kept_offsets[candidate]);
        if (request_.exclude_self && id == first_ + q) continue;
        if (request_.count_only && is_within(q, workspace_.kept_scores[candidate])) {
          found_[q]->count += 1;
        } else {
          workspace_.ids[static_cast<std::size_t>(undecided++)] = id;
        }
      }
      check_keys(q, undecided);
    }
  }

  // Whether a score, raised by its error, proves that its point is within. An infinite one proves nothing: the key may
  // be no number, which is within no radius.
  bool is_within(std::int64_t q, F raised) const {
    return raised < std::numeric_limits<F>::infinity() &&
           bounds_.key_above(raised, queries_.facts(first_ + q).square_norm) <= request_.key_of(first_ + q);
  }

  // Computes the keys of the first `count` ids; those within the radius are hits.
  void check_keys(std::int64_t q, std::int64_t count) {
    if (count == 0) return;
    const F limit = request_.key_of(first_ + q);
    const core::RowFacts query_facts = queries_.facts(first_ + q);
    exact_sums(form_, plan_.metric.p, workspace_.exact_queries.data() + q * dims(), base_.exact_base(),
               workspace_.ids.data(), count, workspace_.raw.data());
    finalists_ += count;
    const auto id_of = [&](std::int64_t i) { return workspace_.ids[static_cast<std::size_t>(i)]; };
    // The scores were read: their memory takes the keys.
    finish_keys(base_, query_facts, id_of, count, workspace_.raw.data(), workspace_.kept_scores.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t id = id_of(i);
      const F key = workspace_.kept_scores[static_cast<std::size_t>(i)];
      if (!(key <= limit)) continue;
      found_[q]->count += 1;
      if (request_.count_only) continue;
      found_[q]->hits.push_back({key, id});
      ++hits_;
    }
  }

  const PreparedRows<T>& base_;
  const PreparedRows<T>& queries_;
  const Plan& plan_;
  const core::RadiusQuery<F>& request_;
  core::Form form_;
  core::ScoreBounds<F> bounds_;
  RadiusWorkspace<F>& workspace_;
  std::vector<F> exclusive_limits_;
  QueryHits<F>* const* found_ = nullptr;
  std::int64_t first_ = 0;
  std::int64_t hits_ = 0;  // of the tile
  std::int64_t finalists_ = 0;
};

// Sorts the hits of one query, from all parts, into the result, and frees their memory.
template <class F>
void write_sorted_row(const Metric& metric, QueryHits<F>* parts, std::int64_t splits, std::int64_t* ids, F* distances) {
  std::vector<core::Hit<F>> all = std::move(parts[0].hits);
  for (std::int64_t split = 1; split < splits; ++split) {
    const std::vector<core::Hit<F>> more = std::move(parts[split].hits);
    all.insert(all.end(), more.begin(), more.end());
  }
  sort_hits(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ids[i] = all[i].id;
    distances[i] = core::returned_value(metric, all[i].key);
  }
}

}  // namespace

template <Element T>
std::int64_t radius_search(const PreparedRows<T>& base, const PreparedRows<T>& queries, const Plan& plan,
                           const core::RadiusQuery<DistanceOf<T>>& request, const ProgressCallback& callback,
                           const RadiusLists<DistanceOf<T>>& out) {
  using F = DistanceOf<T>;
  const std::int64_t query_count = queries.view.rows;
  const std::int64_t splits = plan.base_splits;
  const std::int64_t blocks = (query_count + plan.query_block - 1) / plan.query_block;
  const std::int64_t part_rows = (base.view.rows + splits - 1) / splits;
  std::vector<QueryHits<F>> found(static_cast<std::size_t>(query_count * splits));
  std::vector<RadiusWorkspace<F>> workspaces(static_cast<std::size_t>(plan.threads));
  ProgressMeter progress(callback, query_count * base.view.rows);
  std::atomic<std::int64_t> hits{0};
  std::atomic<std::int64_t> finalists{0};

  parallel_for(plan.threads, blocks * splits, [&](std::int64_t index, int worker) {
    const std::int64_t split = index % splits;
    const std::int64_t first = index / splits * plan.query_block;
    const std::int64_t count = std::min(plan.query_block, query_count - first);
    const std::int64_t part = split * part_rows;
    std::vector<QueryHits<F>*> mine;
    for (std::int64_t q = 0; q < count; ++q)
      mine.push_back(&found[static_cast<std::size_t>((first + q) * splits + split)]);
    RadiusTask<T> task(base, queries, plan, request, workspaces[static_cast<std::size_t>(worker)]);
    finalists += task.run(first, count, part, std::min(part + part_rows, base.view.rows), mine.data(),
                          [&](std::int64_t pairs, std::int64_t more) {
                            if ((hits += more) > request.max_hits)
                              throw Error(ErrorCode::out_of_memory,
                                          fmt::format("more than {} neighbors lie within the radius; free memory "
                                                      "holds no more of them",
                                                      request.max_hits));
                            progress.add(pairs, worker);
                          });
  });

  out.offsets[0] = 0;
  for (std::int64_t q = 0; q < query_count; ++q) {
    out.offsets[q + 1] = out.offsets[q];
    for (std::int64_t split = 0; split < splits; ++split)
      out.offsets[q + 1] += found[static_cast<std::size_t>(q * splits + split)].count;
  }
  if (!request.count_only) {
    const NeighborsView<F> to = out.allocate(out.offsets[query_count]);
    constexpr double kHitSeconds = 3e-8;
    const int threads = plan::threads_worth(static_cast<double>(out.offsets[query_count]) * kHitSeconds, plan.threads);
    parallel_for(threads, query_count, [&](std::int64_t q, int) {
      write_sorted_row(plan.metric, found.data() + q * splits, splits, to.ids + out.offsets[q],
                       to.distances + out.offsets[q]);
    });
  }
  progress.finish();
  return finalists;
}

#define KITH_INSTANTIATE(T)                                                                             \
  template std::int64_t radius_search(const PreparedRows<T>&, const PreparedRows<T>&, const Plan&,      \
                                      const core::RadiusQuery<DistanceOf<T>>&, const ProgressCallback&, \
                                      const RadiusLists<DistanceOf<T>>&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
