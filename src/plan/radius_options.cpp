#include "plan/radius_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kith/error.hpp"

namespace kith::plan {

void check_radius_options(const Options& options, std::initializer_list<std::string_view> stages) {
  if (options.method != Method::automatic && options.method != Method::brute)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("method {} finds the k nearest; a radius search has brute", to_string(options.method)));
  if (options.distance == "auto" || std::find(stages.begin(), stages.end(), options.distance) != stages.end()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("distance stage '{}' is not one of a radius search; it has auto, {}", options.distance,
                          fmt::join(stages, ", ")));
}

}  // namespace kith::plan
