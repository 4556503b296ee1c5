// The header of a PLY file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/scalar_types.hpp"
#include "io/source.hpp"

namespace kith::io {

struct PlyProperty {
  std::string name;
  StoredType type;  // of a list: its items
  bool list = false;
  StoredType count;  // of a list: its length
};

struct PlyElement {
  std::string name;
  std::int64_t count = 0;
  std::int64_t line = 0;  // where the header declares it
  std::vector<PlyProperty> properties;
};

enum class PlyEncoding { ascii, little_endian, big_endian };

struct PlyHeader {
  PlyEncoding encoding = PlyEncoding::ascii;
  std::vector<PlyElement> elements;
  std::size_t vertex = 0;       // which element is "vertex"
  std::size_t data_offset = 0;  // of the first byte after the header
  std::int64_t lines = 0;       // of the header
};

// Every element has properties, and "vertex" is there once.
PlyHeader parse_ply_header(const Source& source);

}  // namespace kith::io
