// What each format can do, and which one a file is.
#pragma once

#include <optional>

#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

// The one element type of vecs and bin formats.
std::optional<ElementType> fixed_type(Format format);

// By the bytes a file begins with; automatic when they tell nothing.
Format sniff(const Source& source);

}  // namespace kith::io
