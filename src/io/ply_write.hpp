// Points as the vertices of a PLY file: properties x, y, z, as many as there are columns, and nx, ny, nz of six.
#pragma once

#include "kith/io.hpp"

namespace kith::io {

class Sink;

// Binary little endian, or ascii when `text`.
void write_ply(Sink& sink, const Array& array, bool text);

}  // namespace kith::io
