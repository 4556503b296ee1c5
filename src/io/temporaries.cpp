#include "io/temporaries.hpp"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "kith/io.hpp"

namespace kith::io {
namespace {

enum State : int { kFree, kFilling, kLive };

struct Slot {
  std::atomic<int> state = kFree;
  std::array<char, PATH_MAX> path;
};
static_assert(std::atomic<int>::is_always_lock_free);

constexpr std::size_t kSlots = 32;
std::array<Slot, kSlots> slots;

}  // namespace

std::size_t register_temporary(const std::string& path) noexcept {
  if (path.size() >= PATH_MAX) return kNoSlot;
  for (std::size_t i = 0; i < kSlots; ++i) {
    int expected = kFree;
    if (!slots[i].state.compare_exchange_strong(expected, kFilling)) continue;
    std::memcpy(slots[i].path.data(), path.c_str(), path.size() + 1);
    slots[i].state = kLive;
    return i;
  }
  return kNoSlot;
}

void forget_temporary(std::size_t slot) noexcept {
  if (slot != kNoSlot) slots[slot].state = kFree;
}

void remove_temporaries() noexcept {
  const int error = errno;
  for (Slot& slot : slots) {
    if (slot.state == kLive) ::unlink(slot.path.data());
  }
  errno = error;
}

}  // namespace kith::io
