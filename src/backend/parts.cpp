#include "backend/parts.hpp"

#include <fmt/format.h>

#include "kith/error.hpp"

namespace kith::backend {

void Parts::refuse_missing(std::string_view name) {
  throw Error(ErrorCode::bad_data, fmt::format("the file has no part {}", name));
}

void Parts::refuse_size(const Part& part, std::int64_t count, std::int64_t value_bytes) {
  throw Error(ErrorCode::bad_data, fmt::format("part {} of the file has {} bytes; {} values of {} bytes are expected",
                                               part.name, part.bytes.size(), count, value_bytes));
}

}  // namespace kith::backend
