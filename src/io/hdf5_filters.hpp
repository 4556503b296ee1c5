// Undoes what was done to a chunk of an HDF5 dataset before it was stored: deflate, shuffle, fletcher32. libhdf5 could,
// but unpacks whatever a damaged or crafted chunk yields; here the memory is bounded by the chunk's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5_layout.hpp"

namespace kith::io {

// From a chunk's bytes as they are stored to layout.chunk_bytes elements' bytes, in place. Bit i of `skipped` says that
// filter i was not applied. Returns what is wrong with the chunk, or nothing.
std::string undo_filters(const Hdf5Layout& layout, std::uint32_t skipped, std::vector<std::byte>& bytes);

}  // namespace kith::io
