// curve_search.cuh: approximate neighbors of queries from the orders of a base (Li et al., 3.2 and 3.3).
// Idea    a warp takes a query through all orders: `window` points on either side of its position, from the nearest
//         outwards, so that the k-th key falls fast and one comparison dismisses most of the later candidates. Lists
//         never leave shared memory. Queries come in the order of the curve: warps that run at the same time read the
//         same candidates, from the cache. At the end the k best get exact keys (core/key.hpp) from the true
//         coordinates, are sorted by (key, id), and go to a sink.
// Cost    2 · window candidates an order, of which one comparison dismisses most; about six merges of 32 newcomers.
// Limits  k ≤ 1024, as far as the lists of a block fit into shared memory; at most 32 shifts; forms squared, absolute
//         and maximum.
#pragma once

#include "core/key.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/shifted_sort/curve_point.cuh"
#include "cuda/shifted_sort/curve_search.hpp"
#include "cuda/shifted_sort/near_list.cuh"

namespace kith::KITH_BACKEND::shifted_sort {

// The key that candidates are ranked by: the bits of a sum, which is never negative, and the id.
template <class F>
__device__ __forceinline__ KeyOf<F> candidate_key(F sum, unsigned id) {
  return make_key(ValueTraits<F>::bits(sum), id);
}

template <class F>
__device__ __forceinline__ F candidate_value(const KeyOf<F>& key) {
  return ValueTraits<F>::value(order_of(key));
}

// The sum that candidates are ranked by, in working precision, added from the first coordinate on.
template <class F, unsigned kDims>
__device__ __forceinline__ F curve_score(core::Form form, const F (&x)[kDims], const F (&y)[kDims]) {
  F sum = 0;
  if (form == core::Form::squared) {
    KITH_UNROLL
    for (unsigned c = 0; c < kDims; ++c) sum += (x[c] - y[c]) * (x[c] - y[c]);
  } else if (form == core::Form::absolute) {
    KITH_UNROLL
    for (unsigned c = 0; c < kDims; ++c) sum += fabs(x[c] - y[c]);
  } else {
    KITH_UNROLL
    for (unsigned c = 0; c < kDims; ++c) sum = fabs(x[c] - y[c]) > sum ? fabs(x[c] - y[c]) : sum;
  }
  return sum;
}

// The exact key of core/key.hpp, bit for bit, of a query and a base point's coordinates.
template <class F, unsigned kDims>
__device__ F exact_curve_key(const CurveSearch<F>& search, const F (&x)[kDims], const F* row) {
  const auto dims = static_cast<unsigned>(search.orders.dims);
  double lanes[core::kLanes] = {};
  double largest = 0;
  KITH_UNROLL
  for (unsigned c = 0; c < kDims; ++c) {
    if (c >= dims) continue;
    const double gap = fabs(static_cast<double>(x[c]) - static_cast<double>(row[c]));
    lanes[c % core::kLanes] += search.form == core::Form::squared ? gap * gap : gap;
    largest = gap > largest ? gap : largest;
  }
  const double raw = search.form == core::Form::maximum ? largest : core::combine_lanes(lanes);
  return static_cast<F>(search.root ? sqrt(raw) : raw);
}

template <class F, unsigned kDims>
__device__ F exact_curve_key(const CurveSearch<F>& search, const F (&x)[kDims], unsigned id) {
  return exact_curve_key(search, x, search.base.data + static_cast<std::int64_t>(id) * search.base.stride);
}

// Sorts a list that is nearly sorted, by odd-even exchanges until none is needed. Must be called by all lanes of the
// warp.
template <class K>
__device__ void sort_nearly_sorted(K* list, unsigned k) {
  bool again = true;
  while (again) {
    bool exchanged = false;
    for (unsigned odd = 0; odd < 2; ++odd) {
      for (unsigned i = 2 * lane_id() + odd; i + 1 < k; i += 2 * kWarp) {
        const K a = list[i];
        const K b = list[i + 1];
        if (!(b < a)) continue;
        list[i] = b;
        list[i + 1] = a;
        exchanged = true;
      }
      __syncwarp();
    }
    again = __any_sync(kFullMask, exchanged ? 1 : 0) != 0;
  }
}

constexpr unsigned kCurveThreads = 128;
constexpr unsigned kCurveWarps = kCurveThreads / kWarp;

// All lanes of the warp call sink(query, keys) with the k sorted keys of a row of the answer, in shared memory;
// candidate_value() and id_of() read them.
template <class F, unsigned kWidth, class Sink>
__global__ void __launch_bounds__(kCurveThreads) curve_search_kernel(CurveSearch<F> search, Sink sink) {
  using Point = CurvePoint<F, kWidth>;
  using K = KeyOf<F>;
  constexpr unsigned kSide = kWarp / 2;  // lanes on either side of the query
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kCurveWarps + warp_id();
  if (i >= search.count) return;
  const Point query = reinterpret_cast<const Point*>(search.queries)[i];
  NearList<K> list(dynamic_shared<K>() + warp_id() * NearList<K>::capacity(search.k), search.k);
  const bool right = lane_id() >= kSide;
  // Lane j loads the position in order j, so that the warp waits once for all of them.
  const bool has_order = lane_id() < static_cast<unsigned>(search.orders.shifts);
  const unsigned positions = has_order ? search.positions[lane_id() * search.count + i] : 0;
  for (int shift = 0; shift < search.orders.shifts; ++shift) {
    const Point* points = reinterpret_cast<const Point*>(search.orders.points) + shift * search.orders.count;
    const std::int64_t position = __shfl_sync(kFullMask, positions, shift);
    for (unsigned start = 0; start < search.window; start += kSide) {
      const unsigned away = start + (right ? lane_id() - kSide : kSide - 1 - lane_id());
      const std::int64_t at = right ? position + away : position - 1 - away;
      const bool valid = away < search.window && at >= 0 && at < search.orders.count;
      K key = last_key<K>();
      if (valid) {
        const Point point = points[at];
        key = candidate_key<F>(curve_score(search.form, query.x, point.x), static_cast<unsigned>(point.id));
      }
      list.offer(key, valid, shift > 0);
    }
    list.merge_pending();
  }
  K* keys = list.keys();
  for (unsigned r = lane_id(); r < search.k; r += kWarp) {
    const unsigned id = id_of(keys[r]);
    keys[r] = candidate_key<F>(exact_curve_key(search, query.x, id), id);
  }
  __syncwarp();
  sort_nearly_sorted(keys, search.k);
  sink(static_cast<std::int64_t>(query.id), keys);
}

template <class F, class Sink>
void curve_search(const CurveSearch<F>& search, const Sink& sink, cudaStream_t stream) {
  const LaunchShape shape = {.blocks = ceil_div(search.count, kCurveWarps),
                             .threads = kCurveThreads,
                             .shared_bytes = sizeof(KeyOf<F>) * kCurveWarps * NearList<KeyOf<F>>::capacity(search.k)};
  with_curve_width(search.orders.dims, [&](auto width) {
    launch("curve_search", curve_search_kernel<F, decltype(width)::value, Sink>, shape, stream, search, sink);
  });
}

}  // namespace kith::KITH_BACKEND::shifted_sort
