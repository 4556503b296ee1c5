// The billion-scale formats: fbin, f16bin, bf16bin, u8bin, i8bin, ibin (uint32 rows, uint32 columns, the elements) and
// their ground truth (uint32 rows, uint32 k, all int32 ids, then all float32 distances). Little endian; sizes are
// computed in 64 bits and must match the file exactly.
#pragma once

#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

class Sink;

Array parse_bin(const Source& source, ElementType type);
ArrayInfo describe_bin(const Source& source, ElementType type);
void write_bin(Sink& sink, const Array& array, ElementType type);

// The arrays "ids" and "distances".
NamedArrays parse_groundtruth(const Source& source);
std::vector<ArrayInfo> describe_groundtruth(const Source& source);
void write_groundtruth(Sink& sink, const Array& ids, const Array& distances);

}  // namespace kith::io
