// The messages in the object header of an HDF5 file's root group, and the heap that values of variable length are in.
// Written after the HDF5 File Format Specification, version 3.0; addresses and lengths have eight bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "io/hdf5_fields.hpp"

namespace kith::io {

struct Hdf5Message {
  std::uint64_t type;
  std::uint64_t flags;
  Hdf5Fields body;
};

// Its functions throw Error(bad_data) at what is damaged.
class Hdf5Metadata {
 public:
  explicit Hdf5Metadata(const Source& source);

  std::vector<Hdf5Message> root_messages() const;

  // Object `index` of the global heap at `address`.
  std::string_view heap_object(std::uint64_t address, std::uint64_t index) const;

 private:
  Hdf5Fields at(std::uint64_t address) const;

  const Source& source_;
  std::uint64_t base_ = 0;  // where the file proper begins, after what a user may have put before it
  std::uint64_t root_ = 0;  // address of the root group's object header
};

}  // namespace kith::io
