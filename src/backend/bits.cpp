#include "backend/bits.hpp"

#include "backend/registry.hpp"
#include "kith/error.hpp"

namespace kith::backend {

std::unique_ptr<BackendBitIndex> make_bit_index(const BitIndexRequest& request) {
  const Backend backend = request.options.backend;
  if (!is_available(backend)) throw Error(ErrorCode::no_device, unavailable_reason(backend));
  switch (backend) {
#if defined(KITH_HAS_CUDA)
    case Backend::cuda: return cuda::make_bit_index(request);
#endif
#if defined(KITH_HAS_EMULATED)
    case Backend::emulated: return emulated::make_bit_index(request);
#endif
    default: return cpu::make_bit_index(request);
  }
}

}  // namespace kith::backend
