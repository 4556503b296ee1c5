// workspace.hpp: scratch memory of one stream, under a budget.
// take() hands out pieces until reset(); what was allocated is kept, so that a second call like the first allocates
// nothing. A piece taken after reset() may be one that earlier work of the same stream still uses: that work is
// finished before later work of the stream starts. Each piece is a block of its own, so the emulator watches its
// bounds.
#pragma once

#include <vector>

#include "cuda/runtime/memory.hpp"

namespace kith::KITH_BACKEND::inline runtime {

class Workspace {
 public:
  // A budget of 0 is no limit but the device's memory.
  explicit Workspace(cudaStream_t stream, std::size_t budget = 0) : stream_(stream), budget_(budget) {}

  template <class T>
  T* take(std::size_t count) {
    return static_cast<T*>(take_bytes(count * sizeof(T)));
  }

  void reset();
  // Gives back, in the stream's order, what the last round has left and this one has not taken so far.
  void drop_untaken();
  // Gives all memory back, in the stream's order.
  void clear();
  cudaStream_t stream() const { return stream_; }
  std::size_t budget() const { return budget_; }
  std::size_t used() const { return used_; }  // bytes handed out since reset()
  std::size_t held() const { return held_; }  // bytes of the device it has, never more than the budget

 private:
  struct Block {
    DeviceBuffer<unsigned char> memory;
    bool taken;
  };

  void* take_bytes(std::size_t bytes);

  cudaStream_t stream_;
  std::size_t budget_;
  std::size_t used_ = 0;
  std::size_t held_ = 0;  // bytes of all blocks
  std::vector<Block> blocks_;
};

}  // namespace kith::KITH_BACKEND::inline runtime
