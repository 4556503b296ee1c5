#include "io/vecs.hpp"

#include <cstring>
#include <limits>

#include "io/row_blocks.hpp"
#include "io/scalar_types.hpp"
#include "io/sink.hpp"

namespace kith::io {
namespace {

constexpr std::int64_t kDimensionBytes = 4;

std::int32_t dimension_at(const Source& source, std::size_t offset) {
  std::int32_t dimension = 0;
  std::memcpy(&dimension, source.bytes.data() + offset, sizeof dimension);
  return dimension;
}

}  // namespace

ArrayInfo describe_vecs(const Source& source, ElementType type) {
  const auto size = static_cast<std::int64_t>(source.size());
  if (size == 0) fail_at(source, 0, "the file is empty");
  if (size < kDimensionBytes) fail_at(source, 0, "truncated: no room for a dimension");
  const std::int64_t cols = dimension_at(source, 0);
  if (cols < 1) fail_at(source, 0, "row 0 has dimension " + std::to_string(cols));
  const std::int64_t row_bytes = kDimensionBytes + cols * size_of(type);
  if (size % row_bytes != 0) {
    fail_at(source, static_cast<std::size_t>(size - size % row_bytes),
            "truncated: dimension " + std::to_string(cols) + " makes rows of " + std::to_string(row_bytes) +
                " bytes, and " + counted(size % row_bytes, "byte") + " are left at the end");
  }
  return {"", type, 2, size / row_bytes, cols, ""};
}

Array parse_vecs(const Source& source, ElementType type) {
  return parse_vecs_rows(source, type, 0, describe_vecs(source, type).rows);
}

Array parse_vecs_rows(const Source& source, ElementType type, std::int64_t first, std::int64_t count) {
  const ArrayInfo info = describe_vecs(source, type);
  const std::int64_t row_bytes = kDimensionBytes + info.cols * size_of(type);
  for (std::int64_t row = first; row < first + count; ++row) {
    const auto offset = static_cast<std::size_t>(row * row_bytes);
    const std::int32_t dimension = dimension_at(source, offset);
    if (dimension != info.cols) {
      fail_at(source, offset,
              "row " + std::to_string(row) + " has dimension " + std::to_string(dimension) + " but row 0 has " +
                  std::to_string(info.cols));
    }
  }
  const std::byte* const data = source.bytes.data() + first * row_bytes + kDimensionBytes;
  return {type, 2, count, info.cols, data, row_bytes / size_of(type), 1, source.owner};
}

void write_vecs(Sink& sink, const Array& array, ElementType type) {
  if (array.rows() == 0 || array.cols() == 0 || array.cols() > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::invalid_argument, "fvecs, bvecs and ivecs cannot hold " + counted(array.rows(), "row") +
                                                 " of " + counted(array.cols(), "column"));
  }
  const auto dimension = static_cast<std::int32_t>(array.cols());
  const auto row_bytes = static_cast<std::size_t>(array.cols() * size_of(type));
  for_row_blocks(array, type, [&](const std::byte* rows, std::int64_t count) {
    for (std::int64_t row = 0; row < count; ++row, rows += row_bytes) {
      sink.write(&dimension, sizeof dimension);
      sink.write(rows, row_bytes);
    }
  });
}

}  // namespace kith::io
