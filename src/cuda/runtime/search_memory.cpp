// search_memory.cpp: lists of free blocks by size, one for each stream that is searched on, and those that are left.
#include "cuda/runtime/search_memory.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cuda/runtime/current_device.hpp"
#include "cuda/runtime/spares.hpp"
#include "cuda/runtime/stream.hpp"

namespace kith::KITH_BACKEND::inline runtime {
namespace {

struct HandedOnLimits {
  static constexpr std::size_t kBlock = std::size_t{16} << 20U;
  static constexpr std::size_t kAll = std::size_t{64} << 20U;
  static constexpr std::size_t kLeast = 512;  // bytes, as the pool has it
  static constexpr std::size_t kSizes = 16;   // between a power of two and the next
  static constexpr std::size_t kLists = 8;    // that wait for a search
};

struct FreeBlocks {
  std::multimap<std::size_t, void*> blocks;
  std::size_t bytes = 0;
  int searches = 0;  // that use it
  Event left;        // the last of them has ended

  void free_all(cudaStream_t stream) noexcept {
    for (const auto& [size, memory] : blocks) cudaFreeAsync(memory, stream);
    blocks.clear();
    bytes = 0;
  }
};

class HandedOn {
 public:
  // Never destroyed: threads may search while the process exits.
  static HandedOn& instance() {
    static HandedOn& all = *new HandedOn;
    return all;
  }

  void begin(int device, cudaStream_t stream) {
    std::unique_ptr<FreeBlocks> next = find_left(device);
    if (next) {
      next->left.wait_on(stream);
    } else {
      next = std::make_unique<FreeBlocks>();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<FreeBlocks>& used = used_[{device, stream}];
    if (!used) used.swap(next);
    ++used->searches;
    if (next && !next->blocks.empty()) left_[device].push_back(std::move(next));  // the stream has had one
  }

  void end(int device, cudaStream_t stream) noexcept {
    std::unique_ptr<FreeBlocks> mine;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = used_.find({device, stream});
      if (--found->second->searches > 0) return;
      mine = std::move(found->second);
      used_.erase(found);
    }
    if (mine->blocks.empty()) return;
    if (mine->left.record_quietly(stream)) {
      const std::lock_guard<std::mutex> lock(mutex_);
      std::vector<std::unique_ptr<FreeBlocks>>& left = left_[device];
      if (left.size() < HandedOnLimits::kLists) return left.push_back(std::move(mine));
    }
    mine->free_all(stream);
  }

  void* find(std::size_t size, int device, cudaStream_t stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto used = used_.find({device, stream});
    if (used == used_.end()) return nullptr;
    FreeBlocks& blocks = *used->second;
    const auto found = blocks.blocks.find(size);
    if (found == blocks.blocks.end()) return nullptr;
    void* const memory = found->second;
    blocks.blocks.erase(found);
    blocks.bytes -= size;
    return memory;
  }

  bool keep(void* memory, std::size_t size, int device, cudaStream_t stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto used = used_.find({device, stream});
    if (used == used_.end() || used->second->bytes + size > HandedOnLimits::kAll) return false;
    used->second->blocks.emplace(size, memory);
    used->second->bytes += size;
    return true;
  }

  std::size_t bytes_left(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::size_t bytes = 0;
    for (const auto& blocks : left_[device]) bytes += blocks->bytes;
    return bytes;
  }

  std::unique_ptr<FreeBlocks> find_left(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::unique_ptr<FreeBlocks>>& left = left_[device];
    if (left.empty()) return nullptr;
    std::unique_ptr<FreeBlocks> last = std::move(left.back());
    left.pop_back();
    return last;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int, cudaStream_t>, std::unique_ptr<FreeBlocks>> used_;
  std::map<int, std::vector<std::unique_ptr<FreeBlocks>>> left_;
};

}  // namespace

SearchMemory::SearchMemory(cudaStream_t stream, bool hands_on) : stream_(stream) {
  if (!hands_on || stream == cudaStreamPerThread || device_pool() == nullptr) return;
  int device = 0;
  KITH_CUDA(cudaGetDevice(&device));
  HandedOn::instance().begin(device, stream);
  device_ = device;
}

SearchMemory::~SearchMemory() {
  if (device_ < 0) return;
  const CurrentDevice current(device_);
  HandedOn::instance().end(device_, stream_);
}

std::size_t size_handed_on(std::size_t bytes) {
  if (!kHandsOnMemory || bytes > HandedOnLimits::kBlock) return bytes;
  const std::size_t step = std::max(HandedOnLimits::kLeast, std::bit_floor(bytes) / HandedOnLimits::kSizes);
  return (bytes + step - 1) / step * step;
}

void* find_handed_on(std::size_t bytes, int device, cudaStream_t stream) {
  if (bytes > HandedOnLimits::kBlock) return nullptr;
  return HandedOn::instance().find(size_handed_on(bytes), device, stream);
}

bool hand_on(void* memory, std::size_t bytes, int device, cudaStream_t stream) noexcept {
  if (bytes > HandedOnLimits::kBlock) return false;
  try {
    return HandedOn::instance().keep(memory, size_handed_on(bytes), device, stream);
  } catch (...) {  // no memory to note it
    return false;
  }
}

std::size_t bytes_handed_on(int device) {
  return HandedOn::instance().bytes_left(device);
}

void free_handed_on(int device) noexcept {
  const CurrentDevice current(device);
  try {
    while (const auto blocks = HandedOn::instance().find_left(device)) {
      const Stream stream;
      blocks->left.wait_on(stream);
      blocks->free_all(stream);
    }
  } catch (...) {  // a device that answers no more has no memory to give back
  }
}

}  // namespace kith::KITH_BACKEND::inline runtime
