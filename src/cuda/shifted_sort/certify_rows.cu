// certify_rows.cu: a warp takes 32 queries: first each lane finds the orders whose windows have all points around its
// query, then all lanes look at these windows, query after query. Codes next to a window are computed from its points,
// for not all orders keep their codes.
// Cost    codes of some dozens of boxes a query; the exact keys of the windows that have the points around it.
#include "cuda/shifted_sort/certify_rows.hpp"

#include "core/curve_certificate.hpp"
#include "cuda/shifted_sort/curve_search.cuh"

namespace kith::KITH_BACKEND::shifted_sort {
namespace {

// One query and its row of the answer.
template <class F, unsigned kWidth>
struct CertifiedQuery {
  CurvePoint<F, kWidth> point;
  const F* keys;
  const std::int64_t* ids;

  __device__ CertifiedQuery(const CurveSearch<F>& search, const CertifiedRows<F>& rows, std::int64_t i)
      : point(reinterpret_cast<const CurvePoint<F, kWidth>*>(search.queries)[i]),
        keys(rows.keys + static_cast<std::int64_t>(point.id) * search.k),
        ids(rows.ids + static_cast<std::int64_t>(point.id) * search.k) {}

  __device__ KeyOf<F> neighbor(unsigned rank) const {
    return candidate_key<F>(keys[rank], static_cast<unsigned>(ids[rank]));
  }
};

template <class F, unsigned kWidth>
__device__ const CurvePoint<F, kWidth>* points_of(const CurveSearch<F>& search, int shift) {
  return reinterpret_cast<const CurvePoint<F, kWidth>*>(search.orders.points) + shift * search.orders.count;
}

template <class F>
__device__ core::CurveWindow window_of(const CurveSearch<F>& search, int shift, std::int64_t i) {
  return core::curve_window(search.positions[shift * search.count + i], search.window, search.orders.count);
}

// Orders, as bits, whose windows have all points that can be as near as the last neighbor of query i; 0 for none.
template <class F, class Code, unsigned kWidth>
__device__ std::uint32_t orders_around(const CurveSearch<F>& search, const Metric& metric, std::int64_t i,
                                       const CertifiedQuery<F, kWidth>& query) {
  const core::CurveFrame& frame = *search.orders.frame;
  const double reach = core::curve_reach(metric, query.keys[search.k - 1], frame.dims);
  if (!(reach >= 0)) return 0;  // of values that are no numbers
  const auto box = core::reached_box(frame, reach, [&](int c) { return static_cast<double>(query.point.x[c]); });
  return core::covering_orders(frame, search.orders.shifts, box, [&](int shift) {
    const auto* points = points_of<F, kWidth>(search, shift);
    return core::window_ends<Code>(window_of(search, shift, i), search.orders.count, [&](std::int64_t at) {
      const F* x = points[at].x;
      return core::curve_code<Code, 0>(frame, shift, [=](int c) { return static_cast<double>(x[c]); });
    });
  });
}

// Whether a point is no neighbor and does not come after all of them.
template <class F, unsigned kWidth>
__device__ bool is_missing(const CurveSearch<F>& search, const CertifiedQuery<F, kWidth>& query,
                           const CurvePoint<F, kWidth>& point) {
  const auto key = candidate_key<F>(exact_curve_key(search, query.point.x, point.x), static_cast<unsigned>(point.id));
  if (query.neighbor(search.k - 1) < key) return false;  // most are far
  unsigned less = 0;
  for (unsigned rest = search.k; rest > 0;) {
    const unsigned half = rest / 2;
    const bool is_less = query.neighbor(less + half) < key;
    less += is_less ? half + 1 : 0;
    rest = is_less ? rest - half - 1 : half;
  }
  return !(query.neighbor(less) == key);
}

// Must be called by all lanes of the warp, with the same arguments.
template <class F, unsigned kWidth>
__device__ bool has_all_neighbors(const CurveSearch<F>& search, std::int64_t i, std::uint32_t orders,
                                  const CertifiedQuery<F, kWidth>& query) {
  for (; orders != 0; orders &= orders - 1) {
    const int shift = __ffs(static_cast<int>(orders)) - 1;
    const auto* points = points_of<F, kWidth>(search, shift);
    const core::CurveWindow window = window_of(search, shift, i);
    for (std::int64_t start = window.from; start < window.to; start += kWarp) {
      const std::int64_t at = start + lane_id();
      const bool missing = at < window.to && is_missing(search, query, points[at]);
      if (__any_sync(kFullMask, missing ? 1 : 0) != 0) return false;
    }
  }
  return true;
}

template <class F, class Code, unsigned kWidth>
__global__ void __launch_bounds__(kCurveThreads)
    certify_kernel(CurveSearch<F> search, Metric metric, CertifiedRows<F> rows) {
  using Query = CertifiedQuery<F, kWidth>;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kCurveThreads + warp_id() * kWarp;
  const std::int64_t own = first + lane_id();
  const std::uint32_t own_orders =
      own < search.count ? orders_around<F, Code>(search, metric, own, Query(search, rows, own)) : 0;
  for (int lane = 0; lane < static_cast<int>(kWarp) && first + lane < search.count; ++lane) {
    const std::uint32_t orders = __shfl_sync(kFullMask, own_orders, lane);
    const Query query(search, rows, first + lane);
    const bool proven = orders != 0 && has_all_neighbors(search, first + lane, orders, query);
    if (lane_id() == 0) rows.certified[query.point.id] = proven ? 1 : 0;
  }
}

}  // namespace

template <class F>
void certify_rows(const CurveSearch<F>& search, const Metric& metric, const CertifiedRows<F>& rows,
                  cudaStream_t stream) {
  const LaunchShape shape = {.blocks = ceil_div(search.count, kCurveThreads), .threads = kCurveThreads};
  const bool wide = core::code_shape(search.orders.dims).words == 2;
  with_curve_width(search.orders.dims, [&](auto width) {
    // Up to 3 dimensions all codes have one word, from 8 on two.
    constexpr unsigned kWidth = decltype(width)::value;
    if constexpr (kWidth > 4) {
      if (wide) launch("certify", certify_kernel<F, core::Code128, kWidth>, shape, stream, search, metric, rows);
    }
    if constexpr (kWidth < 20) {
      if (!wide) launch("certify", certify_kernel<F, std::uint64_t, kWidth>, shape, stream, search, metric, rows);
    }
  });
}

template void certify_rows(const CurveSearch<float>&, const Metric&, const CertifiedRows<float>&, cudaStream_t);
template void certify_rows(const CurveSearch<double>&, const Metric&, const CertifiedRows<double>&, cudaStream_t);

}  // namespace kith::KITH_BACKEND::shifted_sort
