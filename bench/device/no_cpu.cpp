// no_cpu.cpp: stands in for src/cpu, whose dependencies this program must do without: a backend that is not available.
// Points of the host are not checked for NaN; those that are made here have none.
#include <memory>

#include "backend/bits.hpp"
#include "backend/contract.hpp"
#include "backend/host.hpp"
#include "backend/sparse.hpp"
#include "common/parallel.hpp"
#include "core/instantiate.hpp"
#include "cpu/parallel.hpp"
#include "kith/error.hpp"

namespace kith::cpu {
namespace {

constexpr const char* kNoCpu = "this program was built without the CPU backend";

}  // namespace

const backend::BackendTable& backend_table() {
  static const backend::BackendTable table = [] {
    backend::BackendTable made{};
    made.id = Backend::cpu;
    made.is_available = [] { return false; };
    return made;
  }();
  return table;
}

std::vector<std::string> simd_targets() {
  return {};
}

template <Element T>
void check_base(const MatrixView<T>&, const Options&) {}
template <Element T>
void check_queries(const MatrixView<T>&, const Options&) {}

#define KITH_INSTANTIATE(T)                                       \
  template void check_base(const MatrixView<T>&, const Options&); \
  template void check_queries(const MatrixView<T>&, const Options&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

// Lists are merged on the host, by tasks that throw nothing.
void parallel_for(int threads, std::int64_t count, TaskRef task) {
  bench::for_parts(count, 1, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) task(i, 0);
  });
}

std::unique_ptr<backend::BackendBitIndex> make_bit_index(const backend::BitIndexRequest&) {
  throw Error(ErrorCode::no_device, kNoCpu);
}

template <SparseElement T>
std::unique_ptr<backend::SparseSearcher<T>> make_sparse_index(const CsrView<T>&, const SparseOptions&) {
  throw Error(ErrorCode::no_device, kNoCpu);
}
template std::unique_ptr<backend::SparseSearcher<float>> make_sparse_index(const CsrView<float>&, const SparseOptions&);
template std::unique_ptr<backend::SparseSearcher<double>> make_sparse_index(const CsrView<double>&,
                                                                            const SparseOptions&);

}  // namespace kith::cpu
