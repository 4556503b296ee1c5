// Numbers and pieces of a part of a file, in order. Whatever leads out of the part is Error(bad_data).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "io/source.hpp"

namespace kith::io {

class Hdf5Fields {
 public:
  // The bytes from `begin` to the end of the file.
  Hdf5Fields(const Source& source, std::uint64_t begin) : source_(&source), at_(begin), end_(source.size()) {
    if (begin > end_) fail_at(source, source.size(), "an address leads out of the file");
  }

  std::uint64_t left() const { return end_ - at_; }
  std::string_view text() const { return source_->text().substr(at_, left()); }

  // A piece of its own, after which padding up to a multiple of `unit` is skipped.
  Hdf5Fields piece(std::uint64_t size, std::uint64_t unit = 1) {
    if (size > left()) fail_at(*source_, at_, "a length leads out of its part");
    Hdf5Fields inner = *this;
    inner.end_ = at_ + size;
    at_ += std::min(left(), (size + unit - 1) / unit * unit);
    return inner;
  }

  void skip(std::uint64_t size) { piece(size); }
  bool skip(std::string_view expected) {
    if (!text().starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }

  // Little-endian, of 1 to 8 bytes.
  std::uint64_t number(std::uint64_t bytes) {
    std::uint64_t value = 0;
    const std::string_view field = piece(bytes).text();
    for (std::size_t i = 0; i < field.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(field[i])} << (8 * i);
    return value;
  }

 private:
  const Source* source_;
  std::uint64_t at_;
  std::uint64_t end_;
};

}  // namespace kith::io
