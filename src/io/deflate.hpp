// Deflate, which packs zip entries and HDF5 chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kith::io {

// No byte of packed data stands for more: what claims to unpack to more is refused before memory is taken for it.
constexpr std::int64_t kMostUnpacked = 1032;

enum class Inflated { ok, damaged, too_short, too_long };

// Unpacks a zlib stream that must yield exactly out.size() bytes; nothing is written past them.
Inflated inflate_exactly(std::span<const std::byte> packed, std::span<std::byte> out);

}  // namespace kith::io
