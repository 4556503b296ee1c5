#include "cuda/runtime/workspace.hpp"

#include <algorithm>
#include <string>

#include "kith/error.hpp"

namespace kith::KITH_BACKEND::inline runtime {

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
  // Blocks of other sizes must not stand beside the new ones beyond the budget.
  if (budget_ > 0 && held_ + size > budget_) drop_untaken();
  blocks_.push_back({DeviceBuffer<unsigned char>(size, stream_), true});
  held_ += size;
  return blocks_.back().memory.data();
}

void Workspace::drop_untaken() {
  for (const Block& block : blocks_) held_ -= block.taken ? 0 : block.memory.size();
  std::erase_if(blocks_, [](const Block& block) { return !block.taken; });
}

// What the last round did not need is given back.
void Workspace::reset() {
  drop_untaken();
  for (Block& block : blocks_) block.taken = false;
  used_ = 0;
}

void Workspace::clear() {
  blocks_.clear();
  used_ = 0;
  held_ = 0;
}

}  // namespace kith::KITH_BACKEND::inline runtime
