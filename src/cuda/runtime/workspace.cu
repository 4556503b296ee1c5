#include "cuda/runtime/workspace.hpp"

#include <algorithm>
#include <string>

#include "kith/error.hpp"

namespace kith::KITH_BACKEND {

void* Workspace::take_bytes(std::size_t bytes) {
  if (budget_ > 0 && used_ + bytes > budget_)
    throw Error(ErrorCode::out_of_memory, "a workspace of " + std::to_string(used_ + bytes) +
                                              " bytes is needed; the budget is " + std::to_string(budget_));
  used_ += bytes;
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  for (Block& block : blocks_) {
    if (block.taken || block.memory.size() != size) continue;
    block.taken = true;
    return block.memory.data();
  }
  blocks_.push_back({DeviceBuffer<unsigned char>(size, stream_), true});
  return blocks_.back().memory.data();
}

// What the last round did not need is given back.
void Workspace::reset() {
  std::erase_if(blocks_, [](const Block& block) { return !block.taken; });
  for (Block& block : blocks_) block.taken = false;
  used_ = 0;
}

}  // namespace kith::KITH_BACKEND
