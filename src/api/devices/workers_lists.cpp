// workers_lists.cpp: what several devices find within a radius, and what is made of neighbors. The workers' threads
// share out the work of the host.
#include <algorithm>

#include "api/devices/workers.hpp"
#include "api/index_state.hpp"
#include "backend/batches.hpp"
#include "core/instantiate.hpp"
#include "core/key.hpp"
#include "core/order.hpp"
#include "core/reduce_lists.hpp"

namespace kith::api {
namespace {

// Whether a point lies within a radius of itself, by its key: inner products with themselves may be too small.
template <Element T>
bool reaches_itself(const MatrixView<T>& points, std::int64_t row, const Metric& metric, DistanceOf<T> radius) {
  using D = DistanceOf<T>;
  const T* const point = points.row(row);
  core::RowFacts facts;
  if (core::has_directions(metric)) facts = core::row_facts(metric.kind, point, points.col_stride, points.cols);
  const double raw = core::raw_sum(core::form_of(metric), metric.p, point, points.col_stride, facts.mean, point,
                                   points.col_stride, facts.mean, points.cols);
  const auto key = static_cast<D>(core::finish(metric, raw, facts, facts, points.cols));
  return key <= core::key_of(metric, radius);
}

// Those of all stripes for queries first … last − 1, in the order of neighbors.
template <class D>
void merge_hits(const std::vector<RadiusNeighbors<D>>& parts, const Metric& metric, std::int64_t first,
                std::int64_t last, const std::int64_t* offsets, const NeighborsView<D>& out) {
  std::vector<core::Hit<D>> hits;
  for (std::int64_t query = first; query < last; ++query) {
    hits.clear();
    for (const RadiusNeighbors<D>& part : parts) {
      if (part.offsets.empty()) continue;
      const auto middle = static_cast<std::ptrdiff_t>(hits.size());
      const auto ids = part.ids_of(query);
      const auto distances = part.distances_of(query);
      for (std::size_t i = 0; i < ids.size(); ++i) hits.push_back({core::key_of(metric, distances[i]), ids[i]});
      std::inplace_merge(hits.begin(), hits.begin() + middle, hits.end());
    }
    std::int64_t to = offsets[query];
    for (const core::Hit<D>& hit : hits) {
      out.ids[to] = hit.id;
      out.distances[to++] = core::returned_value(metric, hit.key);
    }
  }
}

}  // namespace

// Of queries that are the base, the points of the stripe find themselves.
template <Element T>
void Workers<T>::leave_out_self(const Stripe& stripe, std::span<const D> radii, RadiusNeighbors<D>& found) const {
  const bool counts = found.ids.empty();
  std::int64_t begin = 0;  // of a query, as it was found
  std::int64_t to = 0;
  for (std::int64_t query = 0; query < found.queries; ++query) {
    std::int64_t& offset = found.offsets[static_cast<std::size_t>(query) + 1];
    const std::int64_t end = offset;
    const bool is_own = query >= stripe.first && query < stripe.first + stripe.rows;
    if (counts) {
      const D radius = radii[radii.size() == 1 ? 0 : static_cast<std::size_t>(query)];
      to += end - begin - (is_own && reaches_itself(base_, query, options_.metric, radius) ? 1 : 0);
    } else {
      for (std::int64_t i = begin; i < end; ++i) {
        if (found.ids[static_cast<std::size_t>(i)] == query) continue;
        found.ids[static_cast<std::size_t>(to)] = found.ids[static_cast<std::size_t>(i)];
        found.distances[static_cast<std::size_t>(to++)] = found.distances[static_cast<std::size_t>(i)];
      }
    }
    begin = end;
    offset = to;
  }
}

template <Element T>
void Workers<T>::search_radius(const Asked<T>& asked, std::span<const D> radii, const RadiusLists<D>& out,
                               SearchReport& report) {
  const RadiusOutput output = out.allocate ? RadiusOutput::neighbors : RadiusOutput::count_only;
  const std::int64_t queries = asked.queries.rows;
  std::vector<RadiusNeighbors<D>> parts(workers_.size());
  with_rows_named(asked.exclude_self ? MatrixView<T>() : asked.queries, [&] {
    WorkerCall call(workers_, options_.progress, queries * base_.rows);
    call.wait(call.start([&](std::size_t i) {
      take_part(call, i, {0, queries}, [&](const Index<T>& index) {
        const Stripe stripe = workers_[i].stripe;
        parts[i] = index.search_radius(asked.queries, radii, output);
        for (std::int64_t& id : parts[i].ids) id += stripe.first;
        if (asked.exclude_self) leave_out_self(stripe, radii, parts[i]);
      });
    }));
  });
  std::vector<SearchReport> reports;
  out.offsets[0] = 0;
  for (std::int64_t query = 0; query < queries; ++query) {
    out.offsets[query + 1] = out.offsets[query];
    for (const RadiusNeighbors<D>& part : parts)
      if (!part.offsets.empty()) out.offsets[query + 1] += part.count_of(query);
  }
  for (RadiusNeighbors<D>& part : parts) reports.push_back(std::move(part.report));
  if (out.allocate) {
    const NeighborsView<D> to = out.allocate(out.offsets[queries]);
    share_out(queries, [&](std::int64_t first, std::int64_t last) {
      merge_hits(parts, options_.metric, first, last, out.offsets, to);
    });
  }
  join({base_.rows, queries, base_.cols, 0, dtype_of<T>(), false}, reports, report);
}

template <Element T>
void Workers<T>::reduce(const MatrixView<T>& queries, const core::Reduction& reduction, const MatrixView<D>& values,
                        std::int64_t batch, D* out, SearchReport& report) {
  const std::int64_t columns = core::reduced_columns(reduction);
  std::vector<std::int64_t> ids;
  std::vector<D> distances;
  with_rows_named(queries, [&] {
    for (std::int64_t first = 0; first < queries.rows; first += batch) {
      const std::int64_t count = std::min(batch, queries.rows - first);
      const ProgressCallback progress = backend::part_of(options_.progress, first, count, queries.rows, base_.rows);
      const NeighborsView<D> lists = growing(ids, distances)(count * reduction.k);
      SearchReport of_batch;
      search({queries.rows_from(first, count)}, reduction.k, lists, nullptr, progress, of_batch);
      report = std::move(of_batch);
      share_out(count, [&](std::int64_t begin, std::int64_t end) {
        core::reduce_lists<T>(reduction, base_, values, lists, begin, end, out + first * columns);
      });
    }
  });
  report.plan.problem.queries = queries.rows;
}

#define KITH_INSTANTIATE(T)                                                                                           \
  template void Workers<T>::leave_out_self(const Stripe&, std::span<const D>, RadiusNeighbors<D>&) const;             \
  template void Workers<T>::search_radius(const Asked<T>&, std::span<const D>, const RadiusLists<D>&, SearchReport&); \
  template void Workers<T>::reduce(const MatrixView<T>&, const core::Reduction&, const MatrixView<D>&, std::int64_t,  \
                                   D*, SearchReport&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::api
