// search.cpp: exact search on the CPU: shapes where different parts of it decide, then metrics and element types.
#include "cpu/suites/suites.hpp"

namespace kith::bench {
namespace {

// Ahead of FAISS wherever it can run.
constexpr Bar kAheadOfFaiss = {Kind::faiss, 1.0};

// Squared Euclidean, float32: the shape everybody can run.
RowSpec shape(std::string name, std::int64_t dims, std::int64_t k, std::vector<Bar> bars) {
  RowSpec row;
  row.name = std::move(name);
  row.queries = 1000;
  row.base_rows = 100000;
  row.dims = dims;
  row.k = k;
  row.contenders = {Kind::kith, Kind::faiss, Kind::heap_baseline, Kind::gemm};
  row.bars = std::move(bars);
  row.bars.push_back(kAheadOfFaiss);
  return row;
}

RowSpec low_dimension() {
  RowSpec row = shape("d3", 3, 10, {});
  row.contenders.insert(row.contenders.begin() + 2, Kind::nanoflann);
  return row;
}

// So few queries that memory decides.
RowSpec few_queries(std::string name, std::int64_t queries, std::vector<Bar> bars) {
  RowSpec row = shape(std::move(name), 128, 10, std::move(bars));
  row.queries = queries;
  row.base_rows = 1000000;
  row.contenders = {Kind::kith, Kind::faiss, Kind::faiss_blas, Kind::heap_baseline, Kind::gemm, Kind::read};
  row.bars.push_back({Kind::faiss_blas, 1.0});
  return row;
}

RowSpec clustered() {
  RowSpec row = shape("clustered", 128, 10, {});
  row.data = DataKind::clustered;
  return row;
}

RowSpec metric(MetricKind kind, std::vector<Kind> peers, std::vector<Bar> bars) {
  RowSpec row = shape(to_string(Metric(kind)), 128, 10, {});
  row.metric = kind;
  row.contenders = {Kind::kith, Kind::kith_sqeuclidean};
  row.contenders.insert(row.contenders.end(), peers.begin(), peers.end());
  row.contenders.push_back(Kind::gemm);
  row.bars = std::move(bars);
  return row;
}

RowSpec element_type(DType dtype) {
  RowSpec row = shape(to_string(dtype), 128, 10, {});
  row.dtype = dtype;
  row.contenders = {Kind::kith, Kind::gemm};
  row.bars.clear();
  return row;
}

// By products of integers, beside the same points in float32.
RowSpec bytes() {
  RowSpec row = element_type(DType::uint8);
  row.contenders.insert(row.contenders.begin() + 1, Kind::kith_float32);
  row.bars = {{Kind::kith_float32, 0.4}};
  return row;
}

// One query reads points as they are stored: half as many bytes, beside the same points in float32.
RowSpec one_query_of_halves() {
  RowSpec row = few_queries("q1-float16", 1, {});
  row.dtype = DType::float16;
  row.contenders = {Kind::kith, Kind::kith_float32, Kind::read};
  row.bars = {{Kind::read, 1 / 0.7}, {Kind::kith_float32, 0.75}};
  return row;
}

RowSpec all_neighbors() {
  RowSpec row = shape("graph", 32, 10, {});
  row.base_rows = row.queries = 20000;
  row.self = true;
  row.contenders = {Kind::kith, Kind::kith_graph, Kind::faiss, Kind::heap_baseline, Kind::gemm};
  return row;
}

}  // namespace

Suite search_suite() {
  Suite suite{"search", "exact search on the CPU", {}};
  suite.rows = {
      shape("d128", 128, 10, {{Kind::gemm, 1.15}}),
      shape("d128-k1000", 128, 1000, {{Kind::gemm, 1.7}}),
      shape("d16", 16, 10, {{Kind::gemm, 0.65}}),
      low_dimension(),
      shape("d768", 768, 10, {}),
      few_queries("q1", 1, {{Kind::read, 1 / 0.7}}),
      one_query_of_halves(),
      few_queries("q8", 8, {}),
      clustered(),
      metric(MetricKind::manhattan, {Kind::faiss}, {{Kind::kith_sqeuclidean, 4}, kAheadOfFaiss}),
      metric(MetricKind::chebyshev, {Kind::faiss}, {{Kind::kith_sqeuclidean, 4}, kAheadOfFaiss}),
      metric(MetricKind::cosine, {}, {}),
      metric(MetricKind::inner_product, {Kind::faiss}, {kAheadOfFaiss}),
      element_type(DType::float64),
      bytes(),
      all_neighbors(),
  };
  return suite;
}

}  // namespace kith::bench
