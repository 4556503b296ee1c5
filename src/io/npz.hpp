// NumPy's npz archives: zip files of npy entries, stored or deflated. Reading: an entry is unpacked into memory that
// grows with what it yields, and no further than its npy header says. Writing: streamed, entries dated 1980 so that
// equal arrays make equal files.
#pragma once

#include <string>
#include <vector>

#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

class OutputFile;

// Array names (entries without their ".npy") in the archive's order. Error(bad_data) when two are equal.
std::vector<std::string> npz_names(const Source& source);

Array parse_npz(const Source& source, const std::string& name);

// Every array, in the archive's order.
NamedArrays parse_npz(const Source& source);

// Reads each entry up to the end of its npy header.
std::vector<ArrayInfo> describe_npz(const Source& source);

void write_npz(OutputFile& file, const NamedArrays& arrays, bool compress);

}  // namespace kith::io
