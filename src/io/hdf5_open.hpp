// Opening an HDF5 file and what is in it. libhdf5 gets the bytes of the source, not the path: the file may have been
// replaced since it was mapped, and offsets of one file would then be looked up in another.
#pragma once

#include <string>
#include <vector>

#include "io/hdf5_handle.hpp"
#include "io/source.hpp"

namespace kith::io {

// The source must outlive the handle. Every handle below closes with the file.
Hdf5Handle open_hdf5(const Source& source);

// The root group's datasets, by name.
std::vector<std::string> root_datasets(const Source& source, hid_t file);

// The dataset at "group/.../name". Only hard links are followed: soft and external ones may lead into other files.
Hdf5Handle open_dataset(const Source& source, hid_t file, const std::string& path);

// Error(bad_data): "name: what: libhdf5's reason", and "name: dataset 'x': reason".
[[noreturn]] void fail_hdf5(const Source& source, const std::string& what);
[[noreturn]] void refuse_dataset(const Source& source, const std::string& name, const std::string& reason);

}  // namespace kith::io
