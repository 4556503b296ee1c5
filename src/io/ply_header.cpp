#include "io/ply_header.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "io/lines.hpp"

namespace kith::io {
namespace {

struct TypeName {
  std::string_view name;
  StoredType::Kind kind;
  int bytes;
};

constexpr auto kFloating = StoredType::Kind::floating;
constexpr auto kSigned = StoredType::Kind::signed_integer;
constexpr auto kUnsigned = StoredType::Kind::unsigned_integer;
constexpr TypeName kTypes[] = {
    {"float", kFloating, 4},  {"float32", kFloating, 4}, {"double", kFloating, 8}, {"float64", kFloating, 8},
    {"char", kSigned, 1},     {"int8", kSigned, 1},      {"short", kSigned, 2},    {"int16", kSigned, 2},
    {"int", kSigned, 4},      {"int32", kSigned, 4},     {"uchar", kUnsigned, 1},  {"uint8", kUnsigned, 1},
    {"ushort", kUnsigned, 2}, {"uint16", kUnsigned, 2},  {"uint", kUnsigned, 4},   {"uint32", kUnsigned, 4},
};

class HeaderReader {
 public:
  explicit HeaderReader(const Source& source) : source_(source), lines_(source.text()) {}

  PlyHeader read() {
    std::string_view line;
    if (!lines_.next(line) || line != "ply") fail_at(source_, 0, "not a PLY file: its first line is not 'ply'");
    bool ended = false;
    while (!ended && lines_.next(line)) {
      split_words(line, words_);
      ended = !words_.empty() && read_line();
    }
    if (!ended || lines_.offset() > source_.size()) fail_at(source_, source_.size(), "truncated: no 'end_header' line");
    if (!format_seen_) fail_here("the header has no 'format' line");
    header_.data_offset = lines_.offset();
    header_.lines = lines_.number();
    check_elements();
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail_here(const std::string& reason) const { fail_line(source_, lines_.number(), reason); }

  // True at end_header.
  bool read_line() {
    const std::string_view keyword = words_[0];
    if (keyword == "comment" || keyword == "obj_info") return false;
    if (keyword == "end_header") return true;
    if (keyword == "format") {
      read_format();
    } else if (keyword == "element") {
      read_element();
    } else if (keyword == "property") {
      read_property();
    } else {
      fail_here("unknown header keyword " + in_quotes(keyword));
    }
    return false;
  }

  void read_format() {
    if (format_seen_) fail_here("a second 'format' line");
    if (words_.size() != 3 || words_[2] != "1.0") fail_here("expected 'format' with an encoding and version 1.0");
    if (words_[1] == "ascii") {
      header_.encoding = PlyEncoding::ascii;
    } else if (words_[1] == "binary_little_endian") {
      header_.encoding = PlyEncoding::little_endian;
    } else if (words_[1] == "binary_big_endian") {
      header_.encoding = PlyEncoding::big_endian;
    } else {
      fail_here("unknown encoding " + in_quotes(words_[1]));
    }
    format_seen_ = true;
  }

  void read_element() {
    if (words_.size() != 3) fail_here("expected 'element' with a name and a count");
    PlyElement element;
    element.name = words_[1];
    element.line = lines_.number();
    const char* end = words_[2].data() + words_[2].size();
    const auto result = std::from_chars(words_[2].data(), end, element.count);
    if (result.ec != std::errc() || result.ptr != end || element.count < 0) {
      fail_here(in_quotes(words_[2]) + " is not a count");
    }
    header_.elements.push_back(std::move(element));
  }

  void read_property() {
    if (header_.elements.empty()) fail_here("a property before the first element");
    if (!format_seen_) fail_here("a property before the 'format' line");
    PlyProperty property;
    property.list = words_.size() > 1 && words_[1] == "list";
    if (words_.size() != (property.list ? 5U : 3U)) fail_here("expected 'property' with a type and a name");
    if (property.list) {
      property.count = read_type(words_[2]);
      if (property.count.kind == kFloating) fail_here("a list's length cannot be " + in_quotes(words_[2]));
    }
    property.type = read_type(words_[words_.size() - 2]);
    property.name = words_.back();
    auto& properties = header_.elements.back().properties;
    const auto same = [&](const PlyProperty& other) { return other.name == property.name; };
    if (std::any_of(properties.begin(), properties.end(), same)) {
      fail_here("a second property " + in_quotes(property.name) + " of element " +
                in_quotes(header_.elements.back().name));
    }
    properties.push_back(std::move(property));
  }

  StoredType read_type(std::string_view name) const {
    for (const TypeName& type : kTypes) {
      if (type.name == name) return {type.kind, type.bytes, header_.encoding == PlyEncoding::big_endian};
    }
    fail_here("unknown type " + in_quotes(name));
  }

  void check_elements() {
    std::optional<std::size_t> vertex;
    for (std::size_t i = 0; i < header_.elements.size(); ++i) {
      const PlyElement& element = header_.elements[i];
      if (element.properties.empty()) {
        fail_line(source_, element.line, "element " + in_quotes(element.name) + " has no properties");
      }
      if (element.name != "vertex") continue;
      if (vertex) fail_line(source_, element.line, "a second element 'vertex'");
      vertex = i;
    }
    if (!vertex) fail_here("the header has no element 'vertex'");
    header_.vertex = *vertex;
  }

  const Source& source_;
  LineReader lines_;
  std::vector<std::string_view> words_;
  PlyHeader header_;
  bool format_seen_ = false;
};

}  // namespace

PlyHeader parse_ply_header(const Source& source) {
  return HeaderReader(source).read();
}

}  // namespace kith::io
