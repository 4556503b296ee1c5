// The elements of a chunked HDF5 dataset.
#pragma once

#include <hdf5.h>

#include "io/hdf5_layout.hpp"
#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

// Chunks that were never written have the dataset's fill value. Beside the array, memory for a few chunks is taken.
Array read_chunked(const Source& source, hid_t dataset, const Hdf5Layout& layout);

// Error(bad_data) for the stored number at `in` that decode() refused.
[[noreturn]] void refuse_number(const Source& source, const Hdf5Layout& layout, std::int64_t row, std::int64_t col,
                                const std::byte* in);

}  // namespace kith::io
