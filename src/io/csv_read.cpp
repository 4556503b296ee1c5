#include "io/csv_read.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/lines.hpp"
#include "io/numbers.hpp"

namespace kith::io {
namespace {

constexpr char kBlanks = ' ';  // the delimiter that stands for any run of blanks

char find_delimiter(std::string_view line) {
  bool inside_quotes = false;
  bool found[3] = {};
  static constexpr std::string_view kCandidates = ";,\t";
  for (const char c : line) {
    if (c == '"') inside_quotes = !inside_quotes;
    const std::size_t index = kCandidates.find(c);
    if (!inside_quotes && index != std::string_view::npos) found[index] = true;
  }
  for (std::size_t i = 0; i < kCandidates.size(); ++i) {
    if (found[i]) return kCandidates[i];
  }
  return kBlanks;
}

class CsvReader {
 public:
  CsvReader(const Source& source, const LoadOptions& options)
      : source_(source), options_(options), lines_(skip_mark(source.text())) {}

  CsvTable read() {
    std::string_view line;
    while (next_row(line)) {
      if (width_ == 0) {
        begin(line);
      } else {
        split(line);
        if (fields_.size() != width_) {
          fail_line(source_, lines_.number(),
                    counted(static_cast<std::int64_t>(fields_.size()), "field") + " but line " +
                        std::to_string(first_line_) + " has " + std::to_string(width_));
        }
        append_row();
      }
    }
    if (width_ == 0) fail(source_, "the file has no rows");
    return finish();
  }

 private:
  static std::string_view skip_mark(std::string_view text) {
    return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
  }

  bool next_row(std::string_view& line) {
    while (lines_.next(line)) {
      const std::string_view trimmed = trim(line);
      if (!trimmed.empty() && trimmed.front() != '#') return true;
    }
    return false;
  }

  // The first row: settles delimiter, width and header.
  void begin(std::string_view line) {
    delimiter_ = find_delimiter(line);
    split(line);
    width_ = fields_.size();
    first_line_ = lines_.number();
    const bool header = is_header();
    if (header) {
      for (const std::string_view field : fields_) columns_.push_back(unescape(field));
    }
    choose_columns();
    reserve();
    if (!header) append_row();
  }

  bool is_header() const {
    if (options_.header != Header::automatic) return options_.header == Header::present;
    double value = 0;
    const auto numbers = std::count_if(fields_.begin(), fields_.end(), [&](std::string_view field) {
      return parse_number(field, value) != NumberText::not_a_number;
    });
    if (numbers == 0) return true;
    const auto word = std::find_if(fields_.begin(), fields_.end(), [&](std::string_view field) {
      return parse_number(field, value) == NumberText::not_a_number;
    });
    if (word != fields_.end()) {
      fail_line(source_, first_line_,
                "the first row has numbers and " + in_quotes(*word) + "; is it a header? Say so if it is");
    }
    return false;
  }

  void split(std::string_view line) {
    fields_.clear();
    if (delimiter_ == kBlanks) line = trim(line);
    while (true) {
      fields_.push_back(take_field(line));
      if (line.empty()) return;
      if (delimiter_ == kBlanks) {
        line = trim(line);
      } else {
        line.remove_prefix(1);
      }
    }
  }

  // Removes a field from the front of the line, up to the delimiter.
  std::string_view take_field(std::string_view& line) {
    if (delimiter_ != kBlanks) {
      while (!line.empty() && is_blank(line.front()) && line.front() != delimiter_) line.remove_prefix(1);
    }
    if (line.starts_with('"')) return take_quoted(line);
    const std::size_t end =
        std::min(line.size(), delimiter_ == kBlanks ? line.find_first_of(" \t") : line.find(delimiter_));
    const std::string_view field = trim(line.substr(0, end));
    line.remove_prefix(end);
    return field;
  }

  std::string_view take_quoted(std::string_view& line) {
    std::size_t end = line.find('"', 1);
    while (end != std::string_view::npos && line.substr(end + 1).starts_with('"')) end = line.find('"', end + 2);
    if (end == std::string_view::npos) fail_line(source_, lines_.number(), "a quoted field does not end");
    const std::string_view field = trim(line.substr(1, end - 1));
    line.remove_prefix(end + 1);
    while (!line.empty() && is_blank(line.front()) && line.front() != delimiter_ && delimiter_ != kBlanks) {
      line.remove_prefix(1);
    }
    const bool ends = line.empty() || (delimiter_ == kBlanks ? is_blank(line.front()) : line.front() == delimiter_);
    if (!ends) fail_line(source_, lines_.number(), "text after a quoted field");
    return field;
  }

  static std::string unescape(std::string_view field) {
    std::string name;
    for (std::size_t i = 0; i < field.size(); ++i) {
      name += field[i];
      if (field[i] == '"' && field.substr(i + 1).starts_with('"')) ++i;
    }
    return name;
  }

  void choose_columns() {
    if (!options_.array.empty()) {
      choose_group();
    } else if (options_.columns.empty()) {
      for (std::size_t i = 0; i < width_; ++i) chosen_.push_back(i);
    } else {
      for (const std::string& column : options_.columns) chosen_.push_back(find_column(column));
    }
  }

  // `array` itself, or array_0, array_1, ... in the order of their numbers.
  void choose_group() {
    if (const auto column = find_name(options_.array)) {
      chosen_.push_back(*column);
      rank_ = 1;
      return;
    }
    while (const auto column = find_name(options_.array + "_" + std::to_string(chosen_.size()))) {
      chosen_.push_back(*column);
    }
    if (chosen_.empty()) {
      throw Error(ErrorCode::invalid_argument, source_.name + ": no column is named " + in_quotes(options_.array) +
                                                   " or " + in_quotes(options_.array + "_0"));
    }
  }

  std::optional<std::size_t> find_name(const std::string& name) const {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    if (found == columns_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns_.begin());
  }

  std::size_t find_column(const std::string& column) const {
    if (const auto named = find_name(column)) return *named;
    std::size_t index = 0;
    const char* end = column.data() + column.size();
    const auto result = std::from_chars(column.data(), end, index);
    if (result.ec == std::errc() && result.ptr == end && index < width_) return index;
    throw Error(ErrorCode::invalid_argument, source_.name + ": no column is called " + in_quotes(column) +
                                                 "; there are " + counted(static_cast<std::int64_t>(width_), "column") +
                                                 (columns_.empty() ? " without a header" : ""));
  }

  // One allocation for all rows. A number takes two bytes of text or more, so a wide row followed by blank lines cannot
  // ask for much.
  void reserve() {
    const std::string_view text = source_.text();
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    values_.reserve(std::min(lines, text.size() / 2 / width_ + 1) * chosen_.size());
  }

  void append_row() {
    for (const std::size_t column : chosen_) {
      double value = 0;
      const std::string_view field = fields_[column];
      const NumberText result = parse_number(field, value);
      if (result != NumberText::ok) {
        fail_line(source_, lines_.number(),
                  "field " + std::to_string(column + 1) +
                      (field.empty() ? " is empty"
                                     : ", " + in_quotes(field) +
                                           (result == NumberText::not_a_number ? ", is not a number"
                                                                               : ", exceeds the range of float64")));
      }
      values_.push_back(value);
    }
    ++rows_;
  }

  CsvTable finish() {
    const auto cols = static_cast<std::int64_t>(chosen_.size());
    if (rank_ == 1) return {std::move(columns_), Array::from(std::move(values_))};
    return {std::move(columns_), Array::from(std::move(values_), rows_, cols)};
  }

  const Source& source_;
  const LoadOptions& options_;
  LineReader lines_;
  std::vector<std::string_view> fields_;  // of the current line
  std::vector<std::string> columns_;
  std::vector<std::size_t> chosen_;
  std::vector<double> values_;
  std::size_t width_ = 0;
  std::int64_t first_line_ = 0;
  std::int64_t rows_ = 0;
  int rank_ = 2;
  char delimiter_ = ',';
};

}  // namespace

CsvTable parse_csv(const Source& source, const LoadOptions& options) {
  return CsvReader(source, options).read();
}

}  // namespace kith::io
