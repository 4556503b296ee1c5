// PLY point files: ascii, binary little endian, binary big endian. Reads scalar properties of the element "vertex";
// list properties and other elements are stepped over, and checked to be there. Properties that share an element type
// keep it, 8- and 16-bit integers among float32 become float32, everything else float64.
#pragma once

#include <string>
#include <vector>

#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

// `columns`: names of vertex properties; empty: x, y and z, as many as there are.
Array parse_ply(const Source& source, const std::vector<std::string>& columns);

// By the header alone. Fills arrays and columns.
FileInfo describe_ply(const Source& source, const std::vector<std::string>& columns);

}  // namespace kith::io
