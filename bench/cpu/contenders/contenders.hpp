// contenders.hpp: makes the contenders of a row ready. What a contender may prepare once for its base (an index, norms,
// a tree) is done here and reported beside its time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cpu/problem/contender.hpp"
#include "cpu/problem/data.hpp"
#include "kith/named_metric.hpp"
#include "kith/options.hpp"

namespace kith::bench {

struct Entry {
  Kind kind = Kind::kith;
  std::string name;
  std::unique_ptr<Contender> contender;  // null: it does not take part
  std::string absent;                    // and this is why
  double build_ms = 0;                   // what it took to make it ready
};

// The contenders of problem.row, in its order. They refer to the problem.
template <Element T>
std::vector<Entry> line_up(const Problem<T>& problem);

std::string name_of(Kind kind, DType dtype);

// Null where this contender cannot take part.
template <Element T>
std::unique_ptr<Contender> make_kith(const Problem<T>& problem, Metric metric);
template <Element T>
std::unique_ptr<Contender> make_kith_float32(const Problem<T>& problem);
template <Element T>
std::unique_ptr<Contender> make_kith_one_by_one(const Problem<T>& problem);
template <Element T>
std::unique_ptr<Contender> make_kith_graph(const Problem<T>& problem);
template <Element T>
std::unique_ptr<Contender> make_kith_whole(const Problem<T>& problem, Method method);
std::unique_ptr<Contender> make_heap_baseline(const Problem<float>& problem);
std::unique_ptr<Contender> make_faiss(const Problem<float>& problem, bool always_blas);
std::unique_ptr<Contender> make_kith_filtered(const Problem<float>& problem);
std::unique_ptr<Contender> make_kith_unfiltered(const Problem<float>& problem);
std::unique_ptr<Contender> make_faiss_filtered(const Problem<float>& problem);
std::unique_ptr<Contender> make_nanoflann(const Problem<float>& problem, bool whole, int threads);
std::unique_ptr<Contender> make_kith_formula(const Problem<float>& problem, ExpressionOptions options);
std::unique_ptr<Contender> make_kith_bits(const Problem<std::uint8_t>& problem);
std::unique_ptr<Contender> make_faiss_bits(const Problem<std::uint8_t>& problem);
template <Element T>
std::unique_ptr<Contender> make_gemm(const Problem<T>& problem);
template <Element T>
std::unique_ptr<Contender> make_read(const Problem<T>& problem);

// "1.7.3"; empty when it was not there to build with.
std::string faiss_version();
std::string nanoflann_version();

}  // namespace kith::bench
