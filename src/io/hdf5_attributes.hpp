// The attributes of an HDF5 file's root group, read without libhdf5, which trusts the sizes that a file gives for
// values of variable length and crashes where they are wrong.
//
// Read are single strings, of fixed or variable length, and integers, from the group's object header. Attributes are
// descriptions: what is damaged or stored otherwise (shared types, the dense storage of very many) is left out.
#pragma once

#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

Attributes read_hdf5_attributes(const Source& source);

}  // namespace kith::io
