// The library's version; CMake reads the numbers from here.
#pragma once

#include "kith/export.hpp"

#define KITH_VERSION_MAJOR 0
#define KITH_VERSION_MINOR 1
#define KITH_VERSION_PATCH 0

namespace kith {

// "major.minor.patch" of the library that was linked, which may be newer than the header.
KITH_API const char* version() noexcept;

}  // namespace kith
