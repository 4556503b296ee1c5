// workspace.hpp: scratch memory of one stream, under a budget.
// allocate() hands out blocks until reset(), which keeps them: a second round of the same sizes asks the driver for
// nothing, and one of other sizes frees what it does not reuse before it asks. A block reused after reset() may still
// be in use by earlier work of the same stream, which is safe because a stream runs its work in order. Each block is an
// allocation of its own, so that the emulator can check its bounds.
#pragma once

#include <vector>

#include "cuda/runtime/memory.hpp"

namespace kith::KITH_BACKEND::inline runtime {

class Workspace {
 public:
  // A budget of 0 means no limit but the device's memory.
  explicit Workspace(cudaStream_t stream, std::size_t budget = 0) : stream_(stream), budget_(budget) {}

  template <class T>
  T* allocate(std::size_t count) {
    return static_cast<T*>(allocate_bytes(count * sizeof(T)));
  }

  // Marks all blocks as reusable, and frees those that the last round did not use.
  void reset();
  // Frees, in the stream's order, the blocks that have not been allocated since reset().
  void free_unused();
  // Frees all memory, in the stream's order.
  void clear();
  cudaStream_t stream() const { return stream_; }
  std::size_t budget() const { return budget_; }
  std::size_t used() const { return used_; }  // bytes allocated since reset()
  std::size_t held() const { return held_; }  // bytes of all blocks, never more than the budget

 private:
  struct Block {
    DeviceBuffer<unsigned char> memory;
    bool in_use;
  };

  void* allocate_bytes(std::size_t bytes);

  cudaStream_t stream_;
  std::size_t budget_;
  std::size_t used_ = 0;
  std::size_t held_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace kith::KITH_BACKEND::inline runtime
