// distance_matrix.cpp: one task per query and chunk of the base, with exact_sums().
#include "cpu/distance_matrix.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/instantiate.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"

namespace kith::cpu {

template <Element T>
void distance_matrix(const PreparedRows<T>& base, const PreparedRows<T>& queries, int threads,
                     const ProgressCallback& callback, DistanceOf<T>* out) {
  using F = DistanceOf<T>;
  constexpr std::int64_t kChunk = 1024;
  const Metric& metric = base.metric;
  const std::int64_t rows = base.view.rows;
  const std::int64_t dims = base.view.cols;
  const std::int64_t chunks = (rows + kChunk - 1) / kChunk;
  ProgressMeter progress(callback, queries.view.rows * rows);
  // Queries run fastest, so that all workers read the same chunk of the base from the cache.
  parallel_for(threads, chunks * queries.view.rows, [&](std::int64_t index, int worker) {
    const std::int64_t q = index % queries.view.rows;
    const std::int64_t first = index / queries.view.rows * kChunk;
    const std::int64_t count = std::min(kChunk, rows - first);
    std::vector<double> query(static_cast<std::size_t>(dims));
    std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
    std::vector<double> raw(static_cast<std::size_t>(count));
    exact_query(queries, q, query.data());
    std::iota(ids.begin(), ids.end(), first);
    exact_sums(core::form_of(metric), metric.p, query.data(), base.exact_base(), ids.data(), count, raw.data());
    for (std::int64_t j = 0; j < count; ++j) {
      const double value =
          core::finish(metric, raw[static_cast<std::size_t>(j)], queries.facts(q), base.facts(first + j), dims);
      out[q * rows + first + j] = core::returned_value(metric, static_cast<F>(value));
    }
    progress.add(count, worker);
  });
  progress.finish();
}

#define KITH_INSTANTIATE(T)                                                                                   \
  template void distance_matrix(const PreparedRows<T>&, const PreparedRows<T>&, int, const ProgressCallback&, \
                                DistanceOf<T>*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
