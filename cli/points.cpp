#include "cli/points.hpp"

#include <fmt/format.h>

#include "cli/message.hpp"

namespace kith::cli {
namespace {

bool is_point_type(io::ElementType type) {
  return type != io::ElementType::int32 && type != io::ElementType::int64;
}

io::ElementType common_type(io::ElementType a, io::ElementType b) {
  if (a == b) return a;
  const bool wide = a == io::ElementType::float64 || b == io::ElementType::float64;
  return wide ? io::ElementType::float64 : io::ElementType::float32;
}

void convert(const std::string& what, io::Array& points, io::ElementType type) {
  if (points.type() == type) return;
  note(fmt::format("{} converted from {} to {}", what, to_string(points.type()), to_string(type)));
  points = points.converted(type);
}

}  // namespace

io::Array as_points(const std::string& what, io::Array points) {
  if (!is_point_type(points.type())) convert(what, points, io::ElementType::float64);
  return points;
}

io::Array load_points(const std::string& what, const std::string& path, const io::LoadOptions& options) {
  return as_points(what, io::load(path, options));
}

void match_queries(io::Array& base, io::Array& queries) {
  if (queries.rank() == 1 && base.cols() != 1 && queries.rows() == base.cols()) {
    // The new array keeps the old one, which keeps the values.
    const auto owner = std::make_shared<const io::Array>(queries);
    queries = io::Array(queries.type(), 2, 1, owner->rows(), owner->data(), owner->rows() * owner->row_stride(),
                        owner->row_stride(), owner);
  }
  const io::ElementType type = common_type(base.type(), queries.type());
  convert("base", base, type);
  convert("queries", queries, type);
}

}  // namespace kith::cli
