#include "cuda/search/brute_search.hpp"

#include <algorithm>
#include <optional>

#include "cuda/search/candidates.hpp"
#include "cuda/search/fused_candidates.hpp"
#include "cuda/search/half_certificate.hpp"
#include "cuda/search/two_lanes.hpp"
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
    case DistanceStage::half:
    case DistanceStage::fused:
    case DistanceStage::fused_half:
    case DistanceStage::keys: break;
  }
  throw Error(ErrorCode::internal, "a stage without a matrix of scores in working precision");
}

// So few queries go to the last rung at once: keys of all points then take no longer than any other scores.
constexpr std::int64_t kFew = 16;

// Of so many queries more than half failing says something of the points.
constexpr std::int64_t kTelling = 32;

// What is tried before all queries take a rung.
struct Trial {
  static constexpr std::int64_t kLeastQueries = 256;  // fewer are their own trial
  static constexpr std::int64_t kShare = 16;
  static constexpr std::int64_t kMostTried = 64;
};

// How many queries try a rung: some, where the first tile leaves points out.
std::int64_t tried_queries(const BruteWork& work, std::int64_t queries) {
  if (queries < Trial::kLeastQueries || work.base_tile <= work.candidates) return 0;
  return std::min(queries / Trial::kShare, Trial::kMostTried);
}

// Products may, of halfs or not.
template <class F>
bool may_fail(const BruteWork& work, const Rung& rung, std::int64_t dims) {
  return uses_halfs(rung.stage) ||
         (rung.expanded && !core::ScoreBounds<F>(work.metric, dims, true, work.span).is_exact());
}

// Numbers 0 … all − 1, `count` of them, evenly apart.
DeviceBuffer<unsigned> spread_numbers(std::int64_t count, std::int64_t all, cudaStream_t stream) {
  std::vector<unsigned> numbers(size(count));
  for (std::int64_t i = 0; i < count; ++i) numbers[size(i)] = static_cast<unsigned>(i * all / count);
  DeviceBuffer<unsigned> there(numbers.size(), stream);
  KITH_CUDA(
      cudaMemcpyAsync(there.data(), numbers.data(), numbers.size() * sizeof(unsigned), cudaMemcpyHostToDevice, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return there;
}

template <class F>
PointStore<F> some_of(const PointStore<F>& queries, const unsigned* chosen, std::int64_t count, const Metric& metric,
                      cudaStream_t stream) {
  PointStore<F> some(count, queries.dims(), metric, queries.addends(0) != nullptr, stream);
  gather_rows(queries.exact(0, queries.count()).rows.data, chosen, count, queries.dims(), some.rows(), stream);
  some.prepare(count);
  return some;
}

// The queries of one rung and what they have found.
template <class F>
struct Ladder {
  const PointStore<F>& queries;
  RunningLists<F> lists;
  F* left_out;
  const HalfStore* halfs;  // of the queries; null but for half
};

template <class F>
class RungSearch {
 public:
  // Tiles that are worth it take turns on `lanes`, which are made for the first of them.
  RungSearch(const BruteWork& work, const Rung& rung, const Ladder<F>& ladder, Workspace& workspace,
             std::optional<TwoLanes>& lanes)
      : work_(work),
        rung_(rung),
        ladder_(ladder),
        workspace_(&workspace),
        lanes_(lanes),
        query_tile_(work.query_tile) {}

  // All queries against one tile of the base.
  void take(const BaseTile<F>& base, const std::function<void()>& between) {
    if (ladder_.queries.count() <= query_tile_ || query_tile_ * base.count < work_.lane_pairs)
      take_tiles(base, between);
    else
      take_turns(base, between);
    ladder_.lists.count = joined(width_of(base));
  }

  std::int64_t keys() const { return keys_; }

 private:
  struct Best {
    F* values;
    std::int64_t* places;
  };

  void take_turns(const BaseTile<F>& base, const std::function<void()>& between) {
    Workspace& own = *workspace_;
    if (!lanes_) lanes_.emplace(own.budget());
    own.clear();
    lanes_->follow(own.stream());
    workspace_ = &lanes_->next();
    take_tiles(base, [&] {
      lanes_->tile_is_enqueued();
      between();
      workspace_ = &lanes_->next();
    });
    lanes_->lead(own.stream());
    workspace_ = &own;
  }

  // tile_done() follows each.
  void take_tiles(const BaseTile<F>& base, const std::function<void()>& tile_done) {
    for (std::int64_t first = 0; first < ladder_.queries.count();) {
      const std::int64_t count = std::min(query_tile_, ladder_.queries.count() - first);
      workspace_->reset();
      try {
        take_tile(base, first, count);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory || count == 1) throw;
        query_tile_ = count / 2;
        workspace_->clear();
        continue;
      }
      first += count;
      tile_done();
    }
  }

  bool exact() const { return rung_.stage == DistanceStage::keys; }
  std::int64_t width_of(const BaseTile<F>& base) const {
    return std::min(exact() ? work_.k : work_.candidates, base.count);
  }
  std::int64_t joined(std::int64_t width) const { return std::min(work_.k, ladder_.lists.count + width); }

  Best select(const Rows<F>& rows, std::int64_t k) {
    Best best{workspace_->take<F>(size(rows.rows * k)), workspace_->take<std::int64_t>(size(rows.rows * k))};
    const Output<F> output{best.values, best.places, static_cast<unsigned>(k), TopkOutput::sorted, rows};
    select_rows(SelectCall<F>{rows, output, tuning_, *workspace_}, work_.select);
    return best;
  }

  // Queries first … first + count − 1 against the tile; their lists are touched last of all.
  void take_tile(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    const std::int64_t width = width_of(base);
    const KeyCall<F> keys{ladder_.queries.exact(first, count), base.store->exact(base.first, base.count),
                          base.store->dims(), work_.metric, workspace_->stream()};
    TileCandidates<F> candidates;
    candidates.count = width;
    candidates.first_id = static_cast<unsigned>(base.first_id);
    if (exact()) {
      F* matrix = workspace_->take<F>(size(count * stride_of(base)));
      all_keys(keys, matrix, stride_of(base));
      const Best best = select(rows_of(matrix, count, base.count, stride_of(base)), width);
      if (ladder_.lists.count == 0 && base.first_id == 0) {  // they are the lists
        keys_ += count * base.count;
        return keep(best, first, count, width);
      }
      candidates.keys = best.values;
      candidates.places = best.places;
      keys_ += count * base.count;
    } else {
      const Best best =
          uses_halfs(rung_.stage) ? best_half_scores(base, first, count) : best_scores(base, first, count);
      if (width < base.count) note_left_out(best.values, width, count, ladder_.left_out + first, workspace_->stream());
      unsigned* places = workspace_->take<unsigned>(size(count * width));
      F* found = workspace_->take<F>(size(count * width));
      narrow_places(best.places, count * width, places, workspace_->stream());
      candidate_keys(keys, places, width, found);
      candidates.keys = found;
      candidates.places = best.places;
      keys_ += count * width;
    }
    join(candidates, first, count);
  }

  static Rows<F> rows_of(const F* matrix, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    Rows<F> all;
    all.values = matrix;
    all.rows = rows;
    all.length = static_cast<unsigned>(columns);
    all.stride = stride;
    return all;
  }

  // From one row of scores to the next.
  static std::int64_t stride_of(const BaseTile<F>& base) { return ceil_div(base.count, kRowAlignment) * kRowAlignment; }

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
                      stride_of(base),
                      *workspace_};
    if (rung_.stage == DistanceStage::fused) {
      const FusedBest<F> best = fused_candidates(call, {width, work_.select}, ladder_.left_out + first);
      return {best.scores, best.places};
    }
    call.scores = workspace_->take<F>(size(count * stride_of(base)));
    compute_scores(rung_.stage, call);
    return select(rows_of(call.scores, count, base.count, stride_of(base)), width);
  }

  // The same for points rounded to half.
  Best best_half_scores(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    if constexpr (std::is_same_v<F, float>) {
      const std::int64_t width = width_of(base);
      HalfScoreCall call{ladder_.halfs->rows(first, count),
                         base.halfs->rows(base.first, base.count),
                         base.halfs->addends(base.first),
                         nullptr,
                         stride_of(base),
                         *workspace_};
      if (rung_.stage == DistanceStage::fused_half) {
        const FusedBest<F> best = fused_candidates(call, {width, work_.select}, ladder_.left_out + first);
        return {best.scores, best.places};
      }
      call.scores = workspace_->take<F>(size(count * stride_of(base)));
      half_gemm_scores(call);
      return select(rows_of(call.scores, count, base.count, stride_of(base)), width);
    } else {
      throw Error(ErrorCode::internal, "doubles are not rounded to half");
    }
  }

  RunningLists<F> lists_from(std::int64_t first) const {
    RunningLists<F> lists = ladder_.lists;
    lists.keys += first * lists.k;
    lists.ids += first * lists.k;
    return lists;
  }

  void keep(const Best& best, std::int64_t first, std::int64_t count, std::int64_t width) {
    RunningLists<F> lists = lists_from(first);
    lists.count = width;
    keep_lists(best.values, best.places, count, lists, workspace_->stream());
  }

  void join(const TileCandidates<F>& candidates, std::int64_t first, std::int64_t count) {
    const RunningLists<F> lists = lists_from(first);
    const std::int64_t width = lists.count + candidates.count;
    F* keys = workspace_->take<F>(size(count * width));
    unsigned* ids = workspace_->take<unsigned>(size(count * width));
    join_lists(lists, candidates, count, keys, ids, workspace_->stream());
    Rows<F> rows = rows_of(keys, count, width, width);
    rows.ids = ids;
    rows.id_stride = width;
    const std::int64_t kept = joined(candidates.count);
    keep(select(rows, kept), first, count, kept);
  }

  const BruteWork& work_;
  Rung rung_;
  Ladder<F> ladder_;
  Workspace* workspace_;  // of the tile at hand
  std::optional<TwoLanes>& lanes_;
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
    const RungReport report = run_on(rung, queries, keys, ids, [&](RungSearch<F>& search) {
      base_.for_each_tile(work_.base_tile, [&](const BaseTile<F>& tile) { search.take(tile, between_); });
    });
    if (queries.count() >= kTelling && 2 * failed() > queries.count()) base_.memory().note_failed(rung);
    return report;
  }

  // The first rung from `rung` on that queries did not fail before.
  std::size_t first_not_failed(std::size_t rung) const {
    while (work_.remembers && rung + 1 < work_.rungs.size() && base_.memory().has_failed(work_.rungs[rung])) ++rung;
    return rung;
  }

  // The first rung from `rung` on that some of the queries, spread over all, can be expected to pass.
  std::size_t first_that_holds(std::size_t rung, const PointStore<F>& queries, std::vector<RungReport>& reports) {
    const std::int64_t tried = tried_queries(work_, queries.count());
    if (tried == 0 || !may_fail<F>(work_, work_.rungs[rung], queries.dims())) return rung;
    const DeviceBuffer<unsigned> numbers = spread_numbers(tried, queries.count(), workspace_.stream());
    const PointStore<F> some = some_of(queries, numbers.data(), tried, work_.metric, workspace_.stream());
    for (; may_fail<F>(work_, work_.rungs[rung], queries.dims()); ++rung) {
      RungReport trial;
      if (holds(work_.rungs[rung], some, trial)) break;
      reports[rung] = trial;
    }
    return rung;
  }

  // Whether most queries pass, with the first tile alone; what they find is forgotten.
  bool holds(const Rung& rung, const PointStore<F>& queries, RungReport& trial) {
    trial = try_out(rung, queries);
    const bool most_fail = 2 * failed() > queries.count();
    if (most_fail) base_.memory().note_failed(rung);
    return !most_fail;
  }

  std::int64_t failed() const { return failed_count_; }
  const unsigned* failed_queries() const { return failed_.data(); }

 private:
  RungReport try_out(const Rung& rung, const PointStore<F>& queries) {
    DeviceBuffer<F> keys(size(queries.count() * work_.k), workspace_.stream());
    DeviceBuffer<unsigned> ids(size(queries.count() * work_.k), workspace_.stream());
    return run_on(rung, queries, keys.data(), ids.data(), [&](RungSearch<F>& search) {
      base_.for_first_tile(work_.base_tile, [&](const BaseTile<F>& tile) { search.take(tile, [] {}); });
    });
  }

  template <class TakeTiles>
  RungReport run_on(const Rung& rung, const PointStore<F>& queries, F* keys, unsigned* ids, TakeTiles take_tiles) {
    cudaStream_t stream = workspace_.stream();
    const std::int64_t count = queries.count();
    if (rung.stage != DistanceStage::keys) {
      left_out_ = DeviceBuffer<F>(size(count), stream);
      begin_left_out(left_out_.data(), count, stream);
    }
    halfs_.reset();
    if (uses_halfs(rung.stage)) {
      const HalfFrame& frame = base_.half_frame();
      halfs_.emplace(count, queries.dims(), false, stream);
      halfs_->prepare(as_floats(queries.working(0, count)), frame);
    }
    RungSearch<F> search(work_, rung, {queries, {keys, ids, work_.k, 0}, left_out_.data(), halfs_ ? &*halfs_ : nullptr},
                         workspace_, lanes_);
    take_tiles(search);
    failed_count_ = 0;
    if (rung.stage != DistanceStage::keys) look_for_failures(rung, queries, keys);
    return {count, search.keys()};
  }

  void look_for_failures(const Rung& rung, const PointStore<F>& queries, const F* keys) {
    cudaStream_t stream = workspace_.stream();
    failed_ = DeviceBuffer<unsigned>(size(queries.count() + 1), stream);
    unsigned* counter = failed_.data() + queries.count();
    KITH_CUDA(cudaMemsetAsync(counter, 0, sizeof(unsigned), stream));
    if (halfs_) {
      look_at_halfs(rung, queries, keys, counter);
    } else {
      look_at_scores(rung, queries, keys, counter);
    }
    unsigned failures = 0;
    KITH_CUDA(cudaMemcpyAsync(&failures, counter, sizeof(failures), cudaMemcpyDeviceToHost, stream));
    KITH_CUDA(cudaStreamSynchronize(stream));
    failed_count_ = failures;
  }

  void look_at_halfs(const Rung& rung, const PointStore<F>& queries, const F* keys, unsigned* counter) {
    if constexpr (std::is_same_v<F, float>)
      certify_halfs({core::ScoreBounds<F>(work_.metric, queries.dims(), rung.expanded, false),
                     core::HalfBounds(half_stride(queries.dims()), rung.expanded), keys, work_.k, left_out_.data(),
                     halfs_->rows(0, queries.count()), base_.longest_halfs()},
                    failed_.data(), counter, workspace_.stream());
  }

  void look_at_scores(const Rung& rung, const PointStore<F>& queries, const F* keys, unsigned* counter) {
    const core::ScoreBounds<F> bounds(work_.metric, queries.dims(), rung.expanded, work_.span);
    Certificate<F> certificate{bounds, keys, work_.k, left_out_.data(), nullptr, nullptr};
    if (rung.expanded || bounds.is_absolute()) {
      certificate.query_square_norms = queries.square_norms(0);
      certificate.longest = base_.longest();
    }
    certify(certificate, queries.count(), failed_.data(), counter, workspace_.stream());
  }

  const BruteWork& work_;
  BaseSource<F>& base_;
  Workspace& workspace_;
  const std::function<void()>& between_;
  DeviceBuffer<F> left_out_;
  std::optional<HalfStore> halfs_;  // of the rung's queries
  DeviceBuffer<unsigned> failed_;
  std::int64_t failed_count_ = 0;
  std::optional<TwoLanes> lanes_;
};

}  // namespace

template <class F>
std::vector<RungReport> brute_search(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base, F* keys,
                                     unsigned* ids, Workspace& workspace, const std::function<void()>& between) {
  cudaStream_t stream = workspace.stream();
  Climb<F> climb(work, base, workspace, between);
  std::vector<RungReport> reports(work.rungs.size());
  std::size_t rung = climb.first_not_failed(0);
  if (work.tries) rung = climb.first_that_holds(rung, queries, reports);
  reports[rung] = climb.run(work.rungs[rung], queries, keys, ids);

  // Who failed goes on alone: `chosen` says where its answer belongs.
  std::optional<PointStore<F>> rest;
  DeviceBuffer<unsigned> chosen;
  for (++rung; rung < work.rungs.size() && climb.failed() > 0; ++rung) {
    const std::int64_t count = climb.failed();
    if (count <= kFew) rung = work.rungs.size() - 1;
    DeviceBuffer<unsigned> failed(size(count), stream);
    if (rest) {
      gather_rows(chosen.data(), climb.failed_queries(), count, 1, failed.data(), stream);
    } else {
      KITH_CUDA(cudaMemcpyAsync(failed.data(), climb.failed_queries(), size(count) * sizeof(unsigned),
                                cudaMemcpyDeviceToDevice, stream));
    }
    chosen = std::move(failed);
    rest.emplace(some_of(queries, chosen.data(), count, work.metric, stream));
    rung = climb.first_that_holds(climb.first_not_failed(rung), *rest, reports);
    DeviceBuffer<F> rest_keys(size(count * work.k), stream);
    DeviceBuffer<unsigned> rest_ids(size(count * work.k), stream);
    reports[rung] = climb.run(work.rungs[rung], *rest, rest_keys.data(), rest_ids.data());
    scatter_rows(rest_keys.data(), chosen.data(), count, work.k, keys, stream);
    scatter_rows(rest_ids.data(), chosen.data(), count, work.k, ids, stream);
  }
  return reports;
}

template <class F>
bool first_rung_holds(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base, Workspace& workspace) {
  if (base.memory().has_failed(work.rungs.front())) return false;
  const std::function<void()> nothing = [] {};
  RungReport trial;
  return Climb<F>(work, base, workspace, nothing).holds(work.rungs.front(), queries, trial);
}

#define KITH_INSTANTIATE(F)                                                                                            \
  template std::vector<RungReport> brute_search(const BruteWork&, const PointStore<F>&, BaseSource<F>&, F*, unsigned*, \
                                                Workspace&, const std::function<void()>&);                             \
  template bool first_rung_holds(const BruteWork&, const PointStore<F>&, BaseSource<F>&, Workspace&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
