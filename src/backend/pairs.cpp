#include "backend/pairs.hpp"

#include "backend/registry.hpp"
#include "kith/error.hpp"

namespace kith::backend {

template <class D>
std::unique_ptr<BackendPairIndex<D>> make_pair_index(Backend backend,
                                                     [[maybe_unused]] const PairIndexRequest<D>& request) {
  if (!is_available(backend)) throw Error(ErrorCode::no_device, unavailable_reason(backend));
  switch (backend) {
#if defined(KITH_HAS_CUDA)
    case Backend::cuda: return cuda::make_pair_index<D>(request);
#endif
#if defined(KITH_HAS_EMULATED)
    case Backend::emulated: return emulated::make_pair_index<D>(request);
#endif
    default: throw Error(ErrorCode::internal, "pairs of the CPU are computed without an index of a device");
  }
}

template std::unique_ptr<BackendPairIndex<float>> make_pair_index(Backend, const PairIndexRequest<float>&);
template std::unique_ptr<BackendPairIndex<double>> make_pair_index(Backend, const PairIndexRequest<double>&);

std::string formula_obstacle(Backend backend) {
  if (!is_available(backend)) return unavailable_reason(backend);
  switch (backend) {
#if defined(KITH_HAS_CUDA)
    case Backend::cuda: return cuda::formula_obstacle();
#endif
#if defined(KITH_HAS_EMULATED)
    case Backend::emulated: return emulated::formula_obstacle();
#endif
    default: return "";
  }
}

}  // namespace kith::backend
