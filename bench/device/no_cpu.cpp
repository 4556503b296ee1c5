// no_cpu.cpp: stands in for src/cpu, whose dependencies this program must do without: a backend that is not available.
// Points of the host are not checked for NaN; those that are made here have none.
#include "backend/contract.hpp"
#include "backend/host.hpp"
#include "core/instantiate.hpp"

namespace kith::cpu {

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

#define KITH_INSTANTIATE(T) template void check_base(const MatrixView<T>&, const Options&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
