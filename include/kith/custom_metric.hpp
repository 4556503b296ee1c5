// Searches by a metric of your own, which is compiled into the loop that searches.
//
// A metric of terms has, as in the papers on matrix products with other operators, one for a coordinate (⊗) and one
// that joins coordinates (⊕):
//
//   struct Canberra {
//     // ⊗; combine(x, y, c) is told which coordinate it is
//     double combine(double x, double y) const {
//       const double sum = std::abs(x) + std::abs(y);
//       return sum == 0 ? 0 : std::abs(x - y) / sum;
//     }
//     // ⊕; a sum where there is none
//     double accumulate(double a, double b) const { return a + b; }
//     // what ⊕ begins with; 0 where there is none
//     static constexpr double identity = 0;
//     // or finish(sum, dims); may be left out
//     double finish(double sum) const { return sum; }
//   };
//   auto found = kith::search_by(Canberra{}, base, queries, 10);
//
// One of several sums has a combine() that returns std::array<double, N>; accumulate(), identity and finish() then take
// and are such arrays. Anything else is a function of two rows,
//   double operator()(std::span<const T>, std::span<const T>),
// or a pointer to a C function of two rows of doubles, their length and a pointer of yours. x is always the query's.
//
// Terms are computed for sixteen base rows and four queries at a time, in vectors where the compiler can: g++ does from
// -O2 on, and makes code for AVX-512 and AVX2 besides what it was told, of which the processor's is taken. What helps:
// no branches but conditional expressions, -fno-trapping-math for those with a division, -fno-math-errno for std::sqrt.
// Functions of <cmath> beyond abs, sqrt, min and max are called number by number. Where products may be fused with sums
// (-ffp-contract, by default in gnu++20 and not in c++20), bits may differ from processor to processor.
//
// Functors must not change while they are used, and are called by several threads at once; what they throw ends the
// search.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "kith/error.hpp"
#include "kith/pair_metric.hpp"

// Code for one instruction set. g++ keeps sums in registers if it unrolls these loops after it has made vectors of
// them, which it does at -O2 and not at -O3.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define KITH_METRIC_OPTIMIZE __attribute__((optimize("O2")))
#define KITH_METRIC_AVX512 "avx512f,avx512dq,avx512vl,prefer-vector-width=512"
#else
#define KITH_METRIC_OPTIMIZE
#define KITH_METRIC_AVX512 "avx512f,avx512dq,avx512vl"
#endif
#if defined(__x86_64__) && !defined(__AVX512F__) && !defined(__CUDACC__)
#define KITH_METRIC_TARGETS
#endif

namespace kith {

using PairFunction = double (*)(const double* query, const double* row, std::int64_t dims, void* context);

namespace metric_loops {

template <class M>
concept Indexed = requires(const M& metric) {
  metric.combine(0.0, 0.0, std::int64_t{0});
};
template <class M>
concept Terms = Indexed<M> || requires(const M& metric) {
  metric.combine(0.0, 0.0);
};
template <class M, class T>
concept WholeRows = requires(const M& metric, std::span<const T> row) {
  { metric(row, row) } -> std::convertible_to<double>;
};

// A term of one sum is an array of one.
inline std::array<double, 1> as_array(double value) {
  return {value};
}
template <std::size_t N>
std::array<double, N> as_array(const std::array<double, N>& values) {
  return values;
}

template <class M>
auto term_of(const M& metric, double x, double y, std::int64_t c) {
  if constexpr (Indexed<M>) {
    return metric.combine(x, y, c);
  } else {
    return metric.combine(x, y);
  }
}

template <class M>
using TermOf = decltype(term_of(std::declval<const M&>(), 0.0, 0.0, std::int64_t{0}));
template <class M>
using SumsOf = decltype(as_array(std::declval<TermOf<M>>()));

template <class M>
TermOf<M> as_term(const SumsOf<M>& sums) {
  if constexpr (std::is_same_v<TermOf<M>, SumsOf<M>>) {
    return sums;
  } else {
    return sums[0];
  }
}

template <class M>
SumsOf<M> identity_of(const M& metric) {
  if constexpr (requires { metric.identity; }) {
    return as_array(TermOf<M>(metric.identity));
  } else {
    return {};
  }
}

template <class M>
concept OwnSum = requires(const M& metric, const TermOf<M>& term) {
  metric.accumulate(term, term);
};

template <class M>
double finished(const M& metric, const SumsOf<M>& sums, std::int64_t dims) {
  const TermOf<M> sum = as_term<M>(sums);
  if constexpr (requires { metric.finish(sum, dims); }) {
    return metric.finish(sum, dims);
  } else if constexpr (requires { metric.finish(sum); }) {
    return metric.finish(sum);
  } else {
    static_assert(std::tuple_size_v<SumsOf<M>> == 1, "a metric of several sums needs finish()");
    return sums[0];
  }
}

inline constexpr std::size_t kRows = static_cast<std::size_t>(kPanelRows);

// nvcc reads this header too, and does not know the pragma.
#if defined(__CUDACC__)
#define KITH_UNROLL_8
#else
#define KITH_UNROLL_8 _Pragma("GCC unroll 8")
#endif

// The sums of `Queries` queries with the rows of a panel. Sums by + are added one after the other, of which the
// compiler makes better code than of arrays.
template <std::size_t Queries, class M>
[[gnu::always_inline]] inline void add_coordinate(const M& metric, const double* const* query, const double* y,
                                                  std::int64_t c,
                                                  double (&sum)[std::tuple_size_v<SumsOf<M>>][Queries][kRows]) {
  constexpr std::size_t kSums = std::tuple_size_v<SumsOf<M>>;
  KITH_UNROLL_8
  for (std::size_t q = 0; q < Queries; ++q) {
    const double x = query[q][c];
    if constexpr (OwnSum<M> && kSums > 1) {
      for (std::size_t r = 0; r < kRows; ++r) {
        SumsOf<M> sums;
        for (std::size_t n = 0; n < kSums; ++n) sums[n] = sum[n][q][r];
        sums = as_array(metric.accumulate(as_term<M>(sums), term_of(metric, x, y[r], c)));
        for (std::size_t n = 0; n < kSums; ++n) sum[n][q][r] = sums[n];
      }
    } else {
      KITH_UNROLL_8
      for (std::size_t n = 0; n < kSums; ++n)
        for (std::size_t r = 0; r < kRows; ++r) {
          const double term = as_array(term_of(metric, x, y[r], c))[n];
          if constexpr (OwnSum<M>) {
            sum[n][q][r] = metric.accumulate(sum[n][q][r], term);
          } else {
            sum[n][q][r] = sum[n][q][r] + term;
          }
        }
    }
  }
}

#undef KITH_UNROLL_8

template <std::size_t Queries, class M>
[[gnu::always_inline]] inline void fill_with(const M& metric, const PanelTile& tile) {
  constexpr std::size_t kSums = std::tuple_size_v<SumsOf<M>>;
  const SumsOf<M> identity = identity_of(metric);
  for (std::int64_t p = 0; p < tile.panel_count; ++p) {
    const double* panel = tile.panels + p * tile.dims * kPanelRows;
    for (std::int64_t first = 0; first < tile.query_count; first += static_cast<std::int64_t>(Queries)) {
      const double* query[Queries];
      for (std::size_t q = 0; q < Queries; ++q)
        query[q] = tile.queries + (first + static_cast<std::int64_t>(q)) * tile.dims;
      double sum[kSums][Queries][kRows];
      for (std::size_t n = 0; n < kSums; ++n)
        for (std::size_t q = 0; q < Queries; ++q)
          for (std::size_t r = 0; r < kRows; ++r) sum[n][q][r] = identity[n];
      for (std::int64_t c = 0; c < tile.dims; ++c)
        add_coordinate<Queries>(metric, query, panel + c * kPanelRows, c, sum);
      for (std::size_t q = 0; q < Queries; ++q) {
        double* out = tile.out + (first + static_cast<std::int64_t>(q)) * tile.out_stride + p * kPanelRows;
        for (std::size_t r = 0; r < kRows; ++r) {
          SumsOf<M> sums;
          for (std::size_t n = 0; n < kSums; ++n) sums[n] = sum[n][q][r];
          out[r] = finished(metric, sums, tile.dims);
        }
      }
    }
  }
}

// As many queries as there are registers for.
template <class M>
inline constexpr std::size_t kFewQueries = std::tuple_size_v<SumsOf<M>> == 1 ? 4 : 2;

#ifdef KITH_METRIC_TARGETS
template <class M>
__attribute__((target(KITH_METRIC_AVX512))) KITH_METRIC_OPTIMIZE void fill_avx512(const M& metric,
                                                                                  const PanelTile& tile) {
  fill_with<4>(metric, tile);
}
template <class M>
__attribute__((target("avx2"))) KITH_METRIC_OPTIMIZE void fill_avx2(const M& metric, const PanelTile& tile) {
  fill_with<kFewQueries<M>>(metric, tile);
}
#endif
template <class M>
KITH_METRIC_OPTIMIZE void fill_plain(const M& metric, const PanelTile& tile) {
  fill_with<kFewQueries<M>>(metric, tile);
}

template <class M>
void fill(const M& metric, const PanelTile& tile) {
#ifdef KITH_METRIC_TARGETS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return fill_avx512(metric, tile);
  if (__builtin_cpu_supports("avx2")) return fill_avx2(metric, tile);
#endif
  fill_plain(metric, tile);
}

// Calls distance(x, y), which takes pointers, for all pairs of a tile.
template <class T, class Distance>
void fill_rows(const RowTile& tile, const Distance& distance) {
  const auto* queries = static_cast<const T*>(tile.queries);
  const auto* rows = static_cast<const T*>(tile.rows);
  for (std::int64_t q = 0; q < tile.query_count; ++q)
    for (std::int64_t r = 0; r < tile.row_count; ++r)
      tile.out[q * tile.out_stride + r] = distance(queries + q * tile.query_stride, rows + r * tile.row_stride);
}

}  // namespace metric_loops

// A metric of terms, to derive from where rows are to be prepared or checked first.
template <metric_loops::Terms M>
class TermMetric : public PairMetric {
 public:
  explicit TermMetric(M functor, std::string name = "a metric of terms")
      : functor_(std::move(functor)), name_(std::move(name)) {}

  std::string name() const override { return name_; }
  using PairMetric::fill;
  void fill(const PanelTile& tile) const override { metric_loops::fill(functor_, tile); }
  double pair_seconds(std::int64_t dims) const override { return 5e-9 + 1e-9 * static_cast<double>(dims); }

 protected:
  const M& functor() const { return functor_; }

 private:
  M functor_;
  std::string name_;
};

// A function of two rows of T.
template <Element T, metric_loops::WholeRows<T> M>
class RowMetric final : public PairMetric {
 public:
  explicit RowMetric(M functor) : functor_(std::move(functor)) {}

  std::string name() const override { return "a function of two rows"; }
  Input input() const override { return Input::elements; }
  using PairMetric::fill;
  void fill(const RowTile& tile) const override {
    const auto length = static_cast<std::size_t>(tile.dims);
    metric_loops::fill_rows<T>(tile, [&](const T* x, const T* y) {
      return static_cast<double>(functor_(std::span<const T>(x, length), std::span<const T>(y, length)));
    });
  }

 private:
  M functor_;
};

// A C function of two rows of doubles. `context` must outlive the metric; threads: those that may call it at once, 0
// for any number.
class FunctionMetric final : public PairMetric {
 public:
  explicit FunctionMetric(PairFunction function, void* context = nullptr, int threads = 0)
      : function_(function), context_(context), threads_(threads) {
    if (function == nullptr) throw Error(ErrorCode::invalid_argument, "the metric is a null pointer");
  }

  std::string name() const override { return "a C function"; }
  Input input() const override { return Input::rows; }
  int most_threads() const override { return threads_ > 0 ? threads_ : PairMetric::most_threads(); }
  using PairMetric::fill;
  void fill(const RowTile& tile) const override {
    metric_loops::fill_rows<double>(
        tile, [&](const double* x, const double* y) { return function_(x, y, tile.dims, context_); });
  }

 private:
  PairFunction function_;
  void* context_;
  int threads_;
};

// What the engine searches by, of a functor of terms or of rows, a C function, or such a metric itself.
template <Element T, class M>
std::shared_ptr<const PairMetric> pair_metric(M metric) {
  if constexpr (std::convertible_to<M, std::shared_ptr<const PairMetric>>) {
    return metric;
  } else if constexpr (metric_loops::Terms<M>) {
    return std::make_shared<TermMetric<M>>(std::move(metric));
  } else if constexpr (std::convertible_to<M, PairFunction>) {
    return std::make_shared<FunctionMetric>(metric);
  } else {
    static_assert(metric_loops::WholeRows<M, T>,
                  "a metric has combine(x, y), or is a function of two spans of the points' type, or a C function");
    return std::make_shared<RowMetric<T, M>>(std::move(metric));
  }
}

// A base prepared for many searches by the metric; kith/pair_metric.hpp has the functions.
template <Element T, class Metric>
class CustomIndex : public PairIndex<T> {
 public:
  CustomIndex(Metric metric, MatrixView<T> base, Options options = {})
      : PairIndex<T>(pair_metric<T>(std::move(metric)), base, std::move(options)) {}
};

// The k nearest base points of each query by the metric; kith/pair_metric.hpp has the limits, here and below.
template <class Metric, Element T>
Neighbors<DistanceOf<T>> search_by(Metric metric, MatrixView<T> base, MatrixView<T> queries, std::int64_t k,
                                   const Options& options = {}) {
  return PairIndex<T>(pair_metric<T>(std::move(metric)), base, options, PairIndex<T>::Keep::view).search(queries, k);
}

// Of each base point, itself left out by its id.
template <class Metric, Element T>
Neighbors<DistanceOf<T>> search_self_by(Metric metric, MatrixView<T> base, std::int64_t k,
                                        const Options& options = {}) {
  return PairIndex<T>(pair_metric<T>(std::move(metric)), base, options, PairIndex<T>::Keep::view).search_self(k);
}

// All base points within the radii: one for all queries, or one for each.
template <class Metric, Element T>
RadiusNeighbors<DistanceOf<T>> search_radius_by(Metric metric, MatrixView<T> base, MatrixView<T> queries,
                                                std::span<const DistanceOf<T>> radii,
                                                RadiusOutput output = RadiusOutput::neighbors,
                                                const Options& options = {}) {
  return PairIndex<T>(pair_metric<T>(std::move(metric)), base, options, PairIndex<T>::Keep::view)
      .search_radius(queries, radii, output);
}

// The whole matrix, queries.rows × base.rows.
template <class Metric, Element T>
Matrix<DistanceOf<T>> distances_by(Metric metric, MatrixView<T> base, MatrixView<T> queries,
                                   const Options& options = {}) {
  return PairIndex<T>(pair_metric<T>(std::move(metric)), base, options, PairIndex<T>::Keep::view).distances(queries);
}

}  // namespace kith

#undef KITH_METRIC_OPTIMIZE
#undef KITH_METRIC_AVX512
#undef KITH_METRIC_TARGETS
