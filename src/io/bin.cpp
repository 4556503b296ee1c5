#include "io/bin.hpp"

#include <cstring>
#include <limits>

#include "io/row_blocks.hpp"
#include "io/scalar_types.hpp"
#include "io/sink.hpp"

namespace kith::io {
namespace {

constexpr std::size_t kHeaderBytes = 8;

struct Shape {
  std::int64_t rows;
  std::int64_t cols;
};

// Checks that the header and `bytes_each` per element make the file's size.
Shape read_shape(const Source& source, std::int64_t bytes_each) {
  if (source.size() < kHeaderBytes) {
    fail_at(source, source.size(), "truncated: the header has 8 bytes (rows, columns)");
  }
  std::uint32_t header[2];
  std::memcpy(header, source.bytes.data(), sizeof header);
  const Shape shape = {header[0], header[1]};
  if (shape.cols == 0) fail_at(source, 4, "the rows have 0 columns");
  // Below 2^32 · 2^32 · 8 = 2^67: may not fit 64 bits.
  const std::int64_t needed = byte_count(shape.rows, shape.cols, bytes_each);
  const auto present = static_cast<std::int64_t>(source.size() - kHeaderBytes);
  if (needed != present) {
    fail_at(source, needed >= 0 && needed < present ? kHeaderBytes + static_cast<std::size_t>(needed) : source.size(),
            counted(shape.rows, "row") + " of " + counted(shape.cols, "column") + " need " +
                (needed < 0 ? "more than 2^63" : std::to_string(needed)) + " bytes after the header but there are " +
                std::to_string(present));
  }
  return shape;
}

void write_shape(Sink& sink, const Array& array) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (array.rows() > kMost || array.cols() > kMost || array.cols() == 0) {
    throw Error(ErrorCode::invalid_argument, "fbin, f16bin, bf16bin, u8bin, i8bin and ibin cannot hold " +
                                                 counted(array.rows(), "row") + " of " +
                                                 counted(array.cols(), "column"));
  }
  const std::uint32_t header[2] = {static_cast<std::uint32_t>(array.rows()), static_cast<std::uint32_t>(array.cols())};
  sink.write(header, sizeof header);
}

void write_elements(Sink& sink, const Array& array, ElementType type) {
  const std::int64_t row_bytes = array.cols() * size_of(type);
  for_row_blocks(array, type, [&](const std::byte* rows, std::int64_t count) {
    sink.write(rows, static_cast<std::size_t>(count * row_bytes));
  });
}

}  // namespace

ArrayInfo describe_bin(const Source& source, ElementType type) {
  const Shape shape = read_shape(source, size_of(type));
  return {"", type, 2, shape.rows, shape.cols, ""};
}

Array parse_bin(const Source& source, ElementType type) {
  const Shape shape = read_shape(source, size_of(type));
  return {type, 2, shape.rows, shape.cols, source.bytes.data() + kHeaderBytes, shape.cols, 1, source.owner};
}

void write_bin(Sink& sink, const Array& array, ElementType type) {
  write_shape(sink, array);
  write_elements(sink, array, type);
}

std::vector<ArrayInfo> describe_groundtruth(const Source& source) {
  const Shape shape = read_shape(source, 8);
  return {{"ids", ElementType::int32, 2, shape.rows, shape.cols, ""},
          {"distances", ElementType::float32, 2, shape.rows, shape.cols, ""}};
}

NamedArrays parse_groundtruth(const Source& source) {
  const Shape shape = read_shape(source, 8);
  const std::byte* ids = source.bytes.data() + kHeaderBytes;
  const std::byte* distances = ids + shape.rows * shape.cols * 4;
  return {
      {"ids", Array(ElementType::int32, 2, shape.rows, shape.cols, ids, shape.cols, 1, source.owner)},
      {"distances", Array(ElementType::float32, 2, shape.rows, shape.cols, distances, shape.cols, 1, source.owner)}};
}

void write_groundtruth(Sink& sink, const Array& ids, const Array& distances) {
  if (ids.rows() != distances.rows() || ids.cols() != distances.cols()) {
    throw Error(ErrorCode::invalid_argument, "ids have " + std::to_string(ids.rows()) + " x " +
                                                 std::to_string(ids.cols()) + " values but distances have " +
                                                 std::to_string(distances.rows()) + " x " +
                                                 std::to_string(distances.cols()));
  }
  write_shape(sink, ids);
  write_elements(sink, ids, ElementType::int32);
  write_elements(sink, distances, ElementType::float32);
}

}  // namespace kith::io
