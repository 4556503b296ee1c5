// The memory in which libhdf5 builds a file: a mapping of the temporary file, or plain memory for a pipe.
//
// libhdf5 does not survive a failed write (closing the file then crashes), so it is never given a disk that can fill:
// room for the largest possible result is reserved first, and the file is cut to its true size at the end.
#pragma once

#include <hdf5.h>

#include <cstddef>

#include "io/output_file.hpp"

namespace kith::io {

class Hdf5Image {
 public:
  // Error(cannot_write) when the disk has not `reserve` bytes.
  Hdf5Image(OutputFile& file, std::size_t reserve);
  ~Hdf5Image();
  Hdf5Image(const Hdf5Image&) = delete;
  Hdf5Image& operator=(const Hdf5Image&) = delete;

  // Makes files created with this access list live in the image.
  bool attach(hid_t access);

  // The file is complete and has this size.
  void finish(std::size_t size);

 private:
  static void* allocate(std::size_t size, H5FD_file_image_op_t operation, void* image);
  static void* resize(void* data, std::size_t size, H5FD_file_image_op_t operation, void* image);
  static herr_t release(void* data, H5FD_file_image_op_t operation, void* image);

  OutputFile& file_;
  std::byte* data_ = nullptr;
  std::size_t reserve_;
};

}  // namespace kith::io
