// The bytes of an npy file, produced in order as somebody asks for them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kith/io.hpp"

namespace kith::io {

class NpyStream {
 public:
  explicit NpyStream(const Array& array);

  std::size_t size() const;  // of the whole file
  void rewind();
  // Up to `size` bytes; 0 at the end.
  std::size_t read(std::byte* out, std::size_t size) noexcept;

 private:
  void refill() noexcept;

  Array array_;
  std::string header_;
  std::vector<double> block_;  // packed rows, aligned for every type
  std::int64_t block_rows_;
  std::int64_t next_row_ = 0;
  const std::byte* at_ = nullptr;  // what is left of the header or of the block
  std::size_t left_ = 0;
};

}  // namespace kith::io
