// spares.cpp: one stock for the process, behind a mutex that is held for no call of the driver that could wait.
#include "cuda/runtime/spares.hpp"

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <unistd.h>

#include "cuda/runtime/current_device.hpp"
#include "cuda/runtime/search_memory.hpp"

namespace kith::KITH_BACKEND::inline runtime {
namespace {

struct SpareLimits {
  static constexpr std::size_t kDevicePart = 16;  // of the device's memory
  static constexpr std::size_t kPinnedBytes = std::size_t{128} << 20U;
  static constexpr std::size_t kPinnedBytesUnkept = std::size_t{1} << 20U;
  static constexpr std::size_t kStreams = 32;
  static constexpr std::size_t kLeastPinned = 4096;  // bytes; a page
};

// A pool that keeps what is freed while somebody wants it to. It is never destroyed: while pools went with the last who
// kept spares, the driver (580, CUDA 13.0) crashed now and then in a later wait of the same process, and since they
// stay it has not. Pools that come and go in a small program do not show it.
class DevicePool {
 public:
  explicit DevicePool(int device) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, device};
    KITH_CUDA(cudaMemPoolCreate(&pool_, &properties));
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    KITH_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
    kept_bytes_ = all_bytes / SpareLimits::kDevicePart;
  }

  cudaMemPool_t handle() const { return pool_; }
  void keep() { KITH_CUDA(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &kept_bytes_)); }
  // What is still in use goes back when it is freed.
  void keep_no_longer() noexcept {
    std::uint64_t nothing = 0;
    cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &nothing);
    cudaMemPoolTrimTo(pool_, 0);
  }
  std::uint64_t attribute(cudaMemPoolAttr which) const {
    std::uint64_t value = 0;
    KITH_CUDA(cudaMemPoolGetAttribute(pool_, which, &value));
    return value;
  }

 private:
  cudaMemPool_t pool_ = nullptr;
  std::uint64_t kept_bytes_ = 0;
};

int current_device() {
  int device = 0;
  KITH_CUDA(cudaGetDevice(&device));
  return device;
}

class Stock {
 public:
  // Never destroyed: threads may search while the process exits.
  static Stock& instance() {
    static Stock& stock = *new Stock;
    // What is kept without an index goes with the library.
    struct AtUnload {
      ~AtUnload() { stock.empty(); }
    };
    static const AtUnload at_unload;
    return stock;
  }

  // A lock that another thread held when the process was forked stays locked in the child.
  bool is_child() const { return getpid() != owner_; }

  void keep(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    OfDevice& of_device = devices_[device];
    if (!of_device.pool) of_device.pool = std::make_unique<DevicePool>(device);
    if (of_device.keepers == 0) of_device.pool->keep();
    ++of_device.keepers;
    ++keepers_;
  }

  void keep_no_longer(int device) {
    DevicePool* pool = nullptr;  // that nobody keeps
    std::vector<cudaStream_t> streams;
    std::vector<void*> pinned;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      OfDevice& of_device = devices_[device];
      if (--of_device.keepers == 0) {
        pool = of_device.pool.get();
        streams.swap(of_device.streams);
      }
      if (--keepers_ == 0) pinned = take_pinned();
    }
    if (pool != nullptr) free_handed_on(device);
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
    if (pool != nullptr) give_back(device, *pool);
    for (void* memory : pinned) cudaFreeHost(memory);
  }

  // Null where nobody keeps.
  const DevicePool* pool(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = devices_.find(device);
    return found == devices_.end() || found->second.keepers == 0 ? nullptr : found->second.pool.get();
  }

  cudaStream_t find_stream(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<cudaStream_t>& streams = devices_[device].streams;
    if (streams.empty()) return nullptr;
    cudaStream_t stream = streams.back();
    streams.pop_back();
    return stream;
  }

  bool take_back(const StreamLoan& loan) {
    const std::lock_guard<std::mutex> lock(mutex_);
    OfDevice& of_device = devices_[loan.device];
    if (of_device.keepers == 0 || of_device.streams.size() >= SpareLimits::kStreams) return false;
    of_device.streams.push_back(loan.stream);
    return true;
  }

  void* find_pinned(std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = pinned_.find(bytes);
    if (found == pinned_.end()) return nullptr;
    void* const memory = found->second;
    pinned_.erase(found);
    pinned_bytes_ -= bytes;
    return memory;
  }

  bool take_back(void* memory, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::size_t most = keepers_ > 0 ? SpareLimits::kPinnedBytes : SpareLimits::kPinnedBytesUnkept;
    if (pinned_bytes_ + bytes > most) return false;
    pinned_.emplace(bytes, memory);
    pinned_bytes_ += bytes;
    return true;
  }

 private:
  struct OfDevice {
    int keepers = 0;
    std::unique_ptr<DevicePool> pool;
    std::vector<cudaStream_t> streams;
  };

  // Unless somebody keeps again.
  void give_back(int device, DevicePool& pool) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (devices_[device].keepers == 0) pool.keep_no_longer();
  }

  // With the lock held.
  std::vector<void*> take_pinned() {
    std::vector<void*> all;
    for (const auto& [bytes, memory] : pinned_) all.push_back(memory);
    pinned_.clear();
    pinned_bytes_ = 0;
    return all;
  }

  void empty() {
    if (is_child()) return;
    std::vector<void*> pinned;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      pinned = take_pinned();
    }
    for (void* memory : pinned) cudaFreeHost(memory);
  }

  const pid_t owner_ = getpid();
  std::mutex mutex_;
  int keepers_ = 0;  // of all devices
  std::map<int, OfDevice> devices_;
  std::multimap<std::size_t, void*> pinned_;
  std::size_t pinned_bytes_ = 0;
};

// Few sizes, so that what is returned fits what is asked for next.
std::size_t pinned_size(std::size_t bytes) {
  return std::bit_ceil(bytes < SpareLimits::kLeastPinned ? SpareLimits::kLeastPinned : bytes);
}

}  // namespace

KeepSpares::KeepSpares() : device_(current_device()) {
  Stock::instance().keep(device_);
}

KeepSpares::~KeepSpares() {
  if (!Stock::instance().is_child()) Stock::instance().keep_no_longer(device_);
}

DeviceMemory allocate_on_device(std::size_t bytes, cudaStream_t stream) {
  const int device = current_device();
  if (void* const memory = find_handed_on(bytes, device, stream)) return {memory, device};
  const DevicePool* const pool = Stock::instance().pool(device);
  const std::size_t size = size_handed_on(bytes);
  void* address = nullptr;
  const auto allocate = [&] {
    return pool != nullptr ? cudaMallocFromPoolAsync(&address, size, pool->handle(), stream)
                           : cudaMallocAsync(&address, size, stream);
  };
  cudaError_t error = allocate();
  if (error == cudaErrorMemoryAllocation && bytes_handed_on(device) > 0) {
    cudaGetLastError();
    free_handed_on(device);
    error = allocate();
  }
  check(error, pool != nullptr ? "cudaMallocFromPoolAsync" : "cudaMallocAsync", bytes);
  return {address, device};
}

void free_on_device(const DeviceMemory& memory, std::size_t bytes, cudaStream_t stream) noexcept {
  if (hand_on(memory.address, bytes, memory.device, stream)) return;
  const CurrentDevice current(memory.device);
  cudaFreeAsync(memory.address, stream);
}

cudaMemPool_t device_pool() {
  const DevicePool* const pool = Stock::instance().pool(current_device());
  return pool == nullptr ? nullptr : pool->handle();
}

std::size_t spare_device_bytes() {
  const int device = current_device();
  const DevicePool* const pool = Stock::instance().pool(device);
  if (pool == nullptr) return 0;
  return pool->attribute(cudaMemPoolAttrReservedMemCurrent) - pool->attribute(cudaMemPoolAttrUsedMemCurrent) +
         bytes_handed_on(device);
}

StreamLoan borrow_stream() {
  StreamLoan loan{nullptr, current_device()};
  loan.stream = Stock::instance().find_stream(loan.device);
  if (loan.stream == nullptr) KITH_CUDA(cudaStreamCreateWithFlags(&loan.stream, cudaStreamNonBlocking));
  return loan;
}

void return_stream(const StreamLoan& loan) noexcept {
  Stock& stock = Stock::instance();
  if (stock.is_child() || !stock.take_back(loan)) cudaStreamDestroy(loan.stream);
}

PinnedLoan::PinnedLoan(std::size_t bytes) : bytes_(pinned_size(bytes)) {
  data_ = Stock::instance().find_pinned(bytes_);
  if (data_ == nullptr) check(cudaMallocHost(&data_, bytes_), "cudaMallocHost", bytes_);
}

PinnedLoan::~PinnedLoan() {
  if (data_ == nullptr) return;
  Stock& stock = Stock::instance();
  if (stock.is_child() || !stock.take_back(data_, bytes_)) cudaFreeHost(data_);
}

}  // namespace kith::KITH_BACKEND::inline runtime
