// What is made of neighbors on a device, or of those within a radius: lists of any length, graphs, reductions.
#include <cmath>

#include "backend/batches.hpp"
#include "core/instantiate.hpp"
#include "core/neighbor_graph.hpp"
#include "core/reduce_lists.hpp"
#include "cuda/graph/symmetrize.hpp"
#include "cuda/host_data/radius_rows.hpp"
#include "cuda/radius/device_rows.hpp"
#include "cuda/radius/radius_hits.hpp"
#include "cuda/search.hpp"

namespace kith::KITH_BACKEND {
namespace {

using host_data::RowGaps;

}  // namespace

template <Element T>
void DeviceSearch<T>::search_radius(const Plan& plan, const core::RadiusQuery<F>& radii, const RadiusLists<F>& out,
                                    SearchReport& report) {
  index_.require_base();
  const MatrixView<F> keys(radii.keys.data(), 1, static_cast<std::int64_t>(radii.keys.size()));
  Link link = link_for(host_data::bytes_of(keys));
  DeviceBuffer<F> device_keys(as_size(rows()), stream_);
  if (keys.cols == rows() && rows() > 1) {
    link.bring(keys, device_keys.data());
  } else {
    radius::fill_radii(radii.keys[0], rows(), device_keys.data(), stream_);
  }
  Workspace workspace(stream_, as_size(plan.workspace_bytes));
  DeviceProgress done(queries_.progress, queries_.stop, rows() * plan.problem.base_rows, false,
                      stream_);  // the search itself waits
  const auto find = [&](auto& found) {
    if (plan.method == Method::tree) {
      radius_by_tree(plan, radii, device_keys.data(), link, workspace, done, found);
      return std::move(found).write(index_.metric());
    }
    with_points(index_.needs_bias(), RowGaps::closed, link, [&](const PointStore<F>& points, auto refuse_faults) {
      const radius::RadiusWork work{.metric = index_.metric(),
                                    .fp16 = plan.distance == DistanceStage::fp16,
                                    .expanded = plan.expanded,
                                    .count_only = radii.count_only,
                                    .exclude_self = radii.exclude_self,
                                    .query_tile = plan.query_block,
                                    .base_tile = plan.base_tile,
                                    .max_pairs = plan.query_block * plan.candidates,
                                    .integer_range = index_.range_with(points, stream_)};
      const auto add = [&](const radius::FoundPart<F>& part) {
        refuse_faults();  // a part has been waited for, and so has the check
        found.add(part);
      };
      report.finalists = index_.with_base(plan, stream_, [&](BaseSource<F>& base) {
        return radius::radius_search<F>(work, points, device_keys.data(), base, workspace,
                                        {add, [&](std::int64_t pairs) { done.add(pairs); }});
      });
    });
    std::move(found).write(index_.metric());
  };
  if (out.memory == Memory::device) {
    radius::DeviceRows<F> found(rows(), plan.problem.base_rows, out, stream_);
    find(found);
  } else {
    host_data::RadiusRows<F> found(rows(), radii.max_hits, out, stream_);
    find(found);
  }
}

template <Element T>
template <class Found>
void DeviceSearch<T>::radius_by_tree(const Plan& plan, const core::RadiusQuery<F>& radii, const F* keys, Link& link,
                                     Workspace& workspace, DeviceProgress& done, Found& found) {
  const PointStore<F>& base = index_.store_for(plan);
  with_checked(false, RowGaps::allowed, link, [&](const PointStore<F>& points) {
    const tree::TreeRadiusWork work{tree_work(plan), radii.count_only, radii.exclude_self, plan.candidates};
    tree::tree_radius<F>(
        work, {points, base, index_.tree().get(plan, base, stream_)}, keys, workspace,
        {[&](const radius::FoundPart<F>& part) { found.add(part); }, [&](std::int64_t pairs) { done.add(pairs); }});
  });
}

template <Element T>
void DeviceSearch<T>::graph(const Plan& plan, Symmetrize symmetrize, const GraphLists<F>& out, SearchReport& report) {
  const std::int64_t k = plan.problem.k - 1;
  if (out.memory == Memory::host)
    return core::make_graph(rows(), k, symmetrize, std::isfinite(plan.max_distance), out,
                            [&](const NeighborsView<F>& lists) { search(plan, lists, report); });
  if (symmetrize == Symmetrize::none) {
    search(plan, out.allocate(rows() * k), report);
    return graph::fill_indptr(rows(), k, out.indptr, stream_);
  }
  DeviceBuffer<std::int64_t> ids(as_size(rows() * k), stream_);
  DeviceBuffer<F> distances(ids.size(), stream_);
  search(plan, {ids.data(), distances.data(), Memory::device}, report);
  graph::symmetrize(ids.data(), distances.data(), rows(), k, symmetrize == Symmetrize::mutual, out, stream_);
}

template <Element T>
void DeviceSearch<T>::reduce(const Plan& plan, const core::Reduction& reduction, const MatrixView<F>& values,
                             const ReducedView<F>& out, SearchReport& report) {
  index_.require_base();
  if (reduction.op == ReduceOp::covariance && index_.store() == nullptr)
    return reduce_streamed(plan, reduction, out, report);
  const std::int64_t count = rows() * core::reduced_columns(reduction);
  const bool brings_values = core::has_values(reduction.op) && !Link::can_borrow(values, RowGaps::allowed);
  Link link = link_for(std::max(brings_values ? host_data::bytes_of(values) : 0, count * 8));
  DeviceBuffer<F> brought(brings_values ? as_size(values.rows * values.cols) : 0, stream_);
  if (brings_values) link.bring(values, brought.data());
  const PointRows<F> rows_of_values = brings_values ? PointRows<F>{brought.data(), values.rows, values.cols}
                                                    : PointRows<F>{values.data, values.rows, values.row_stride};
  host_data::Answer<F> answer(out.values, out.memory, count, link);
  if (backend::reduces_in_search(plan)) {
    const PointStore<F>& base = index_.store_for(plan);
    Workspace workspace(stream_, as_size(plan.workspace_bytes));
    DeviceProgress done = progress(plan, out.memory);
    with_checked(false, RowGaps::allowed, link, [&](const PointStore<F>& points) {
      index_.orders().reduce(plan, points, base, {reduction, rows_of_values, answer.data()}, workspace,
                             [&](std::int64_t queries) { done.add(queries * base.count()); });
    });
  } else {
    reduce_batches(plan, reduction, rows_of_values, answer.data(), report);
  }
  answer.deliver();
}

template <Element T>
template <class Use>
void DeviceSearch<T>::search_batches(const Plan& plan, const NeighborsView<F>& lists, SearchReport& report, Use use) {
  const std::int64_t batch = std::min(plan.problem.queries, rows());
  for (std::int64_t first = 0; first < rows(); first += batch) {
    const std::int64_t count = std::min(batch, rows() - first);
    const ProgressCallback progress = backend::part_of(queries_.progress, first, count, rows(), index_.base().rows);
    DeviceSearch part(index_,
                      {.points = queries_.points.rows_from(first, count), .progress = progress, .stop = queries_.stop},
                      stream_);
    SearchReport of_part;
    of_part.plan = plan;
    part.search(of_part.plan, lists, of_part);
    use(first, count);
    report = std::move(of_part);
  }
}

template <Element T>
void DeviceSearch<T>::reduce_batches(const Plan& plan, const core::Reduction& reduction, const PointRows<F>& values,
                                     F* out, SearchReport& report) {
  const PointStore<F>* const store = reduction.op == ReduceOp::covariance ? index_.store() : nullptr;
  const PointRows<F> base = store == nullptr ? PointRows<F>{} : store->exact(0, store->count()).rows;
  DeviceBuffer<F> distances(as_size(std::min(plan.problem.queries, rows()) * reduction.k), stream_);
  DeviceBuffer<std::int64_t> ids(distances.size(), stream_);
  search_batches(plan, {ids.data(), distances.data(), Memory::device}, report, [&](auto first, auto count) {
    reduce::reduce_lists<F>({distances.data(), ids.data(), count}, base,
                            {reduction, values, out + first * core::reduced_columns(reduction)}, stream_);
  });
}

template <Element T>
void DeviceSearch<T>::reduce_streamed(const Plan& plan, const core::Reduction& reduction, const ReducedView<F>& out,
                                      SearchReport& report) {
  const std::int64_t columns = core::reduced_columns(reduction);
  std::vector<F> reduced(as_size(rows() * columns));
  std::vector<F> distances(as_size(std::min(plan.problem.queries, rows()) * reduction.k));
  std::vector<std::int64_t> ids(distances.size());
  const NeighborsView<F> lists{ids.data(), distances.data()};
  search_batches(plan, lists, report, [&](auto first, auto count) {
    core::reduce_lists(reduction, index_.base(), MatrixView<F>(), lists, 0, count, reduced.data() + first * columns);
  });
  if (out.memory == Memory::host) {
    std::copy(reduced.begin(), reduced.end(), out.values);
  } else {
    const MatrixView<F> values(reduced.data(), 1, rows() * columns);
    link_for(host_data::bytes_of(values)).bring(values, out.values);
  }
}

#define KITH_INSTANTIATE(T)                                                                                       \
  template void DeviceSearch<T>::search_radius(const Plan&, const core::RadiusQuery<DistanceOf<T>>&,              \
                                               const RadiusLists<DistanceOf<T>>&, SearchReport&);                 \
  template void DeviceSearch<T>::graph(const Plan&, Symmetrize, const GraphLists<DistanceOf<T>>&, SearchReport&); \
  template void DeviceSearch<T>::reduce(const Plan&, const core::Reduction&, const MatrixView<DistanceOf<T>>&,    \
                                        const ReducedView<DistanceOf<T>>&, SearchReport&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
