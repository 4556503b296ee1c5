#include "io/ply_write.hpp"

#include <string>

#include "io/numbers.hpp"
#include "io/row_blocks.hpp"
#include "io/scalar_types.hpp"
#include "io/sink.hpp"
#include "io/source.hpp"

namespace kith::io {
namespace {

const char* type_name(ElementType type) {
  switch (type) {
    case ElementType::float32: return "float";
    case ElementType::float64: return "double";
    case ElementType::uint8: return "uchar";
    case ElementType::int8: return "char";
    case ElementType::int32: return "int";
    case ElementType::float16:
    case ElementType::bfloat16:
      throw Error(ErrorCode::invalid_argument, std::string("ply has no type for ") + to_string(type) +
                                                   "; convert to float32, which holds its values");
    case ElementType::int64: break;
  }
  throw Error(ErrorCode::invalid_argument, "ply has no type for int64; convert to int32 or float64");
}

// What 1 to 3 columns are, and 6.
constexpr const char* kProperties[] = {"x", "y", "z", "nx", "ny", "nz"};

std::string header_text(const Array& array, bool text) {
  std::string header = "ply\nformat ";
  header += text ? "ascii" : "binary_little_endian";
  header += " 1.0\nelement vertex " + std::to_string(array.rows()) + "\n";
  for (std::int64_t col = 0; col < array.cols(); ++col) {
    header += std::string("property ") + type_name(array.type()) + " " + kProperties[col] + "\n";
  }
  return header + "end_header\n";
}

void write_text(Sink& sink, const Array& array) {
  with_type(array.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::string line;
    for (std::int64_t row = 0; row < array.rows(); ++row) {
      line.clear();
      for (std::int64_t col = 0; col < array.cols(); ++col) {
        if (col > 0) line += ' ';
        append_number(line, widened(array.at<T>(row, col)));
      }
      line += '\n';
      sink.write(line);
    }
  });
}

}  // namespace

void write_ply(Sink& sink, const Array& array, bool text) {
  if (array.cols() != 6 && (array.cols() < 1 || array.cols() > 3)) {
    throw Error(ErrorCode::invalid_argument,
                "ply holds points of 1 to 3 columns, or 3 with normals of 3, not " + std::to_string(array.cols()));
  }
  sink.write(header_text(array, text));
  if (text) {
    write_text(sink, array);
    return;
  }
  const std::int64_t row_bytes = array.cols() * size_of(array.type());
  for_row_blocks(array, array.type(), [&](const std::byte* rows, std::int64_t count) {
    sink.write(rows, static_cast<std::size_t>(count * row_bytes));
  });
}

}  // namespace kith::io
