// chip.cpp: the table of chips; the limits are those of the CUDA programming guide.
#include "chip.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <utility>

#include "block.hpp"
#include "state.hpp"

namespace emulator {

namespace {

constexpr std::size_t kKiB = 1 << 10;
constexpr int kMiB = 1 << 20;

// The first one is that of tests which name none. The last two are no chips: `least` has the oldest instructions that
// Kith needs and the least of everything else that a chip with them has, and `too_small` less shared memory than any.
constexpr Chip kChips[] = {
    {"sm_90", 9, 0, 4, 227 * kKiB, 228 * kKiB, 2048, 32, 8 * kMiB},
    {"sm_50", 5, 0, 2, 48 * kKiB, 64 * kKiB, 2048, 32, 1 * kMiB},
    {"sm_61", 6, 1, 3, 48 * kKiB, 96 * kKiB, 2048, 32, 1 * kMiB},
    {"sm_70", 7, 0, 5, 96 * kKiB, 96 * kKiB, 2048, 32, 2 * kMiB},
    {"sm_75", 7, 5, 3, 64 * kKiB, 64 * kKiB, 1024, 16, 1 * kMiB},
    {"sm_80", 8, 0, 7, 163 * kKiB, 164 * kKiB, 2048, 32, 5 * kMiB},
    {"sm_86", 8, 6, 5, 99 * kKiB, 100 * kKiB, 1536, 16, 1 * kMiB},
    {"sm_89", 8, 9, 8, 99 * kKiB, 100 * kKiB, 1536, 24, 9 * kMiB},
    {"sm_100", 10, 0, 9, 227 * kKiB, 228 * kKiB, 2048, 32, 16 * kMiB},
    {"sm_120", 12, 0, 11, 99 * kKiB, 100 * kKiB, 1536, 24, 12 * kMiB},
    {"least", 8, 0, 1, 99 * kKiB, 100 * kKiB, 1024, 16, kMiB / 2},
    {"too_small", 8, 0, 1, 48 * kKiB, 49 * kKiB, 1024, 16, kMiB / 2},
};

const Chip& find_chip(const std::string& name) {
  const auto* found = std::find_if(std::begin(kChips), std::end(kChips), [&](auto& one) { return one.name == name; });
  if (found != std::end(kChips)) return *found;
  std::string names;
  for (const Chip& one : kChips) names += (names.empty() ? "" : ", ") + std::string(one.name);
  throw std::invalid_argument("the emulator has no chip '" + name + "'; it has " + names);
}

const Chip*& chosen() {
  static const Chip* instance = [] {
    const char* name = std::getenv("KITH_EMULATOR_CHIP");
    return name == nullptr || *name == '\0' ? &kChips[0] : &find_chip(name);
  }();
  return instance;
}

using KernelOnDevice = std::pair<const void*, int>;

// What kernels opted in to.
std::map<KernelOnDevice, std::size_t>& dynamic_limits() {
  static auto& instance = *new std::map<KernelOnDevice, std::size_t>;
  return instance;
}

std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

}  // namespace

const Chip& chip() {
  return *chosen();
}

void set_chip(const std::string& name) {
  const Guard guard(lock());
  chosen() = &find_chip(name);
}

std::size_t dynamic_shared_limit(const void* kernel) {
  const auto found = dynamic_limits().find({kernel, current_device()});
  return found == dynamic_limits().end() ? kStaticShared : std::min(found->second, chip().shared_per_block);
}

void need(const char* instruction, int capability) {
  if (chip().capability() >= capability) return;
  fail(std::string(instruction) + " is not on " + chip().name + ": it needs compute capability " +
       capability_text(capability));
}

void need_sm90a(const char* instruction) {
  if (chip().capability() == 90) return;
  fail(std::string(instruction) + " is not on " + chip().name + ": it is assembled for sm_90a alone");
}

namespace cuda {

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  const Guard guard(lock());
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return report(cudaSuccess);
  if (value < 0 || static_cast<std::size_t>(value) > chip().shared_per_block) return report(cudaErrorInvalidValue);
  dynamic_limits()[{function, current_device()}] = static_cast<std::size_t>(value);
  return report(cudaSuccess);
}

// Static shared memory is known only when a kernel runs, and counts then.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  const Guard guard(lock());
  *attributes = {.sharedSizeBytes = 0,
                 .maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_limit(function)),
                 .ptxVersion = chip().capability()};
  return report(cudaSuccess);
}

// Limited by threads and shared memory; the emulator does not know registers.
cudaError_t occupancy(int* blocks, const void* function, int threads, std::size_t shared_bytes) {
  constexpr std::size_t kKeptPerBlock = 1 << 10;
  const Guard guard(lock());
  if (threads < 1 || threads > static_cast<int>(kMaxThreads)) return report(cudaErrorInvalidValue);
  const int by_threads = chip().threads_per_multiprocessor / ((threads + warpSize - 1) / warpSize * warpSize);
  const auto by_shared = shared_bytes > dynamic_shared_limit(function)
                             ? 0
                             : static_cast<int>(chip().shared_per_multiprocessor / (shared_bytes + kKeptPerBlock));
  *blocks = std::min({by_threads, by_shared, chip().blocks_per_multiprocessor});
  return report(cudaSuccess);
}

}  // namespace cuda

}  // namespace emulator
