// climb.hpp: rungs are run, or tried on some queries first, and give the queries that have no certificate.
#pragma once

#include "cuda/search/half_certificate.hpp"
#include "cuda/search/rung_search.hpp"

namespace kith::KITH_BACKEND {

template <class F>
PointStore<F> some_of(const PointStore<F>& queries, const unsigned* chosen, std::int64_t count, const Metric& metric,
                      cudaStream_t stream) {
  PointStore<F> some(count, queries.dims(), metric, queries.addends(0) != nullptr, stream);
  gather_rows(queries.exact(0, queries.count()).rows.data, chosen, count, queries.dims(), some.rows(), stream);
  some.prepare(count);
  return some;
}

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
    const std::int64_t tried = tried_queries(queries.count());
    if (tried == 0 || !may_fail(work_.rungs[rung], queries.dims())) return rung;
    const DeviceBuffer<unsigned> numbers = spread_numbers(tried, queries.count(), workspace_.stream());
    const PointStore<F> some = some_of(queries, numbers.data(), tried, work_.metric, workspace_.stream());
    for (; may_fail(work_.rungs[rung], queries.dims()); ++rung) {
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
  // Of so many queries more than half failing says something of the points.
  static constexpr std::int64_t kTelling = 32;

  // What is tried before all queries take a rung.
  struct Trial {
    static constexpr std::int64_t kLeastQueries = 256;  // fewer are their own trial
    static constexpr std::int64_t kShare = 16;
    static constexpr std::int64_t kMostTried = 64;
  };

  // How many queries try a rung: some, where the first tile leaves points out.
  std::int64_t tried_queries(std::int64_t queries) const {
    if (queries < Trial::kLeastQueries || work_.base_tile <= work_.candidates) return 0;
    return std::min(queries / Trial::kShare, Trial::kMostTried);
  }

  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

  // Products may, of halfs or not.
  bool may_fail(const Rung& rung, std::int64_t dims) const {
    return uses_halfs(rung.stage) ||
           (rung.expanded && !core::ScoreBounds<F>(work_.metric, dims, true, work_.span).is_exact());
  }

  // Numbers 0 … all − 1, `count` of them, evenly apart.
  static DeviceBuffer<unsigned> spread_numbers(std::int64_t count, std::int64_t all, cudaStream_t stream) {
    std::vector<unsigned> numbers(size(count));
    for (std::int64_t i = 0; i < count; ++i) numbers[size(i)] = static_cast<unsigned>(i * all / count);
    DeviceBuffer<unsigned> there(numbers.size(), stream);
    KITH_CUDA(cudaMemcpyAsync(there.data(), numbers.data(), numbers.size() * sizeof(unsigned), cudaMemcpyHostToDevice,
                              stream));
    KITH_CUDA(cudaStreamSynchronize(stream));
    return there;
  }

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

}  // namespace kith::KITH_BACKEND
