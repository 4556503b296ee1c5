#include "truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <set>

namespace kith::select_bench {

Truth::Row Truth::row_of(const DeviceMatrix& matrix, std::int64_t row, unsigned most) {
  const std::vector<float> values = matrix.copy_row(row);
  std::vector<Item> items(values.size());
  for (unsigned i = 0; i < items.size(); ++i) items[i] = {values[i], i};
  const auto end = items.begin() + most;
  if (most < items.size()) std::nth_element(items.begin(), end, items.end(), before);
  std::sort(items.begin(), end, before);
  return {row, {items.begin(), end}};
}

Truth::Truth(const DeviceMatrix& matrix, unsigned most) {
  const std::int64_t rows = matrix.shape().rows;
  std::vector<std::future<Row>> made;
  for (const std::int64_t row : std::set<std::int64_t>{0, rows / 2, rows - 1})
    made.push_back(std::async(std::launch::async, [&matrix, row, most] { return row_of(matrix, row, most); }));
  for (auto& row : made) rows_.push_back(row.get());
}

std::vector<Truth::Item> Truth::copy_row(const Answer& answer, std::int64_t row, unsigned k) {
  std::vector<float> values(k);
  std::vector<std::int64_t> ids(k);
  KITH_CUDA(cudaMemcpy(values.data(), answer.values.data() + row * k, k * sizeof(float), cudaMemcpyDeviceToHost));
  KITH_CUDA(cudaMemcpy(ids.data(), answer.ids.data() + row * k, k * sizeof(std::int64_t), cudaMemcpyDeviceToHost));
  std::vector<Item> items(k);
  for (unsigned i = 0; i < k; ++i) items[i] = {values[i], static_cast<unsigned>(ids[i])};
  return items;
}

std::string Truth::fault(const Answer& answer, unsigned k, bool sorted) const {
  for (const Row& truth : rows_) {
    std::vector<Item> items = copy_row(answer, truth.row, k);
    if (!sorted) std::sort(items.begin(), items.end(), before);
    const auto [got, wanted] = std::mismatch(items.begin(), items.end(), truth.first.begin());
    if (got == items.end()) continue;
    return fmt::format("row {}, rank {}: ({}, {}) instead of ({}, {})", truth.row, got - items.begin(), got->value,
                       got->id, wanted->value, wanted->id);
  }
  return "";
}

}  // namespace kith::select_bench
