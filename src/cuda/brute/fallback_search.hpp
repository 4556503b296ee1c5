// fallback_search.hpp: runs a pass, or tries it on some queries first, and collects the queries without a certificate,
// which go on to the next pass of the fallback chain.
#pragma once

#include "cuda/brute/bounded_limits.hpp"
#include "cuda/brute/fp16_certificate.hpp"
#include "cuda/brute/pass_search.hpp"
#include "plan/products.hpp"

namespace kith::KITH_BACKEND::brute {

// Queries as passes of the chain take them, with norms.
template <class F>
PointStore<F> gather_queries(const PointStore<F>& queries, const unsigned* chosen, std::int64_t count,
                             const Metric& metric, cudaStream_t stream) {
  PointStore<F> sample(count, queries.dims(), metric, core::form_of(metric) == core::Form::squared, stream);
  gather_rows(queries.exact(0, queries.count()).rows.data, chosen, count, queries.dims(), sample.rows(), stream);
  sample.prepare(count);
  return sample;
}

// A pass of the chain and the bounded one that may follow it are judged together: what the second adds to the first
// costs no more than the first. After run(), failed_queries() are those without a certificate; none after the last
// pass, whose keys are exact.
template <class F>
class FallbackSearch {
 public:
  FallbackSearch(const BruteWork& work, BaseSource<F>& base, Workspace& workspace,
                 const std::function<void()>& on_tile_done)
      : work_(work), base_(base), workspace_(workspace), on_tile_done_(on_tile_done) {}

  // Calls on_enqueued() before it waits for the number of those that failed.
  PassReport run(const Pass& pass, const PointStore<F>& queries, F* keys, unsigned* ids,
                 const std::function<void()>& on_enqueued = {}) {
    const auto search_tiles = [&](PassSearch<F>& search) {
      base_.for_each_tile(work_.base_tile, [&](const BaseTile<F>& tile) { search.search_tile(tile, on_tile_done_); });
    };
    const PassReport report = run_on(pass, queries, keys, ids, search_tiles, on_enqueued);
    // Those that other passes have failed say little of the rest.
    most_queries_ = std::max(most_queries_, queries.count());
    if (queries.count() >= plan::kJudgedQueries && 2 * queries.count() >= most_queries_) {
      note(pass, 2 * failed() <= queries.count());
    } else if (keeps_history() && pass == work_.passes.front() && rounds(pass)) {
      work_.history->note_few(queries.count(), failed());
    }
    return report;
  }

  // The first pass from `pass` on that earlier searches did not fail.
  std::size_t first_not_failed(std::size_t pass) const {
    while (work_.remembers && pass + 1 < work_.passes.size() && has_failed(work_.passes[pass]) &&
           !bounded_may_do(pass + 1))
      ++pass;
    return pass;
  }

  // The first pass from `pass` on that can be the first: bounded ones need lists.
  std::size_t first_unbounded(std::size_t pass) const {
    while (work_.passes[pass].bounded) ++pass;
    return pass;
  }

  // The first pass from `pass` on that a sample of the queries, spread over all, passes.
  std::size_t first_that_suffices(std::size_t pass, const PointStore<F>& queries, std::vector<PassReport>& reports) {
    const std::int64_t tried = trial_queries(queries.count());
    if (tried == 0 || !may_fail(work_.passes[pass], queries.dims()) || has_sufficed(work_.passes[pass])) return pass;
    const DeviceBuffer<unsigned> indices = spread_indices(tried, queries.count(), workspace_.stream());
    const PointStore<F> sample = gather_queries(queries, indices.data(), tried, work_.metric, workspace_.stream());
    while (may_fail(work_.passes[pass], queries.dims())) {
      if (suffices(pass, sample, &reports)) break;
      pass = first_unbounded(pass + 1);
    }
    return pass;
  }

  // Whether most of these queries get a certificate from the first tile of the base, by the pass or by the bounded one
  // after it; their neighbors are discarded.
  bool suffices(std::size_t pass, const PointStore<F>& queries, std::vector<PassReport>* reports) {
    DeviceBuffer<F> keys(as_size(queries.count() * work_.k), workspace_.stream());
    DeviceBuffer<unsigned> ids(as_size(queries.count() * work_.k), workspace_.stream());
    const std::size_t end = first_unbounded(pass + 1);
    for (std::size_t i = pass; i < end; ++i) {
      const PassReport trial = run_trial(work_.passes[i], queries, keys.data(), ids.data());
      if (2 * failed() <= queries.count()) return true;
      note(work_.passes[i], false);
      if (reports != nullptr) (*reports)[i] = trial;
    }
    return false;
  }

  bool has_failed(const Pass& pass) const { return work_.history != nullptr && work_.history->has_failed(pass); }

  std::int64_t failed() const { return failed_count_; }
  const unsigned* failed_queries() const { return failed_.data(); }

 private:
  // What some of the points take says little of all.
  bool keeps_history() const { return work_.history != nullptr && work_.wanted == nullptr; }
  void note(const Pass& pass, bool sufficed) {
    if (!keeps_history()) return;
    if (sufficed) {
      work_.history->note_sufficed(pass);
    } else {
      work_.history->note_failed(pass);
    }
  }
  // Whether this pass is a bounded one, which earlier searches did not fail.
  bool bounded_may_do(std::size_t pass) const {
    return pass < work_.passes.size() && work_.passes[pass].bounded && !has_failed(work_.passes[pass]);
  }
  bool has_sufficed(const Pass& pass) const { return work_.history != nullptr && work_.history->has_sufficed(pass); }

  // Sizes of the sample that tries a pass before all queries do.
  struct Trial {
    static constexpr std::int64_t kMinQueries = 256;  // fewer are their own trial
    static constexpr std::int64_t kTriedFraction = 16;
    static constexpr std::int64_t kMaxTried = 64;
  };

  // How many queries try a pass; none where the first tile leaves no point out, as then nothing can fail.
  std::int64_t trial_queries(std::int64_t queries) const {
    if (queries < Trial::kMinQueries || work_.base_tile <= work_.candidates) return 0;
    return std::min(queries / Trial::kTriedFraction, Trial::kMaxTried);
  }

  static bool rounds(const Pass& pass) {
    return pass.distance == DistanceStage::fp16 || pass.distance == DistanceStage::split_fp16;
  }

  // Products may cancel; differences and exact integers do not.
  bool may_fail(const Pass& pass, std::int64_t dims) const {
    return rounds(pass) ||
           (pass.expanded && !core::ScoreBounds<F>(work_.metric, dims, true, work_.integer_range).is_exact());
  }

  // `count` of the indices 0 … all − 1, evenly apart, on the device.
  static DeviceBuffer<unsigned> spread_indices(std::int64_t count, std::int64_t all, cudaStream_t stream) {
    std::vector<unsigned> indices(as_size(count));
    for (std::int64_t i = 0; i < count; ++i) indices[as_size(i)] = static_cast<unsigned>(i * all / count);
    DeviceBuffer<unsigned> uploaded(indices.size(), stream);
    KITH_CUDA(cudaMemcpyAsync(uploaded.data(), indices.data(), indices.size() * sizeof(unsigned),
                              cudaMemcpyHostToDevice, stream));
    KITH_CUDA(cudaStreamSynchronize(stream));
    return uploaded;
  }

  PassReport run_trial(const Pass& pass, const PointStore<F>& queries, F* keys, unsigned* ids) {
    const auto search_tile = [&](PassSearch<F>& search) {
      base_.for_first_tile(work_.base_tile, [&](const BaseTile<F>& tile) { search.search_tile(tile, [] {}); });
    };
    return run_on(pass, queries, keys, ids, search_tile, {});
  }

  template <class SearchTiles>
  PassReport run_on(const Pass& pass, const PointStore<F>& queries, F* keys, unsigned* ids, SearchTiles search_tiles,
                    const std::function<void()>& on_enqueued) {
    cudaStream_t stream = workspace_.stream();
    const std::int64_t count = queries.count();
    const bool may_fail = pass.distance != DistanceStage::exact;
    if (may_fail) {
      left_out_ = DeviceBuffer<F>(as_size(count), stream);
      failed_ = DeviceBuffer<unsigned>(as_size(count + 1), stream);
    }
    unsigned* const failed_count = may_fail ? failed_.data() + count : nullptr;
    round_queries(pass, queries);
    if (pass.bounded) find_limits(pass, queries, keys);
    PassSearch<F> search(work_, pass,
                         {queries,
                          {keys, ids, work_.k, 0},
                          left_out_.data(),
                          failed_count,
                          fp16_ ? &*fp16_ : nullptr,
                          bytes_ ? &*bytes_ : nullptr,
                          pass.bounded ? limits_.data() : nullptr},
                         workspace_, streams_);
    if (may_fail && !search.sets_left_out()) begin_left_out(left_out_.data(), count, failed_count, stream);
    search_tiles(search);
    if (may_fail) find_failures(pass, queries, keys);
    if (on_enqueued) on_enqueued();
    failed_count_ = 0;
    if (may_fail) {
      KITH_CUDA(cudaStreamSynchronize(stream));
      failed_count_ = *failures_.as<unsigned>();
    }
    return {count, search.keys()};
  }

  // Makes of the queries, and of the base, what the pass needs.
  void round_queries(const Pass& pass, const PointStore<F>& queries) {
    fp16_.reset();
    bytes_.reset();
    const bool split = pass.distance == DistanceStage::split_fp16;
    base_.need_rows(!rounds(pass) && pass.distance != DistanceStage::int8);
    if (split || pass.distance == DistanceStage::fp16) {
      const Fp16Frame& frame = base_.fp16_frame(split);
      fp16_.emplace(queries.count(), queries.dims(), false, workspace_.stream(), nullptr, split);
      fp16_->round(as_floats(queries.working(0, queries.count())), frame);
    } else if (pass.distance == DistanceStage::int8) {
      bytes_.emplace(queries.count(), queries.dims(), base_.use_bytes(), workspace_.stream());
      bytes_->prepare(as_floats(queries.working(0, queries.count())));
    }
  }

  // Their number is there when the stream comes to it.
  void find_failures(const Pass& pass, const PointStore<F>& queries, const F* keys) {
    const FailedQueries failed{failed_.data(), failed_.data() + queries.count(), failures_.as<unsigned>()};
    if (fp16_) {
      certify_fp16_scores(pass, queries, keys, failed);
    } else {
      certify(certificate(pass, queries, keys), queries.count(), failed, workspace_.stream());
    }
  }

  // From the lists, before they are written anew.
  void find_limits(const Pass& pass, const PointStore<F>& queries, const F* keys) {
    if constexpr (std::is_same_v<F, float>) {
      limits_ = DeviceBuffer<F>(as_size(queries.count()), workspace_.stream());
      if (fp16_) {
        bounded_limits(fp16_certificate(pass, queries, keys), limits_.data(), workspace_.stream());
      } else {
        bounded_limits(certificate(pass, queries, keys), queries.count(), limits_.data(), workspace_.stream());
      }
    }
  }

  Fp16Certificate fp16_certificate(const Pass& pass, const PointStore<float>& queries, const float* keys) const {
    return {core::ScoreBounds<float>(work_.metric, queries.dims(), pass.expanded, false),
            core::Fp16Bounds(fp16_stride(queries.dims()), pass.expanded, pass.distance == DistanceStage::split_fp16),
            keys,
            work_.k,
            left_out_.data(),
            fp16_->rows(0, queries.count()),
            base_.fp16_max_norms()};
  }

  void certify_fp16_scores(const Pass& pass, const PointStore<F>& queries, const F* keys, const FailedQueries& failed) {
    if constexpr (std::is_same_v<F, float>)
      certify_fp16(fp16_certificate(pass, queries, keys), failed, workspace_.stream());
  }

  Certificate<F> certificate(const Pass& pass, const PointStore<F>& queries, const F* keys) const {
    const core::ScoreBounds<F> bounds(work_.metric, queries.dims(), pass.expanded, work_.integer_range);
    Certificate<F> made{bounds, keys, work_.k, left_out_.data(), nullptr, nullptr};
    if (pass.expanded || bounds.is_absolute()) {
      made.query_square_norms = queries.square_norms(0);
      made.max_squared_norm = base_.max_squared_norm();
    }
    return made;
  }

  const BruteWork& work_;
  BaseSource<F>& base_;
  Workspace& workspace_;
  const std::function<void()>& on_tile_done_;
  DeviceBuffer<F> left_out_;
  DeviceBuffer<F> limits_;          // of a bounded pass
  std::optional<Fp16Store> fp16_;   // the queries of the pass, where it needs fp16
  std::optional<ByteStore> bytes_;  // the same, as bytes
  DeviceBuffer<unsigned> failed_;   // the queries, and behind the place of the last their number
  std::int64_t failed_count_ = 0;
  std::int64_t most_queries_ = 0;          // of a pass
  PinnedLoan failures_{sizeof(unsigned)};  // where failed_count_ arrives
  std::optional<StreamPair> streams_;
};

}  // namespace kith::KITH_BACKEND::brute
