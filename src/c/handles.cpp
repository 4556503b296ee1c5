#include "c/handles.hpp"

#include <atomic>

#include "kith.h"

namespace kith::c {
namespace {

std::atomic<std::uintptr_t> last_number{1};
std::atomic<std::int64_t> live{0};

}  // namespace

std::uintptr_t next_handle() noexcept {
  return last_number.fetch_add(2) + 2;
}

void count_handles(std::int64_t change) noexcept {
  live += change;
}

}  // namespace kith::c

int64_t kith_live_handles(void) noexcept {
  return kith::c::live;
}
