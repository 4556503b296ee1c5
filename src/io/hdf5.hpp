// HDF5 files: datasets of one or two dimensions, and the root group's attributes. ann-benchmarks files hold the
// datasets train, test, neighbors, distances and the attributes distance, type.
//
// Of libhdf5 only its parser is used, over the bytes of the source: what it says of a dataset is checked before memory
// is taken (hdf5_layout), values, filters and attributes are read here (hdf5_chunks, hdf5_filters, hdf5_attributes). A
// damaged file can still upset that parser: read files of unknown origin in a process of their own.
//
// libhdf5 keeps global state; calls from several threads take turns.
#pragma once

#include <string>
#include <vector>

#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

class OutputFile;

// Datasets of the root group, by name.
std::vector<std::string> hdf5_names(const Source& source);

// `name` may lead through groups: "group/name". Contiguous native datasets are views into the source.
Array parse_hdf5(const Source& source, const std::string& name);

// Fills arrays and attributes.
FileInfo describe_hdf5(const Source& source);

void write_hdf5(OutputFile& file, const NamedArrays& arrays, const Attributes& attributes, bool compress);

}  // namespace kith::io
