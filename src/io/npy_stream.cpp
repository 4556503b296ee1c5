#include "io/npy_stream.hpp"

#include <algorithm>
#include <cstring>

#include "io/npy.hpp"
#include "io/row_blocks.hpp"

namespace kith::io {

NpyStream::NpyStream(const Array& array)
    : array_(array),
      header_(npy_header_text(array)),
      block_rows_(std::min(array.rows(), rows_per_block(array.cols() * size_of(array.type())))) {
  block_.resize(static_cast<std::size_t>((block_rows_ * array.cols() * size_of(array.type()) + 7) / 8));
  rewind();
}

std::size_t NpyStream::size() const {
  return header_.size() + static_cast<std::size_t>(array_.size() * size_of(array_.type()));
}

void NpyStream::rewind() {
  next_row_ = array_.cols() == 0 ? array_.rows() : 0;
  at_ = reinterpret_cast<const std::byte*>(header_.data());
  left_ = header_.size();
}

std::size_t NpyStream::read(std::byte* out, std::size_t size) noexcept {
  std::size_t done = 0;
  while (done < size) {
    if (left_ == 0) refill();
    if (left_ == 0) break;
    const std::size_t count = std::min(left_, size - done);
    std::memcpy(out + done, at_, count);
    done += count;
    at_ += count;
    left_ -= count;
  }
  return done;
}

void NpyStream::refill() noexcept {
  const std::int64_t count = std::min(block_rows_, array_.rows() - next_row_);
  if (count == 0) return;
  array_.copy_rows(next_row_, count, array_.type(), block_.data());
  next_row_ += count;
  at_ = reinterpret_cast<const std::byte*>(block_.data());
  left_ = static_cast<std::size_t>(count * array_.cols() * size_of(array_.type()));
}

}  // namespace kith::io
