// shifted_sort_search.cpp: chunks of queries, sorted along the curve, pass through all orders of the base.
#include "cpu/shifted_sort/shifted_sort_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/instantiate.hpp"
#include "core/key.hpp"
#include "core/order.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "cpu/shifted_sort/near_list.hpp"
#include "cpu/shifted_sort/row_certificate.hpp"

namespace kith::cpu {
namespace {

// Queries that a thread sorts along the curve and searches at a time, each with the candidates of the one before it in
// the cache. Larger chunks pass over the orders of the base less often.
constexpr std::int64_t kCurveChunk = std::int64_t{1} << 18;

// How many codes are less than `code`, by galloping search from the position `near`.
template <class Code>
std::int64_t find_position(const std::vector<Code>& codes, std::int64_t near, const Code& code) {
  const auto count = static_cast<std::int64_t>(codes.size());
  const Code* at = codes.data();
  std::int64_t low = near;
  std::int64_t high = near;
  for (std::int64_t step = 8; low > 0 && !(at[low - 1] < code); step *= 4) {
    high = low - 1;
    low = std::max<std::int64_t>(0, low - step);
  }
  for (std::int64_t step = 8; high < count && at[high] < code; step *= 4) {
    low = high + 1;
    high = std::min(count, high + step);
  }
  return std::lower_bound(at + low, at + high, code) - at;
}

// Turns NaN into infinity, which comes last.
template <class F>
F nan_last(F sum) {
  return sum <= std::numeric_limits<F>::max() ? sum : std::numeric_limits<F>::infinity();
}

// Sums of one query and consecutive points, added from the first coordinate on, as the device does.
template <class F>
void curve_scores(core::Form form, const F* query, const F* points, std::int64_t stride, std::int64_t dims,
                  std::int64_t count, F* sums) {
  if (form == core::Form::squared && dims == 3) {
    const F* y[] = {points, points + stride, points + 2 * stride};
    const F x[] = {query[0], query[1], query[2]};
    for (std::int64_t i = 0; i < count; ++i) {
      const F gaps[] = {x[0] - y[0][i], x[1] - y[1][i], x[2] - y[2][i]};
      sums[i] = nan_last(gaps[0] * gaps[0] + gaps[1] * gaps[1] + gaps[2] * gaps[2]);
    }
    return;
  }
  std::fill(sums, sums + count, F{0});
  for (std::int64_t c = 0; c < dims; ++c) {
    const F x = query[c];
    const F* y = points + c * stride;
    if (form == core::Form::squared) {
      for (std::int64_t i = 0; i < count; ++i) sums[i] += (x - y[i]) * (x - y[i]);
    } else if (form == core::Form::absolute) {
      for (std::int64_t i = 0; i < count; ++i) sums[i] += std::abs(x - y[i]);
    } else {
      for (std::int64_t i = 0; i < count; ++i) sums[i] = std::max(sums[i], std::abs(x - y[i]));
    }
  }
  for (std::int64_t i = 0; i < count; ++i) sums[i] = nan_last(sums[i]);
}

// core::raw_sum() for few coordinates and forms that need no means.
template <class T>
double short_raw_sum(core::Form form, const T* x, std::int64_t x_stride, const T* y, std::int64_t y_stride,
                     std::int64_t dims) {
  double lanes[core::kLanes] = {};
  double largest = 0;
  for (std::int64_t c = 0; c < dims; ++c) {
    const double gap = std::abs(core::coordinate(x, x_stride, c) - core::coordinate(y, y_stride, c));
    lanes[c % core::kLanes] += form == core::Form::squared ? gap * gap : gap;
    largest = std::max(largest, gap);
  }
  return form == core::Form::maximum ? largest : core::combine_lanes(lanes);
}

// The search of one thread, with its buffers.
template <Element T, class Code>
class CurveWorker {
  using F = DistanceOf<T>;

 public:
  CurveWorker(const PreparedRows<T>& base, const core::CurveFrame& frame,
              const std::vector<CurveOrder<F, Code>>& orders, const PreparedRows<T>& queries, const Plan& plan)
      : base_(base),
        frame_(frame),
        orders_(orders),
        queries_(queries),
        plan_(plan),
        form_(core::form_of(plan.metric)),
        root_(core::effective_kind(plan.metric) == MetricKind::euclidean),
        list_(plan.problem.k, 2 * plan.shifted_sort.window),
        query_(static_cast<std::size_t>(base.view.cols)),
        sums_(static_cast<std::size_t>(2 * plan.shifted_sort.window)),
        positions_(orders.size()),
        certificate_(plan.metric, frame, orders, plan.shifted_sort.window) {}

  void search(std::int64_t first, std::int64_t count, const NeighborsView<F>& out) {
    curve_codes(queries_.view, frame_, 0, first, count, sorted_);
    radix_sort(sorted_, scratch_, core::code_shape(frame_.dims).bits * frame_.dims);
    std::fill(positions_.begin(), positions_.end(), 0);
    const std::int64_t k = plan_.problem.k;
    for (std::size_t i = 0; i < sorted_.ids.size(); ++i) {
      const std::int64_t q = sorted_.ids[i];
      find(q, sorted_.codes[i]);
      finish(q, out.ids + q * k, out.distances + q * k);
      if (out.certified == nullptr) continue;
      out.certified[q] = certificate_.proves(query_.data(), positions_, hits_) ? 1 : 0;
    }
  }

 private:
  void find(std::int64_t q, const Code& first_code) {
    const MatrixView<T>& view = queries_.view;
    const T* row = view.row(q);
    for (std::int64_t c = 0; c < view.cols; ++c)
      query_[static_cast<std::size_t>(c)] = static_cast<F>(row[c * view.col_stride]);
    list_.clear();
    for (std::size_t shift = 0; shift < orders_.size(); ++shift) {
      const CurveOrder<F, Code>& order = orders_[shift];
      positions_[shift] =
          find_position(order.sorted.codes, positions_[shift], shift == 0 ? first_code : code_of(shift));
      const std::int64_t n = base_.view.rows;
      const core::CurveWindow window = core::curve_window(positions_[shift], plan_.shifted_sort.window, n);
      const std::int64_t size = window.to - window.from;
      curve_scores(form_, query_.data(), order.points.data() + window.from, n, view.cols, size, sums_.data());
      list_.offer(sums_.data(), order.sorted.ids.data() + window.from, size);
    }
  }

  Code code_of(std::size_t shift) const {
    const auto coordinate = [&](int c) { return static_cast<double>(query_[static_cast<std::size_t>(c)]); };
    if (frame_.dims == 3) return core::curve_code<Code, 3>(frame_, static_cast<int>(shift), coordinate);
    return core::curve_code<Code, 0>(frame_, static_cast<int>(shift), coordinate);
  }

  // Computes exact keys from the true coordinates, and sorts by them.
  void finish(std::int64_t q, std::int64_t* ids, F* distances) {
    hits_.clear();
    const MatrixView<T>& base = base_.view;
    const MatrixView<T>& queries = queries_.view;
    for (std::size_t i = 0; i < list_.size(); ++i) __builtin_prefetch(base.row(list_.id(i)));
    for (std::size_t i = 0; i < list_.size(); ++i) {
      const std::uint32_t id = list_.id(i);
      const double raw =
          short_raw_sum(form_, queries.row(q), queries.col_stride, base.row(id), base.col_stride, base.cols);
      hits_.push_back({static_cast<F>(root_ ? std::sqrt(raw) : raw), id});
    }
    if (!std::is_sorted(hits_.begin(), hits_.end())) std::sort(hits_.begin(), hits_.end());
    for (std::size_t i = 0; i < hits_.size(); ++i) {
      ids[i] = hits_[i].id;
      distances[i] = hits_[i].key;
    }
  }

  const PreparedRows<T>& base_;
  const core::CurveFrame& frame_;
  const std::vector<CurveOrder<F, Code>>& orders_;
  const PreparedRows<T>& queries_;
  const Plan& plan_;
  core::Form form_;
  bool root_;  // the key is the root of the sum
  NearList<F> list_;
  std::vector<F> query_;
  std::vector<F> sums_;
  std::vector<std::int64_t> positions_;  // in each order, of the query or the one before it
  RowCertificate<F, Code> certificate_;
  std::vector<core::Hit<F>> hits_;
  CodesWithIds<Code> sorted_;
  CodesWithIds<Code> scratch_;
};

template <Element T, class Code>
void search_orders(const PreparedRows<T>& base, const core::CurveFrame& frame,
                   const std::vector<CurveOrder<DistanceOf<T>, Code>>& orders, const PreparedRows<T>& queries,
                   const Plan& plan, const ProgressCallback& callback, const NeighborsView<DistanceOf<T>>& out) {
  const std::int64_t count = queries.view.rows;
  const std::int64_t thread_queries = (std::min(count, plan.query_block) + plan.threads - 1) / plan.threads;
  const std::int64_t chunk = std::min(thread_queries, kCurveChunk);
  const std::int64_t chunks = (count + chunk - 1) / chunk;
  ProgressMeter progress(callback, count * base.view.rows);
  std::vector<CurveWorker<T, Code>> workers(static_cast<std::size_t>(plan.threads),
                                            CurveWorker<T, Code>(base, frame, orders, queries, plan));
  parallel_for(plan.threads, chunks, [&](std::int64_t c, int worker) {
    const std::int64_t chunk_queries = std::min(chunk, count - c * chunk);
    workers[static_cast<std::size_t>(worker)].search(c * chunk, chunk_queries, out);
    progress.add(chunk_queries * base.view.rows, worker);
  });
  progress.finish();
}

}  // namespace

template <Element T>
std::int64_t shifted_sort_search(const PreparedRows<T>& base, const CurveBase<T>& orders,
                                 const PreparedRows<T>& queries, const Plan& plan, const ProgressCallback& callback,
                                 const NeighborsView<DistanceOf<T>>& out) {
  if (orders.wide.empty())
    search_orders<T>(base, orders.frame, orders.narrow, queries, plan, callback, out);
  else
    search_orders<T>(base, orders.frame, orders.wide, queries, plan, callback, out);
  return queries.view.rows * plan.problem.k;
}

#define KITH_INSTANTIATE(T)                                                                                      \
  template std::int64_t shifted_sort_search(const PreparedRows<T>&, const CurveBase<T>&, const PreparedRows<T>&, \
                                            const Plan&, const ProgressCallback&,                                \
                                            const NeighborsView<DistanceOf<T>>&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
