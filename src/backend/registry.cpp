#include "backend/registry.hpp"

#include <utility>

#include "backend/machine.hpp"
#include "backend/profile_file.hpp"
#include "kith/error.hpp"

namespace kith::backend {

// The only place that knows what was built.
const BackendTable* find_table(Backend backend) {
  switch (backend) {
    case Backend::cpu: return &cpu::backend_table();
#if defined(KITH_HAS_CUDA)
    case Backend::cuda: return &cuda::backend_table();
#endif
#if defined(KITH_HAS_EMULATED)
    case Backend::emulated: return &emulated::backend_table();
#endif
    default: return nullptr;
  }
}

bool is_available(Backend backend) {
  const BackendTable* table = find_table(backend);
  return table != nullptr && table->is_available();
}

std::string obstacle(Backend backend) {
  const BackendTable* table = find_table(backend);
  return table == nullptr || table->obstacle == nullptr ? "" : table->obstacle();
}

std::string unavailable_reason(Backend backend) {
  const std::string name = std::string("backend ") + to_string(backend);
  if (find_table(backend) == nullptr) return name + " is not in this build";
  const std::string reason = obstacle(backend);
  return reason.empty() ? name + " is not available: no device was found" : name + " is not available: " + reason;
}

const BackendTable& table_of(Backend backend) {
  if (!is_available(backend)) throw Error(ErrorCode::no_device, unavailable_reason(backend));
  return *find_table(backend);
}

plan::Machine machine_of(Backend backend, Backend asked) {
  plan::Machine machine = table_of(backend).facts();
  if (auto* cpu = std::get_if<core::CpuFacts>(&machine); cpu != nullptr && asked == Backend::automatic)
    cpu->device_obstacle = obstacle(Backend::cuda);
  if (auto* device = std::get_if<core::DeviceFacts>(&machine)) {
    FoundProfile found = find_profile(device->name, {device->profile, device->profile_source});
    device->profile = found.profile;
    device->profile_source = std::move(found.source);
  }
  return machine;
}

int threads_now(const plan::Machine& machine) {
  const auto* const cpu = std::get_if<core::CpuFacts>(&machine);
  return cpu == nullptr ? 0 : calling_thread_limit({cpu->threads, cpu->threads_source}).threads;
}

plan::Machine for_this_thread(plan::Machine machine) {
  if (auto* const cpu = std::get_if<core::CpuFacts>(&machine)) {
    const ThreadLimit limit = calling_thread_limit({cpu->threads, cpu->threads_source});
    cpu->threads = limit.threads;
    cpu->threads_source = limit.source;
  }
  return machine;
}

}  // namespace kith::backend
