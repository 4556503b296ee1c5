#include "cpu/search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "backend/batches.hpp"
#include "core/exclude_self.hpp"
#include "core/instantiate.hpp"
#include "core/max_distance.hpp"
#include "core/neighbor_graph.hpp"
#include "core/reduce_lists.hpp"
#include "cpu/brute/brute_batches.hpp"
#include "cpu/brute/brute_search.hpp"
#include "cpu/brute/product_samples.hpp"
#include "cpu/parallel.hpp"
#include "cpu/radius/radius_search.hpp"
#include "cpu/tree/tree_batches.hpp"
#include "cpu/tree/tree_radius.hpp"
#include "cpu/tree/tree_search.hpp"
#include "plan/cpu_threads.hpp"

namespace kith::cpu {
namespace {

// Calls work(first, last) for so many rows, some at a time.
template <class Work>
void for_rows(int threads, std::int64_t rows, Work work) {
  constexpr std::int64_t kRows = 256;
  parallel_for(threads, (rows + kRows - 1) / kRows,
               [&](std::int64_t chunk, int) { work(chunk * kRows, std::min(rows, (chunk + 1) * kRows)); });
}

// Lists of neighbors in memory of their own.
template <class D>
struct OwnedLists {
  explicit OwnedLists(std::int64_t count) : ids(static_cast<std::size_t>(count)), distances(ids.size()) {}
  NeighborsView<D> view() { return {ids.data(), distances.data()}; }

  std::vector<std::int64_t> ids;
  std::vector<D> distances;
};

}  // namespace

// The base is checked before the queries.
template <Element T>
plan::DataSamples CpuSearch<T>::samples() {
  plan::DataSamples samples;
  samples.surviving_fractions = [this](const Plan& plan) {
    base_rows(false);  // is refused before the queries
    return index_.surviving_fractions(plan, query_rows(false), preparing_);
  };
  samples.products_are_sharp = [this] {
    const PreparedRows<T>& base = base_rows(true);
    return expansion_is_sharp(base, query_rows(true));
  };
  samples.bf16_candidates = [this] {
    base_rows(true);  // is refused before the queries
    return index_.bf16_candidates(query_rows(true), preparing_);
  };
  return samples;
}

template <Element T>
void CpuSearch<T>::search(const Plan& plan, const NeighborsView<D>& out, SearchReport& report) {
  find_others(plan, out, report);
  if (std::isinf(plan.max_distance) || plan.method == Method::tree) return;  // which begins with it
  const D largest = core::largest_within<D>(plan.max_distance);
  const std::int64_t k = plan.problem.k - (queries_.exclude_self ? 1 : 0);
  for_rows(plan.threads, plan.problem.queries,
           [&](std::int64_t first, std::int64_t last) { core::leave_out_beyond(out, first * k, last * k, largest); });
}

template <Element T>
void CpuSearch<T>::find_others(const Plan& plan, const NeighborsView<D>& out, SearchReport& report) {
  const bool norms = plan::needs_norms(plan);
  base_rows(norms);  // is refused before the queries
  const PreparedRows<T>& queries = query_rows(norms);
  if (!queries_.exclude_self) return find(plan, queries, queries_.progress, out, report);
  if (plan.method == Method::tree)
    return find_by_tree(plan, queries, queries_.progress, out, report);  // without lists of k + 1
  OwnedLists<D> found(plan.problem.queries * plan.problem.k);
  NeighborsView<D> longer = found.view();
  longer.certified = out.certified;  // lists of k others are exact where those of k + 1 are
  find(plan, queries, queries_.progress, longer, report);
  constexpr double kCopySeconds = 3e-9;
  const double copied = static_cast<double>(plan.problem.queries) * static_cast<double>(plan.problem.k);
  const int threads = plan::threads_worth(copied * kCopySeconds, plan.threads);
  for_rows(threads, plan.problem.queries, [&](std::int64_t first, std::int64_t last) {
    core::exclude_self(found.view(), plan.problem.k - 1, first, last, out);
  });
}

template <Element T>
void CpuSearch<T>::find(const Plan& plan, const PreparedRows<T>& queries, const ProgressCallback& progress,
                        const NeighborsView<D>& out, SearchReport& report) const {
  const PreparedRows<T>& base = base_rows(plan::needs_norms(plan));
  if (plan.method == Method::triangle) {
    find_by_triangle(plan, queries, progress, out, report);
  } else if (plan.method == Method::tree) {
    find_by_tree(plan, queries, progress, out, report);
  } else if (plan.method == Method::shifted_sort) {
    report.finalists = index_.orders().search(base, queries, plan, progress, out);
  } else {
    report.finalists = brute_search(base, queries, plan, progress, out.ids, out.distances);
    index_.count_brute_force(plan.seconds);
  }
}

template <Element T>
void CpuSearch<T>::find_by_tree(const Plan& plan, const PreparedRows<T>& queries, const ProgressCallback& progress,
                                const NeighborsView<D>& out, SearchReport& report) const {
  report.finalists = tree_search(base_rows(false), index_.tree(plan, preparing_), index_.tree_pool(), queries,
                                 queries_.exclude_self, queries_.limits, plan, progress, out.ids, out.distances);
}

template <Element T>
void CpuSearch<T>::find_by_triangle(const Plan& plan, const PreparedRows<T>& queries, const ProgressCallback& progress,
                                    const NeighborsView<D>& out, SearchReport& report) const {
  bool made = false;
  const TriangleBase<T>& clusters = index_.clusters(plan, preparing_, &made);
  TriangleStatistics statistics;
  if (made) statistics.steps = {{"landmarks", clusters.times.landmarks}, {"clusters", clusters.times.clusters}};
  report.finalists = triangle_search(base_rows(false), clusters, queries, plan, progress, out.ids, out.distances,
                                     plan.statistics ? &statistics : nullptr);
  if (plan.statistics) report.triangle = std::move(statistics);
}

template <Element T>
void CpuSearch<T>::search_batches(const Plan& plan, const core::Batches& batches, std::span<const std::int64_t> listed,
                                  std::int64_t k, const NeighborsView<D>& out, SearchReport& report) {
  const bool norms = plan::needs_norms(plan);
  const PreparedRows<T>& base = base_rows(norms);
  const PreparedRows<T>& queries = query_rows(norms);
  const ListedBatches asked{batches, listed, k, queries_.exclude_self};
  report.finalists = plan.method == Method::tree ? tree_batches(base, queries, asked, plan, queries_.progress, out)
                                                 : brute_batches(base, queries, asked, plan, queries_.progress, out);
}

template <Element T>
void CpuSearch<T>::search_radius(const Plan& plan, const core::RadiusQuery<D>& radii, const RadiusLists<D>& out,
                                 SearchReport& report) {
  const bool norms = plan::needs_norms(plan);
  const PreparedRows<T>& base = base_rows(norms);
  if (plan.method == Method::tree) {
    report.finalists =
        tree_radius(base, index_.tree(plan, preparing_), query_rows(norms), plan, radii, queries_.progress, out);
    return;
  }
  index_.count_brute_force(plan.seconds);
  report.finalists = radius_search(base, query_rows(norms), plan, radii, queries_.progress, out);
}

template <Element T>
void CpuSearch<T>::graph(const Plan& plan, Symmetrize symmetrize, const GraphLists<D>& out, SearchReport& report) {
  core::make_graph(plan.problem.queries, plan.problem.k - 1, symmetrize, std::isfinite(plan.max_distance), out,
                   [&](const NeighborsView<D>& lists) { search(plan, lists, report); });
}

template <Element T>
void CpuSearch<T>::reduce(const Plan& plan, const core::Reduction& reduction, const MatrixView<D>& values,
                          const ReducedView<D>& out, SearchReport& report) {
  const bool norms = plan::needs_norms(plan);
  const PreparedRows<T>& base = base_rows(norms);
  const PreparedRows<T>& queries = query_rows(norms);
  const std::int64_t all = queries_.points.rows;
  const std::int64_t batch = plan.problem.queries;
  OwnedLists<D> lists(batch * reduction.k);
  for (std::int64_t first = 0; first < all; first += batch) {
    const std::int64_t count = std::min(batch, all - first);
    const ProgressCallback progress = backend::part_of(queries_.progress, first, count, all, base.view.rows);
    find(plan, queries.rows_from(first, count), progress, lists.view(), report);
    D* rows = out.values + first * core::reduced_columns(reduction);
    for_rows(plan.threads, count, [&](std::int64_t from, std::int64_t to) {
      core::reduce_lists(reduction, base.view, values, lists.view(), from, to, rows);
    });
  }
}

#define KITH_INSTANTIATE(T) template class CpuSearch<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
