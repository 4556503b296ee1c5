#include "device/select/truth.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/parallel.hpp"

namespace kith::bench::device::select {
namespace {

template <class V>
std::vector<V> copied(const V* from, std::size_t count) {
  std::vector<V> values(count);
  KITH_CUDA(cudaMemcpy(values.data(), from, count * sizeof(V), cudaMemcpyDeviceToHost));
  return values;
}

}  // namespace

Truth::Truth(const DeviceMatrix& matrix, unsigned most) {
  const std::int64_t rows = matrix.shape().rows;
  for (const std::int64_t row : {std::int64_t{0}, rows / 2, rows - 1}) {
    std::vector<Item>& items = rows_[row];
    items.clear();
    for (const float value : copied(matrix.data() + row * matrix.shape().length, matrix.shape().length))
      items.emplace_back(value, static_cast<unsigned>(items.size()));
  }
  std::vector<std::vector<Item>*> all;
  for (auto& [row, items] : rows_) all.push_back(&items);
  for_parts(static_cast<std::int64_t>(all.size()), 1, static_cast<int>(all.size()), [&](std::int64_t i, std::int64_t) {
    std::vector<Item>& items = *all[static_cast<std::size_t>(i)];
    if (most < items.size()) std::nth_element(items.begin(), items.begin() + most, items.end());
    items.resize(most);
    std::sort(items.begin(), items.end());
  });
}

std::string Truth::fault(const DeviceAnswer& answer, unsigned k, bool sorted) const {
  for (const auto& [row, truth] : rows_) {
    const std::vector<float> values = copied(answer.values.data() + row * k, k);
    const std::vector<std::int64_t> ids = copied(answer.ids.data() + row * k, k);
    std::vector<Item> items;
    for (unsigned i = 0; i < k; ++i) items.emplace_back(values[i], static_cast<unsigned>(ids[i]));
    if (!sorted) std::sort(items.begin(), items.end());
    const auto [got, wanted] = std::mismatch(items.begin(), items.end(), truth.begin());
    if (got != items.end())
      return fmt::format("row {}, rank {}: ({}, {}) instead of ({}, {})", row, got - items.begin(), got->first,
                         got->second, wanted->first, wanted->second);
  }
  return "";
}

}  // namespace kith::bench::device::select
