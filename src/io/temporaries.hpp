// The table of temporary files that exist now. Fixed memory and lock-free flags, so that a signal handler may walk it.
#pragma once

#include <cstddef>
#include <string>

namespace kith::io {

constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);

// kNoSlot when the table is full or the path too long: the file is then removed in the ordinary ways only.
std::size_t register_temporary(const std::string& path) noexcept;
void forget_temporary(std::size_t slot) noexcept;

}  // namespace kith::io
