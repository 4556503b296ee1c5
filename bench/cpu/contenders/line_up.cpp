#include <chrono>
#include <type_traits>

#include "cpu/contenders/contenders.hpp"

namespace kith::bench {
namespace {

// Contenders that know float32 alone.
std::unique_ptr<Contender> make_float(Kind kind, const Problem<float>& problem) {
  switch (kind) {
    case Kind::heap_baseline: return make_heap_baseline(problem);
    case Kind::faiss: return make_faiss(problem, false);
    case Kind::faiss_blas: return make_faiss(problem, true);
    case Kind::faiss_filtered: return make_faiss_filtered(problem);
    case Kind::kith_filtered: return make_kith_filtered(problem);
    case Kind::kith_unfiltered: return make_kith_unfiltered(problem);
    case Kind::kith_formula: return make_kith_formula(problem, {});
    case Kind::kith_written: return make_kith_formula(problem, {.recognize = false});
    case Kind::kith_interpreted: return make_kith_formula(problem, {.recognize = false, .fuse = false});
    case Kind::nanoflann: return make_nanoflann(problem, false, problem.threads);
    case Kind::nanoflann_one_by_one: return make_nanoflann(problem, false, 1);
    case Kind::nanoflann_whole: return make_nanoflann(problem, true, problem.threads);
    default: return nullptr;
  }
}

template <Element T>
std::unique_ptr<Contender> make(Kind kind, const Problem<T>& problem) {
  switch (kind) {
    case Kind::kith: return make_kith(problem, problem.row.metric);
    case Kind::kith_one_by_one: return make_kith_one_by_one(problem);
    case Kind::kith_sqeuclidean: return make_kith(problem, MetricKind::sqeuclidean);
    case Kind::kith_graph: return make_kith_graph(problem);
    case Kind::kith_triangle: return make_kith_whole(problem, Method::triangle);
    case Kind::kith_brute: return make_kith_whole(problem, Method::brute);
    case Kind::kith_tree: return make_kith_whole(problem, Method::tree);
    case Kind::kith_whole: return make_kith_whole(problem, Method::automatic);
    case Kind::kith_shifted: return make_kith_whole(problem, Method::shifted_sort);
    case Kind::gemm: return make_gemm(problem);
    case Kind::read: return make_read(problem);
    default: break;
  }
  if constexpr (std::is_same_v<T, float>) return make_float(kind, problem);
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (kind == Kind::kith_bits) return make_kith_bits(problem);
    if (kind == Kind::faiss_bits) return make_faiss_bits(problem);
  }
  if constexpr (std::is_same_v<T, std::uint8_t> || std::is_same_v<T, Float16>)
    if (kind == Kind::kith_float32) return make_kith_float32(problem);
  return nullptr;
}

std::string why_absent(Kind kind) {
  return kind == Kind::gemm ? "its output needs more memory than is free" : "not installed";
}

}  // namespace

std::string name_of(Kind kind, DType dtype) {
  switch (kind) {
    case Kind::kith: return "kith";
    case Kind::kith_one_by_one: return "kith, one by one";
    case Kind::kith_sqeuclidean: return "kith sqeuclidean";
    case Kind::kith_float32: return "kith float32";
    case Kind::kith_graph: return "kith graph()";
    case Kind::kith_triangle: return "kith triangle";
    case Kind::kith_brute: return "kith brute";
    case Kind::kith_tree: return "kith tree";
    case Kind::kith_whole: return "kith, with its index";
    case Kind::kith_shifted: return "kith shifted-sort";
    case Kind::kith_filtered: return "kith, filtered";
    case Kind::kith_unfiltered: return "kith, all points";
    case Kind::faiss_filtered: return "faiss, filtered";
    case Kind::kith_formula: return "formula";
    case Kind::kith_written: return "formula, as written";
    case Kind::kith_interpreted: return "formula, interpreted";
    case Kind::kith_bits: return "kith bits";
    case Kind::heap_baseline: return "gemm + heap";
    case Kind::faiss: return "faiss";
    case Kind::faiss_blas: return "faiss (BLAS path)";
    case Kind::faiss_bits: return "faiss IndexBinaryFlat";
    case Kind::nanoflann: return "nanoflann";
    case Kind::nanoflann_one_by_one: return "nanoflann, one by one";
    case Kind::nanoflann_whole: return "nanoflann, with its tree";
    case Kind::gemm: return dtype == DType::float64 ? "dgemm" : "sgemm";
    case Kind::read: return "read";
  }
  return "unknown";
}

template <Element T>
std::vector<Entry> line_up(const Problem<T>& problem) {
  using Clock = std::chrono::steady_clock;
  std::vector<Entry> entries;
  for (const Kind kind : problem.row.contenders) {
    Entry entry;
    entry.kind = kind;
    entry.name = name_of(kind, problem.row.dtype);
    const Clock::time_point start = Clock::now();
    entry.contender = make(kind, problem);
    entry.build_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (!entry.contender) entry.absent = why_absent(kind);
    entries.push_back(std::move(entry));
  }
  return entries;
}

template std::vector<Entry> line_up(const Problem<float>&);
template std::vector<Entry> line_up(const Problem<double>&);
template std::vector<Entry> line_up(const Problem<std::uint8_t>&);
template std::vector<Entry> line_up(const Problem<Float16>&);

}  // namespace kith::bench
