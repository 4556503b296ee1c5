// search.hpp: one search on a device. Queries, values and answers are brought to the device and back where they are of
// the host; everything else is enqueued on one stream.
#pragma once

#include <optional>

#include "cuda/host_data/host_link.hpp"
#include "cuda/index.hpp"
#include "cuda/points/check_points.hpp"
#include "cuda/progress.hpp"
#include "cuda/runtime/search_memory.hpp"
#include "cuda/tree/tree_search.hpp"

namespace kith::KITH_BACKEND {

template <Element T>
class DeviceSearch final : public backend::BackendSearch<T> {
 public:
  using F = DistanceOf<T>;

  DeviceSearch(const DeviceIndex<T>& index, const backend::Queries<T>& queries);
  // A part of another search's queries, on its stream.
  DeviceSearch(const DeviceIndex<T>& index, const backend::Queries<T>& queries, cudaStream_t stream)
      : index_(index), queries_(queries), stream_(stream) {}
  DeviceSearch(const DeviceSearch&) = delete;
  DeviceSearch& operator=(const DeviceSearch&) = delete;

  plan::DataSamples samples() override;
  void search(const Plan& plan, const NeighborsView<F>& out, SearchReport& report) override;
  void search_batches(const Plan& plan, const core::Batches& batches, std::span<const std::int64_t> listed,
                      std::int64_t k, const NeighborsView<F>& out, SearchReport& report) override;
  void search_radius(const Plan& plan, const core::RadiusQuery<F>& radii, const RadiusLists<F>& out,
                     SearchReport& report) override;
  void graph(const Plan& plan, Symmetrize symmetrize, const GraphLists<F>& out, SearchReport& report) override;
  void reduce(const Plan& plan, const core::Reduction& reduction, const MatrixView<F>& values,
              const ReducedView<F>& out, SearchReport& report) override;

 private:
  using Link = host_data::HostLink;

  double surviving_fraction(const Plan& plan);
  bool first_pass_suffices(const Plan& plan);

  // What the caller gets: lists of k, where it wants them or beside.
  struct Answers {
    std::int64_t k;
    double max_distance;  // neighbors that are farther away are left out
    host_data::Answer<F> distances;
    host_data::Answer<std::int64_t> ids;
    bool has_gaps = false;  // places without a neighbor, whatever the largest distance
  };
  Answers answers_for(const Plan& plan, const NeighborsView<F>& out, Link& link) const;
  void leave_out_beyond(Answers& answers) const;
  // Lists of plan.problem.k as an answer, without the points themselves and those too far away where they are left out.
  template <class Id>
  void put_lists(const F* keys, const Id* found, Answers& answers) const;
  void search_brute(const Plan& plan, const NeighborsView<F>& out, SearchReport& report, Link& link);
  DeviceBuffer<unsigned> bring_wanted(const Plan& plan) const;
  DeviceBuffer<F> bring_limits() const;
  // Lists of groups of equal rows become lists of k rows.
  struct ExpandedLists {
    DeviceBuffer<F> keys;
    DeviceBuffer<unsigned> found;
  };
  ExpandedLists expand_groups(std::int64_t k, const DeviceBuffer<F>& keys, const DeviceBuffer<unsigned>& groups) const;
  void search_triangle(const Plan& plan, const NeighborsView<F>& out, SearchReport& report, Link& link);
  static tree::TreeWork tree_work(const Plan& plan) {
    return {plan.metric, core::range_of_type<T>(), plan.query_block, plan.max_distance, plan.epsilon};
  }
  void search_tree(const Plan& plan, const NeighborsView<F>& out, Link& link);
  void search_shifted_sort(const Plan& plan, const NeighborsView<F>& out, Link& link);
  // All points within radii that are keys on the device, to found.add(part).
  template <class Found>
  void radius_by_tree(const Plan& plan, const core::RadiusQuery<F>& radii, const F* keys, Link& link,
                      Workspace& workspace, DeviceProgress& done, Found& found);

  // Calls use(points, refuse_faults) with queries whose check is enqueued, and for which refuse_faults() waits: the
  // base's own points where they are the base.
  template <class Use>
  void with_points(bool bias, host_data::RowGaps gaps, Link& link, Use use) {
    if (index_.is_base(queries_.points) && index_.store() != nullptr) return use(*index_.store(), [] {});
    const PointStore<F> points = link.bring_points(queries_.points, index_.metric(), bias, gaps);
    const PointCheck<F> check(points, index_.metric(), index_.checks_values(), stream_);
    use(points, [&] { check.refuse_faults("query"); });
  }

  // Calls use(points) once they are checked.
  template <class Use>
  void with_checked(bool bias, host_data::RowGaps gaps, Link& link, Use use) {
    with_points(bias, gaps, link, [&](const PointStore<F>& points, auto refuse_faults) {
      refuse_faults();
      use(points);
    });
  }

  // Searches batch after batch into the same lists, and calls use(first, count) for each.
  template <class Use>
  void search_batches(const Plan& plan, const NeighborsView<F>& lists, SearchReport& report, Use use);
  // A row for each query, from lists.
  void reduce_batches(const Plan& plan, const core::Reduction& reduction, const PointRows<F>& values, F* out,
                      SearchReport& report);
  // The same on the host, for what needs the coordinates of a base that is not on the device.
  void reduce_streamed(const Plan& plan, const core::Reduction& reduction, const ReducedView<F>& out,
                       SearchReport& report);

  // The search proper.
  std::optional<SearchTiming> begin_timing(const Plan& plan) const {
    return index_.times_searches() ? index_.times().begin(plan, stream_) : std::nullopt;
  }
  void end_timing(std::optional<SearchTiming> timing) const { index_.times().end(std::move(timing), stream_); }
  DeviceProgress progress(const Plan& plan, Memory out) const;
  std::int64_t rows() const { return queries_.points.rows; }
  Link link_for(std::int64_t answer_bytes) const;

  const DeviceIndex<T>& index_;
  backend::Queries<T> queries_;
  std::optional<Stream> own_;
  cudaStream_t stream_;
  std::optional<SearchMemory> memory_;  // none where it is another search's
};

}  // namespace kith::KITH_BACKEND
