// qemu.hpp: whether qemu emulates the processor, which takes many times as long.
#pragma once

#include <cstdlib>

namespace kith::test {

inline bool under_qemu() {
  return std::getenv("KITH_QEMU") != nullptr;
}

}  // namespace kith::test
