// truth.hpp: the answer of a few rows, by std::nth_element and std::sort on the host.
#pragma once

#include <string>
#include <vector>

#include "device_matrix.hpp"

namespace kith::select_bench {

class Truth {
 public:
  // Of the first, the middle and the last row; right for every k up to `most`.
  Truth(const DeviceMatrix& matrix, unsigned most);

  // Empty, or the first difference. The stream must have finished.
  std::string fault(const Answer& answer, unsigned k, bool sorted) const;

 private:
  struct Item {
    float value;
    unsigned id;
    bool operator==(const Item&) const = default;
  };
  struct Row {
    std::int64_t row;
    std::vector<Item> first;  // in order
  };

  static bool before(const Item& a, const Item& b) { return a.value != b.value ? a.value < b.value : a.id < b.id; }
  static Row row_of(const DeviceMatrix& matrix, std::int64_t row, unsigned most);
  static std::vector<Item> copy_row(const Answer& answer, std::int64_t row, unsigned k);

  std::vector<Row> rows_;
};

}  // namespace kith::select_bench
