// index.hpp: points searched on a device. Those that lie there are used where they lie if kernels can read them so,
// else copied once; those of the host are copied there, or, where the budget has no room for them, streamed through it
// by every search. What belongs to the index belongs to a stream of its own: the caller's may be gone before.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>

#include "backend/contract.hpp"
#include "core/score_bounds.hpp"
#include "cuda/brute/brute_work.hpp"
#include "cuda/host_data/host_link.hpp"
#include "cuda/host_data/streamed_base.hpp"
#include "cuda/points/duplicate_rows.hpp"
#include "cuda/points/integer_range.hpp"
#include "cuda/points/narrow_base.hpp"
#include "cuda/search_times.hpp"
#include "cuda/shifted_sort/cached_orders.hpp"
#include "cuda/tree/cached_tree.hpp"
#include "cuda/triangle/cached_clusters.hpp"

namespace kith::KITH_BACKEND {

template <Element T>
class DeviceIndex final : public backend::BackendIndex<T> {
 public:
  using F = DistanceOf<T>;

  explicit DeviceIndex(const backend::IndexRequest<T>& request)
      : request_(request), is_of_file_(request.parts != nullptr) {
    if (is_of_file_) given_ = *request.parts;
  }
  DeviceIndex(const DeviceIndex&) = delete;
  DeviceIndex& operator=(const DeviceIndex&) = delete;
  ~DeviceIndex() override;

  plan::IndexFacts facts(const Problem& problem) const override;
  // Points of a file are brought by the first search, so that the index is there before a page of the file is read.
  void prepare(const Plan* plan) override;
  std::unique_ptr<backend::BackendSearch<T>> begin(const backend::Queries<T>& queries) const override;
  backend::Parts parts() const override { return given_; }
  bool leaves_out(const Plan& plan) const override;
  bool copies_rows() const override;
  std::shared_ptr<const backend::RowCopies<T>> copy_rows(std::span<const std::int64_t> rows) const override;

  // What follows is for its searches.

  // The points are checked and ready when this returns.
  void require_base() const;
  // An index that serves one search waits for the stream before it goes.
  void note_stream(cudaStream_t stream) const {
    if (serves_once_) waits_for_ = stream;
  }
  const Metric& metric() const { return request_.options.metric; }
  bool checks_values() const;
  bool needs_bias() const { return core::form_of(metric()) == core::Form::squared; }
  const MatrixView<T>& base() const { return request_.base; }
  bool is_base(const MatrixView<T>& queries) const;
  // Whether the points are on the device; else they are streamed.
  bool is_resident() const { return request_.facts.resident; }
  // The points in working precision, of which those that are kept as they are stored are widened now. Null where they
  // are streamed, or where the budget has no room for both.
  const PointStore<F>* store() const;
  // Points that are kept as they are stored, some of them widened; nothing where they are there in working precision.
  std::optional<PointStore<F>> some_points(cudaStream_t stream) const;
  // The groups of equal rows, for plans that search each of them once.
  const RowGroups& groups() const { return distinct_->groups; }
  // Looks for such groups, unless that was done before, and returns their number: 0 where most rows differ.
  std::int64_t find_distinct_rows() const;
  // For methods that keep the points on the device: Error(out_of_memory) where store() is null.
  const PointStore<F>& store_for(const Plan& plan) const;
  // The stream on which queries are checked beside their search.
  const Stream& stream() const { return stream_; }
  brute::PassHistory& history() const { return history_; }
  // Of an index that serves one search, or whose base is streamed, none is timed.
  bool times_searches() const { return kTimesSearches && !serves_once_ && is_resident(); }
  SearchTimes& times() const { return times_; }
  triangle::CachedClusters<F>& clusters() const { return clusters_; }
  shifted_sort::CachedOrders<F>& orders() const { return orders_; }
  tree::CachedTree<F>& tree() const { return tree_; }

  // As core::ScoreBounds has it, of the points and of these queries.
  double range_with(const PointStore<F>& queries, cudaStream_t stream) const {
    if (sizeof(T) == 1 || &queries == made_store()) return integer_range_;
    return common_range(integer_range_, queries.exact(0, queries.count()).rows, queries.dims(), stream);
  }

  // Returns use(base), of what the plan searches: a base that is there, or its distinct rows, or tiles that come one
  // after the other.
  template <class Use>
  auto with_base(const Plan& plan, cudaStream_t stream, Use use) const {
    if (plan.distinct_rows > 0) {
      ResidentBase<F> distinct(distinct_->points, distinct_->fp16, &distinct_->bytes);
      return use(distinct);
    }
    if constexpr (kIsNarrow<T>) {
      if (narrow_ != nullptr) {
        NarrowBase<T> narrow(*narrow_, made_store(), metric(), needs_bias(), stream);
        return use(narrow);
      }
    }
    if (store_) {
      ResidentBase<F> resident(*store_, fp16_, &bytes_);
      return use(resident);
    }
    host_data::StreamedBase<T> streamed(base(), metric(), needs_bias(), plan.base_tile, stream);
    return use(streamed);
  }

  // The fraction of distances that method triangle leaves, as a search for so many neighbors found it.
  std::optional<double> sampled(std::int64_t k) const {
    const std::lock_guard<std::mutex> lock(making_);
    const auto found = sampled_.find(k);
    return found == sampled_.end() ? std::nullopt : std::optional(found->second);
  }
  void note_sampled(std::int64_t k, double fraction) const {
    constexpr std::size_t kMost = 64;
    const std::lock_guard<std::mutex> lock(making_);
    if (sampled_.size() >= kMost) sampled_.clear();
    sampled_[k] = fraction;
  }

 private:
  // Beside the whole base, which other methods search and whose coordinates are asked for by id.
  struct DistinctRows {
    DistinctRows(RowGroups groups_, PointStore<F> points_) : groups(std::move(groups_)), points(std::move(points_)) {}

    RowGroups groups;
    PointStore<F> points;  // the first row of each group
    CachedFp16 fp16;
    CachedBytes bytes{byte_type_of<T>()};
  };

  // No points where T is none of the types that may stay as they are stored.
  template <class P>
  struct NoNarrow {};
  using Narrow = std::conditional_t<kIsNarrow<T>, NarrowPoints<T>, NoNarrow<T>>;

  void make_base() const;
  bool keep_narrow(host_data::HostLink& link) const;
  void check_base(const PointStore<F>& points, std::int64_t first) const;
  // What store() has made.
  const PointStore<F>* made_store() const {
    const std::lock_guard<std::mutex> lock(widening_);
    return store_ ? &*store_ : nullptr;
  }
  bool may_have_groups(Workspace& workspace) const;
  std::unique_ptr<DistinctRows> make_distinct_rows() const;

  backend::IndexRequest<T> request_;
  bool is_of_file_;          // whose points were checked when it was written
  backend::Parts given_;     // what the file has for other backends
  bool serves_once_ = true;  // unless it is prepared
  mutable std::optional<cudaStream_t> waits_for_;
  std::optional<KeepSpares> keeps_;  // where more than one search is to come
  Stream stream_;
  mutable std::mutex making_;
  mutable bool made_ = false;
  mutable double integer_range_ = core::range_of_type<T>();
  mutable std::mutex widening_;
  mutable std::optional<PointStore<F>> store_;
  mutable std::unique_ptr<Narrow> narrow_;  // null where the points are in working precision from the start
  mutable CachedFp16 fp16_;
  mutable CachedBytes bytes_{byte_type_of<T>()};
  mutable bool looked_for_duplicates_ = false;
  mutable std::unique_ptr<DistinctRows> distinct_;
  mutable brute::PassHistory history_;
  mutable SearchTimes times_;
  mutable std::map<std::int64_t, double> sampled_;  // by k
  mutable triangle::CachedClusters<F> clusters_;
  mutable shifted_sort::CachedOrders<F> orders_;
  mutable tree::CachedTree<F> tree_;
};

}  // namespace kith::KITH_BACKEND
