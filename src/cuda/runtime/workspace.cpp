// workspace.cpp: blocks are reused by exact size, first fit.
#include "cuda/runtime/workspace.hpp"

#include <algorithm>
#include <string>

#include "kith/error.hpp"

namespace kith::KITH_BACKEND::inline runtime {

void* Workspace::allocate_bytes(std::size_t bytes) {
  if (budget_ > 0 && used_ + bytes > budget_)
    throw Error(ErrorCode::out_of_memory, "a workspace of " + std::to_string(used_ + bytes) +
                                              " bytes is needed; the budget is " + std::to_string(budget_));
  used_ += bytes;
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  for (Block& block : blocks_) {
    if (block.in_use || block.memory.size() != size) continue;
    block.in_use = true;
    return block.memory.data();
  }
  // What a round of other sizes does not reuse goes first: its memory serves the new block, in the stream's order.
  free_unused();
  blocks_.push_back({DeviceBuffer<unsigned char>(size, stream_), true});
  held_ += size;
  return blocks_.back().memory.data();
}

void Workspace::free_unused() {
  for (const Block& block : blocks_) held_ -= block.in_use ? 0 : block.memory.size();
  std::erase_if(blocks_, [](const Block& block) { return !block.in_use; });
}

void Workspace::reset() {
  free_unused();
  for (Block& block : blocks_) block.in_use = false;
  used_ = 0;
}

void Workspace::clear() {
  blocks_.clear();
  used_ = 0;
  held_ = 0;
}

}  // namespace kith::KITH_BACKEND::inline runtime
