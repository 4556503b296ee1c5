// The JSON objects that --json prints. Every one has "schema_version", which changes when a field is removed or changes
// its meaning, "command" and "version"; fields may be added at any time. NaN and infinities are null.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kith/plan.hpp"
#include "kith/search.hpp"

namespace kith::cli {

using Json = nlohmann::ordered_json;

inline constexpr int kSchemaVersion = 1;

Json json_object(const std::string& command);

Json to_json(const Plan& plan);
Json to_json(const SearchReport& report);
Json to_json(const DistanceRatios& ratios);

// rows × cols values as an array of arrays.
template <class T>
Json rows_to_json(const std::vector<T>& values, std::int64_t rows, std::int64_t cols) {
  Json result = Json::array();
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto first = values.begin() + row * cols;
    result.push_back(Json(std::vector<T>(first, first + cols)));
  }
  return result;
}

// On stdout with a line feed: indented, or on one line when it carries an answer's arrays.
void print_json(const Json& object);
void print_json_line(const Json& object);

}  // namespace kith::cli
