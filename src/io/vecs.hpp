// fvecs, bvecs and ivecs: every row is a little-endian int32 dimension followed by that many elements.
// All rows must have the same dimension, so the file is a strided matrix and is used as it lies.
#pragma once

#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

class Sink;

// Reads every row's dimension.
Array parse_vecs(const Source& source, ElementType type);
// Rows first … first + count − 1 of it; the others are not looked at.
Array parse_vecs_rows(const Source& source, ElementType type, std::int64_t first, std::int64_t count);

// By the first row's dimension and the size alone.
ArrayInfo describe_vecs(const Source& source, ElementType type);

void write_vecs(Sink& sink, const Array& array, ElementType type);

}  // namespace kith::io
