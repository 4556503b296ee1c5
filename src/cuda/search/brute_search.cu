#include "cuda/search/brute_search.hpp"

#include <algorithm>
#include <optional>

#include "cuda/search/candidates.hpp"
#include "cuda/search/fused_candidates.hpp"
#include "cuda/select/select.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {
namespace {

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

template <class F>
void compute_scores(DistanceStage stage, const ScoreCall<F>& call) {
  switch (stage) {
    case DistanceStage::direct: return direct_scores(call);
    case DistanceStage::tiled: return tiled_scores(call);
    case DistanceStage::register_tiled: return register_tiled_scores(call);
    case DistanceStage::gemm: return gemm_scores(call);
    case DistanceStage::fused:
    case DistanceStage::keys: break;
  }
  throw Error(ErrorCode::internal, "a stage without a matrix of scores");
}

// The queries of one rung and what they have found.
template <class F>
struct Ladder {
  const PointStore<F>& queries;
  RunningLists<F> lists;
  F* left_out;
};

template <class F>
class RungSearch {
 public:
  RungSearch(const BruteWork& work, const Rung& rung, const Ladder<F>& ladder, Workspace& workspace)
      : work_(work), rung_(rung), ladder_(ladder), workspace_(workspace), query_tile_(work.query_tile) {}

  // All queries against one tile of the base.
  void take(const BaseTile<F>& base, const std::function<void()>& between) {
    for (std::int64_t first = 0; first < ladder_.queries.count();) {
      const std::int64_t count = std::min(query_tile_, ladder_.queries.count() - first);
      workspace_.reset();
      try {
        take_tile(base, first, count);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory || count == 1) throw;
        query_tile_ = count / 2;
        workspace_.clear();
        continue;
      }
      first += count;
      between();
    }
    ladder_.lists.count = joined(width_of(base));
  }

  std::int64_t keys() const { return keys_; }

 private:
  struct Best {
    F* values;
    std::int64_t* places;
  };

  bool exact() const { return rung_.stage == DistanceStage::keys; }
  std::int64_t width_of(const BaseTile<F>& base) const {
    return std::min(exact() ? work_.k : work_.candidates, base.count);
  }
  std::int64_t joined(std::int64_t width) const { return std::min(work_.k, ladder_.lists.count + width); }

  Best select(const Rows<F>& rows, std::int64_t k) {
    Best best{workspace_.take<F>(size(rows.rows * k)), workspace_.take<std::int64_t>(size(rows.rows * k))};
    const Output<F> output{best.values, best.places, static_cast<unsigned>(k), TopkOutput::sorted, rows};
    select_rows(SelectCall<F>{rows, output, tuning_, workspace_}, work_.select);
    return best;
  }

  // Queries first … first + count − 1 against the tile; their lists are touched last of all.
  void take_tile(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    const std::int64_t width = width_of(base);
    const KeyCall<F> keys{ladder_.queries.exact(first, count), base.store->exact(base.first, base.count),
                          base.store->dims(), work_.metric, workspace_.stream()};
    TileCandidates<F> candidates;
    candidates.count = width;
    candidates.first_id = static_cast<unsigned>(base.first_id);
    if (exact()) {
      const Rows<F> matrix = make_matrix(count, base.count);
      all_keys(keys, const_cast<F*>(matrix.values), base.count);
      const Best best = select(matrix, width);
      candidates.keys = best.values;
      candidates.places = best.places;
      keys_ += count * base.count;
    } else {
      const Best best = best_scores(base, first, count);
      if (width < base.count) note_left_out(best.values, width, count, ladder_.left_out + first, workspace_.stream());
      unsigned* places = workspace_.take<unsigned>(size(count * width));
      F* found = workspace_.take<F>(size(count * width));
      narrow_places(best.places, count * width, places, workspace_.stream());
      candidate_keys(keys, places, width, found);
      candidates.keys = found;
      candidates.places = best.places;
      keys_ += count * width;
    }
    join(candidates, first, count);
  }

  Rows<F> make_matrix(std::int64_t rows, std::int64_t columns) {
    Rows<F> matrix;
    matrix.values = workspace_.take<F>(size(rows * columns));
    matrix.rows = rows;
    matrix.length = static_cast<unsigned>(columns);
    matrix.stride = columns;
    return matrix;
  }

  // As many as get a key: from a matrix of scores, or from those that pass a limit.
  Best best_scores(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    const std::int64_t width = width_of(base);
    ScoreCall<F> call{ladder_.queries.working(first, count),
                      base.store->working(base.first, base.count),
                      base.store->dims(),
                      core::form_of(work_.metric),
                      work_.metric.p,
                      rung_.expanded ? base.store->addends(base.first) : nullptr,
                      nullptr,
                      base.count,
                      workspace_};
    if (rung_.stage == DistanceStage::fused) {
      const FusedBest<F> best = fused_candidates(FusedCall<F>{call, width, work_.select}, ladder_.left_out + first);
      return {best.scores, best.places};
    }
    const Rows<F> matrix = make_matrix(count, base.count);
    call.scores = const_cast<F*>(matrix.values);
    compute_scores(rung_.stage, call);
    return select(matrix, width);
  }

  void join(const TileCandidates<F>& candidates, std::int64_t first, std::int64_t count) {
    cudaStream_t stream = workspace_.stream();
    RunningLists<F> lists = ladder_.lists;
    lists.keys += first * lists.k;
    lists.ids += first * lists.k;
    const std::int64_t width = lists.count + candidates.count;
    F* keys = workspace_.take<F>(size(count * width));
    unsigned* ids = workspace_.take<unsigned>(size(count * width));
    join_lists(lists, candidates, count, keys, ids, stream);
    Rows<F> rows;
    rows.values = keys;
    rows.ids = ids;
    rows.rows = count;
    rows.length = static_cast<unsigned>(width);
    rows.stride = rows.id_stride = width;
    lists.count = joined(candidates.count);
    const Best best = select(rows, lists.count);
    keep_lists(best.values, best.places, count, lists, stream);
  }

  const BruteWork& work_;
  Rung rung_;
  Ladder<F> ladder_;
  Workspace& workspace_;
  SelectTuning tuning_;
  std::int64_t query_tile_;
  std::int64_t keys_ = 0;
};

// Runs a rung and gives the queries that have no certificate; none after the last rung.
template <class F>
class Climb {
 public:
  Climb(const BruteWork& work, BaseSource<F>& base, Workspace& workspace, const std::function<void()>& between)
      : work_(work), base_(base), workspace_(workspace), between_(between) {}

  RungReport run(const Rung& rung, const PointStore<F>& queries, F* keys, unsigned* ids) {
    cudaStream_t stream = workspace_.stream();
    const std::int64_t count = queries.count();
    left_out_ = DeviceBuffer<F>(size(count), stream);
    begin_left_out(left_out_.data(), count, stream);
    RungSearch<F> search(work_, rung, {queries, {keys, ids, work_.k, 0}, left_out_.data()}, workspace_);
    base_.for_each_tile(work_.base_tile, [&](const BaseTile<F>& tile) { search.take(tile, between_); });
    failed_count_ = 0;
    if (rung.stage != DistanceStage::keys) look_for_failures(rung, queries, keys);
    return {count, search.keys()};
  }

  std::int64_t failed() const { return failed_count_; }
  const unsigned* failed_queries() const { return failed_.data(); }

 private:
  void look_for_failures(const Rung& rung, const PointStore<F>& queries, const F* keys) {
    cudaStream_t stream = workspace_.stream();
    const core::ScoreBounds<F> bounds(work_.metric, queries.dims(), rung.expanded, work_.integers);
    Certificate<F> certificate{bounds, keys, work_.k, left_out_.data(), nullptr, nullptr};
    if (rung.expanded || bounds.is_absolute()) {
      certificate.query_square_norms = queries.square_norms(0);
      certificate.longest = base_.longest();
    }
    failed_ = DeviceBuffer<unsigned>(size(queries.count() + 1), stream);
    unsigned* counter = failed_.data() + queries.count();
    KITH_CUDA(cudaMemsetAsync(counter, 0, sizeof(unsigned), stream));
    certify(certificate, queries.count(), failed_.data(), counter, stream);
    unsigned failures = 0;
    KITH_CUDA(cudaMemcpyAsync(&failures, counter, sizeof(failures), cudaMemcpyDeviceToHost, stream));
    KITH_CUDA(cudaStreamSynchronize(stream));
    failed_count_ = failures;
  }

  const BruteWork& work_;
  BaseSource<F>& base_;
  Workspace& workspace_;
  const std::function<void()>& between_;
  DeviceBuffer<F> left_out_;
  DeviceBuffer<unsigned> failed_;
  std::int64_t failed_count_ = 0;
};

}  // namespace

template <class F>
std::vector<RungReport> brute_search(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base, F* keys,
                                     unsigned* ids, Workspace& workspace, const std::function<void()>& between) {
  cudaStream_t stream = workspace.stream();
  Climb<F> climb(work, base, workspace, between);
  std::vector<RungReport> reports = {climb.run(work.rungs.front(), queries, keys, ids)};

  // Who failed goes on alone: `chosen` says where its answer belongs.
  std::optional<PointStore<F>> rest;
  DeviceBuffer<unsigned> chosen;
  for (std::size_t rung = 1; rung < work.rungs.size() && climb.failed() > 0; ++rung) {
    const std::int64_t count = climb.failed();
    DeviceBuffer<unsigned> failed(size(count), stream);
    if (rest) {
      gather_rows(chosen.data(), climb.failed_queries(), count, 1, failed.data(), stream);
    } else {
      KITH_CUDA(cudaMemcpyAsync(failed.data(), climb.failed_queries(), size(count) * sizeof(unsigned),
                                cudaMemcpyDeviceToDevice, stream));
    }
    chosen = std::move(failed);
    rest.emplace(count, queries.dims(), work.metric, queries.addends(0) != nullptr, stream);
    gather_rows(queries.exact(0, queries.count()).rows.data, chosen.data(), count, queries.dims(), rest->rows(),
                stream);
    rest->prepare(count);
    DeviceBuffer<F> rest_keys(size(count * work.k), stream);
    DeviceBuffer<unsigned> rest_ids(size(count * work.k), stream);
    reports.push_back(climb.run(work.rungs[rung], *rest, rest_keys.data(), rest_ids.data()));
    scatter_rows(rest_keys.data(), chosen.data(), count, work.k, keys, stream);
    scatter_rows(rest_ids.data(), chosen.data(), count, work.k, ids, stream);
  }
  return reports;
}

#define KITH_INSTANTIATE(F)                                                                                            \
  template std::vector<RungReport> brute_search(const BruteWork&, const PointStore<F>&, BaseSource<F>&, F*, unsigned*, \
                                                Workspace&, const std::function<void()>&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
