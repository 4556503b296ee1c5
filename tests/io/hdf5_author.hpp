// HDF5 files with what Kith does not write, and with what nobody should.
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5_handle.hpp"

namespace kith::io {

// IEEE's binary16 when the bias is 15.
inline Hdf5Handle half_type(std::size_t bias, hid_t like = H5T_IEEE_F32LE) {
  Hdf5Handle half(H5Tcopy(like), H5Tclose);
  H5Tset_fields(half.get(), 15, 10, 5, 0, 10);
  H5Tset_size(half.get(), 2);
  H5Tset_ebias(half.get(), bias);
  return half;
}

// bfloat16 as version 2 of libhdf5 defines it.
inline Hdf5Handle bfloat16_type(hid_t like = H5T_IEEE_F32LE) {
  Hdf5Handle type(H5Tcopy(like), H5Tclose);
  H5Tset_fields(type.get(), 15, 7, 8, 0, 7);
  H5Tset_size(type.get(), 2);
  return type;
}

// The properties of a chunked dataset; filters are added to it.
inline Hdf5Handle chunks(const std::vector<hsize_t>& dims) {
  Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(creation.get(), static_cast<int>(dims.size()), dims.data());
  return creation;
}

// A file written by libhdf5 itself.
class Author {
 public:
  explicit Author(const std::string& path, hid_t creation = H5P_DEFAULT, hid_t access = H5P_DEFAULT)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose) {}

  hid_t file() const { return file_.get(); }

  // A dataset with `data` in `memory` type, or none; one in chunks may grow.
  void dataset(const char* name, hid_t type, std::vector<hsize_t> dims, hid_t memory, const void* data,
               hid_t creation = H5P_DEFAULT) const {
    const std::vector<hsize_t> unlimited(dims.size(), H5S_UNLIMITED);
    const bool chunked = creation != H5P_DEFAULT && H5Pget_layout(creation) == H5D_CHUNKED;
    const Hdf5Handle space(
        H5Screate_simple(static_cast<int>(dims.size()), dims.data(), chunked ? unlimited.data() : nullptr), H5Sclose);
    const Hdf5Handle set(H5Dcreate2(file(), name, type, space.get(), H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
    ASSERT_TRUE(set.valid());
    if (data != nullptr) {
      ASSERT_GE(H5Dwrite(set.get(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0);
    }
  }

  // The bytes of the chunk that begins at the first element, as if filters had made them; bit i of `skipped` says that
  // filter i has not.
  void raw_chunk(const char* name, const std::string& bytes, std::uint32_t skipped = 0) const {
    const Hdf5Handle set(H5Dopen2(file(), name, H5P_DEFAULT), H5Dclose);
    const hsize_t begin[2] = {0, 0};
    ASSERT_GE(H5Dwrite_chunk(set.get(), H5P_DEFAULT, skipped, begin, bytes.size(), bytes.data()), 0);
  }

  void attribute(const char* name, hid_t type, const void* value) const {
    const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Handle made(H5Acreate2(file(), name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    ASSERT_GE(H5Awrite(made.get(), type, value), 0);
  }

 private:
  Hdf5Handle file_;
};

}  // namespace kith::io
