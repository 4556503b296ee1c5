#include "support/device_memory.hpp"

#include "kith/error.hpp"

namespace kith::test {

namespace cuda {
const DeviceMemory& device_memory();
}
namespace emulated {
const DeviceMemory& device_memory();
}

const DeviceMemory& memory_of(Backend backend) {
#if defined(KITH_HAS_CUDA)
  if (backend == Backend::cuda) return cuda::device_memory();
#endif
#if defined(KITH_HAS_EMULATED)
  if (backend == Backend::emulated) return emulated::device_memory();
#endif
  throw Error(ErrorCode::no_device, std::string("no memory of backend ") + to_string(backend));
}

}  // namespace kith::test
