// What the header of an HDF5 dataset says, checked against the file before any memory is taken: no data in other files,
// no more elements than the stored bytes can unpack to, no chunk that is out of proportion to the dataset, and only
// filters that Kith undoes itself.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/scalar_types.hpp"
#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

enum class Hdf5Filter { deflate, shuffle, fletcher32 };

struct Hdf5Layout {
  enum class Storage { contiguous, compact, chunked };

  ArrayInfo info;
  StoredType stored;
  Storage storage = Storage::contiguous;
  std::int64_t bytes = 0;  // of all elements as they are stored
  // Of chunked storage:
  std::int64_t chunk_rows = 0;
  std::int64_t chunk_cols = 0;
  std::int64_t chunk_bytes = 0;     // before filters
  std::vector<Hdf5Filter> filters;  // in the order in which they were applied, none twice
};

Hdf5Layout read_layout(const Source& source, hid_t dataset, const std::string& name);

}  // namespace kith::io
