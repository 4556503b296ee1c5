#include "io/text_write.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "io/numbers.hpp"
#include "io/scalar_types.hpp"
#include "io/sink.hpp"
#include "io/source.hpp"

namespace kith::io {
namespace {

bool stands_alone(const NamedArrays& arrays) {
  return arrays.size() == 1 && arrays[0].first.empty();
}

// The values of one row, each preceded by a comma unless it is the first of `out`'s line.
template <class Print>
void append_values(std::string& out, const Array& array, std::int64_t row, bool first, Print print) {
  with_type(array.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* values = array.elements<T>() + row * array.row_stride();
    for (std::int64_t col = 0; col < array.cols(); ++col) {
      if (!first) out += ',';
      first = false;
      print(out, widened(values[col * array.col_stride()]));
    }
  });
}

constexpr auto kPrintCsv = [](std::string& out, auto value) { append_number(out, value); };

constexpr auto kPrintJson = [](std::string& out, auto value) {
  if constexpr (std::is_floating_point_v<decltype(value)>) {
    if (!std::isfinite(value)) {
      out += "null";
      return;
    }
  }
  append_number(out, value);
};

// As CSV quotes it, where it must.
std::string csv_field(const std::string& name) {
  if (name.find_first_of(",;\t\"# \n\r") == std::string::npos) return name;
  std::string field = "\"";
  for (const char c : name) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}

std::string csv_header(const NamedArrays& arrays) {
  std::string header;
  for (const auto& [name, array] : arrays) {
    for (std::int64_t col = 0; col < array.cols(); ++col) {
      if (!header.empty()) header += ',';
      header += csv_field(array.rank() == 1 ? name : name + "_" + std::to_string(col));
    }
  }
  return header + "\n";
}

void require_columns(const char* format, const NamedArrays& arrays) {
  for (const auto& [name, array] : arrays) {
    if (array.cols() == 0) {
      throw Error(ErrorCode::invalid_argument,
                  std::string(format) + " cannot hold array " + in_quotes(name) + ": its rows have no columns");
    }
  }
}

void write_json_array(Sink& sink, const Array& array) {
  std::string text;
  for (std::int64_t row = 0; row < array.rows(); ++row) {
    text = row == 0 ? "[" : ",";
    if (array.rank() == 2) text += "[";
    append_values(text, array, row, true, kPrintJson);
    if (array.rank() == 2) text += "]";
    sink.write(text);
  }
  sink.write(array.rows() == 0 ? "[]" : "]");
}

}  // namespace

void write_csv(Sink& sink, const NamedArrays& arrays) {
  require_columns("csv", arrays);
  const std::int64_t rows = arrays[0].second.rows();
  for (const auto& [name, array] : arrays) {
    if (array.rows() != rows) {
      throw Error(ErrorCode::invalid_argument, "csv puts arrays side by side, but " + in_quotes(arrays[0].first) +
                                                   " has " + counted(rows, "row") + " and " + in_quotes(name) +
                                                   " has " + std::to_string(array.rows()));
    }
  }
  if (!stands_alone(arrays)) sink.write(csv_header(arrays));
  std::string line;
  for (std::int64_t row = 0; row < rows; ++row) {
    line.clear();
    for (const auto& [name, array] : arrays) append_values(line, array, row, line.empty(), kPrintCsv);
    line += '\n';
    sink.write(line);
  }
}

void write_json(Sink& sink, const NamedArrays& arrays) {
  require_columns("json", arrays);
  const bool alone = stands_alone(arrays);
  const char* before = "{";
  for (const auto& [name, array] : arrays) {
    if (!alone)
      sink.write(before + nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + ":");
    write_json_array(sink, array);
    before = ",";
  }
  sink.write(alone ? "\n" : "}\n");
}

}  // namespace kith::io
