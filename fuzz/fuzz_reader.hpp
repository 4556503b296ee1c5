// What every fuzz target does with a reader: whatever the bytes, it returns an array whose every element can be read,
// or throws Error(bad_data) or Error(invalid_argument). Anything else (another exception, an allocation that fails, a
// description that contradicts the array) is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

inline void require(bool holds) {
  if (!holds) std::abort();
}

// Reads every element, so that a view beyond its memory shows.
inline void touch(const Array& array) {
  std::vector<double> row(static_cast<std::size_t>(array.size() > 0 ? array.cols() : 0));
  for (std::int64_t i = 0; array.cols() > 0 && i < array.rows(); ++i) {
    array.copy_rows(i, 1, ElementType::float64, row.data());
  }
}

inline void require_described(const Array& array, const ArrayInfo& info) {
  require(info.problem.empty() && info.type == array.type() && info.rank == array.rank() && info.rows == array.rows() &&
          info.cols == array.cols());
}

template <class F>
void expect_array_or_error(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_data || error.code() == ErrorCode::invalid_argument);
  }
}

// f(source) over a copy of the input in memory of its exact size.
template <class F>
int fuzz_source(const std::uint8_t* data, std::size_t size, F&& f) {
  const std::shared_ptr<std::byte> copy = allocate(static_cast<std::int64_t>(size));
  if (size > 0) std::memcpy(copy.get(), data, size);
  const Source source = {"input", {copy.get(), size}, nullptr};
  expect_array_or_error([&] { f(source); });
  return 0;
}

}  // namespace kith::io
