// packed_rows.hpp: rows of zeros and ones as packed bits, for contenders that take those.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/bits.hpp"
#include "kith/matrix.hpp"

namespace kith::bench {

class PackedRows {
 public:
  explicit PackedRows(const Matrix<std::uint8_t>& rows)
      : rows_(rows.rows()), bits_(rows.cols()), bytes_(static_cast<std::size_t>(rows_ * bit_bytes(bits_))) {
    for (std::int64_t row = 0; row < rows_; ++row) {
      std::uint8_t* const to = bytes_.data() + row * bit_bytes(bits_);
      for (std::int64_t at = 0; at < bits_; ++at)
        to[at / 8] = static_cast<std::uint8_t>(to[at / 8] | (rows(row, at) != 0 ? 0x80 >> at % 8 : 0));
    }
  }

  BitsView view() const { return {bytes_.data(), rows_, bits_}; }

 private:
  std::int64_t rows_;
  std::int64_t bits_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace kith::bench
