// row_set.hpp: some of the rows of a segment, a bit for each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::api {

class RowSet {
 public:
  // All rows, or none.
  RowSet(std::int64_t rows, bool all)
      : rows_(rows), words_(static_cast<std::size_t>((rows + 63) / 64), all ? ~std::uint64_t{0} : 0) {
    if (all && rows % 64 != 0) words_.back() = (std::uint64_t{1} << (rows % 64)) - 1;
  }

  std::int64_t rows() const { return rows_; }
  bool has(std::int64_t row) const { return (word(row) >> (row % 64) & 1) != 0; }
  void add(std::int64_t row) { words_[static_cast<std::size_t>(row / 64)] |= std::uint64_t{1} << (row % 64); }
  void remove(std::int64_t row) { words_[static_cast<std::size_t>(row / 64)] &= ~(std::uint64_t{1} << (row % 64)); }
  // Leaves those that the other has too.
  void intersect(const RowSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }
  std::int64_t count() const {
    std::int64_t sum = 0;
    for (const std::uint64_t each : words_) sum += std::popcount(each);
    return sum;
  }
  // Calls visit(row) in their order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1)
        visit(static_cast<std::int64_t>(i) * 64 + std::countr_zero(left));
  }
  // The words themselves, bit i % 64 of word i / 64 for row i.
  std::vector<std::uint64_t>& words() { return words_; }
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::uint64_t word(std::int64_t row) const { return words_[static_cast<std::size_t>(row / 64)]; }

  std::int64_t rows_;
  std::vector<std::uint64_t> words_;
};

}  // namespace kith::api
