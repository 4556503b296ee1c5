// HDF5 files: datasets of one or two dimensions, and the root group's attributes. ann-benchmarks files hold the
// datasets train, test, neighbors, distances and the attributes distance, type.
//
// What is asked of libhdf5 is bounded: a dataset is refused before any memory is taken when its dimensions exceed what
// its stored bytes could unpack to, when it lives in other files (external, virtual), or when its type is not a plain
// number. A damaged file can still upset libhdf5's own parser: read files of unknown origin in a process of their own.
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
