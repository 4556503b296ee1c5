// NumPy's npy files, header versions 1 to 3.
#pragma once

#include <cstddef>
#include <string>

#include "io/scalar_types.hpp"
#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

struct NpyHeader {
  StoredType stored;
  bool fortran_order = false;
  int rank = 2;
  std::int64_t rows = 0;
  std::int64_t cols = 1;
  std::size_t data_offset = 0;
};

// Longer ones are refused, so that a packed header cannot ask for memory; the prefix has 12 bytes in versions 2 and 3.
constexpr std::size_t kLongestNpyDictionary = 65535;
constexpr std::size_t kLongestNpyHeader = 12 + kLongestNpyDictionary;

// Strict: the three keys and nothing else. The bytes may end after the header.
NpyHeader parse_npy_header(const Source& source);

// The shape and type must make exactly the bytes after the header.
void check_npy_size(const Source& source, const NpyHeader& header);

// A view into the source where the data is native and aligned, else a converted copy.
Array parse_npy(const Source& source);

ArrayInfo describe_npy(const NpyHeader& header);

// The version 1 header of a packed row-major array, padded to 64 bytes as NumPy does.
std::string npy_header_text(const Array& array);

}  // namespace kith::io
