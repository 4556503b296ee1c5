// truth.hpp: the answer of a few rows, by std::nth_element and std::sort on the host.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "device/select/matrix.hpp"

namespace kith::bench::device::select {

class Truth {
 public:
  // Of the first, the middle and the last row; right for every k up to `most`.
  Truth(const DeviceMatrix& matrix, unsigned most);

  // Empty, or the first difference. The stream must have finished.
  std::string fault(const DeviceAnswer& answer, unsigned k, bool sorted) const;

 private:
  using Item = std::pair<float, unsigned>;  // value and id, compared in this order

  std::map<std::int64_t, std::vector<Item>> rows_;  // the first ones of each
};

}  // namespace kith::bench::device::select
