#include "io/ply_read.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/lines.hpp"
#include "io/numbers.hpp"
#include "io/ply_header.hpp"
#include "io/scalar_types.hpp"

namespace kith::io {
namespace {

// The vertex properties to keep, by their place among the element's properties, and the type they share.
struct Selection {
  std::vector<std::size_t> properties;
  ElementType type = ElementType::float32;
};

ElementType common_type(const PlyElement& vertex, const std::vector<std::size_t>& chosen) {
  const ElementType first = loaded_type(vertex.properties[chosen[0]].type);
  bool same = true;
  bool exact_in_float32 = true;
  for (const std::size_t index : chosen) {
    const StoredType stored = vertex.properties[index].type;
    same = same && loaded_type(stored) == first;
    exact_in_float32 =
        exact_in_float32 && (stored.kind == StoredType::Kind::floating ? stored.bytes == 4 : stored.bytes <= 2);
  }
  return same ? first : exact_in_float32 ? ElementType::float32 : ElementType::float64;
}

Selection select_properties(const Source& source, const PlyElement& vertex, std::vector<std::string> columns) {
  const auto find = [&](const std::string& name) {
    return std::find_if(vertex.properties.begin(), vertex.properties.end(),
                        [&](const PlyProperty& property) { return property.name == name && !property.list; });
  };
  if (columns.empty()) {
    for (const char* name : {"x", "y", "z"}) {
      if (find(name) != vertex.properties.end()) columns.emplace_back(name);
    }
    if (columns.empty()) fail_line(source, vertex.line, "element 'vertex' has none of the properties x, y, z");
  }
  Selection selection;
  for (const std::string& name : columns) {
    const auto found = find(name);
    if (found == vertex.properties.end()) {
      throw Error(ErrorCode::invalid_argument,
                  source.name + ": element 'vertex' has no scalar property " + in_quotes(name));
    }
    selection.properties.push_back(static_cast<std::size_t>(found - vertex.properties.begin()));
  }
  selection.type = common_type(vertex, selection.properties);
  return selection;
}

// The rows of the result, filled one value after the other.
class Rows {
 public:
  Rows(std::int64_t rows, const Selection& selection)
      : type_(selection.type),
        rows_(rows),
        cols_(static_cast<std::int64_t>(selection.properties.size())),
        data_(allocate(rows * cols_ * size_of(type_))),
        at_(data_.get()) {}

  // A stored number.
  void append(const std::byte* in, StoredType stored) {
    if (loaded_type(stored) == type_) {
      decode(stored, in, 0, 1, at_);
    } else {
      alignas(8) std::byte decoded[8];
      decode(stored, in, 0, 1, decoded);
      with_type(loaded_type(stored), [&](auto tag) {
        using From = typename decltype(tag)::type;
        put(static_cast<double>(*reinterpret_cast<const From*>(decoded)));
      });
    }
    at_ += size_of(type_);
  }

  // A number that is exact in double.
  void append(double value) {
    put(value);
    at_ += size_of(type_);
  }

  Array finish() const { return {type_, 2, rows_, cols_, data_.get(), cols_, 1, data_}; }

 private:
  void put(double value) {
    with_type(type_, [&](auto tag) {
      using To = typename decltype(tag)::type;
      *reinterpret_cast<To*>(at_) = static_cast<To>(value);
    });
  }

  ElementType type_;
  std::int64_t rows_;
  std::int64_t cols_;
  std::shared_ptr<std::byte> data_;
  std::byte* at_;
};

// The least bytes an instance of an element takes: a list may be empty; ascii values are a digit and a separator.
std::int64_t least_bytes(const PlyElement& element, PlyEncoding encoding) {
  std::int64_t bytes = 0;
  for (const PlyProperty& property : element.properties) {
    bytes += encoding == PlyEncoding::ascii ? 2 : property.list ? property.count.bytes : property.type.bytes;
  }
  return bytes;
}

// Refuses counts that the file cannot hold, before memory is asked for.
void check_count(const Source& source, const PlyElement& element, PlyEncoding encoding, std::size_t offset) {
  const auto present = static_cast<std::int64_t>(source.size() - offset);
  const std::int64_t newline = encoding == PlyEncoding::ascii ? 1 : 0;  // the last line may lack it
  if (element.count > (present + newline) / least_bytes(element, encoding)) {
    fail_at(source, source.size(),
            "truncated: " + std::to_string(element.count) + " of element " + in_quotes(element.name) +
                " do not fit the " + std::to_string(present) + " bytes from byte " + std::to_string(offset));
  }
}

class BinaryReader {
 public:
  BinaryReader(const Source& source, const PlyHeader& header)
      : source_(source), header_(header), at_(header.data_offset) {}

  Array read(const Selection& selection) {
    Array array;
    for (std::size_t i = 0; i < header_.elements.size(); ++i) {
      const PlyElement& element = header_.elements[i];
      check_count(source_, element, header_.encoding, at_);
      if (i == header_.vertex) {
        array = read_vertices(element, selection);
      } else {
        skip(element);
      }
    }
    if (at_ != source_.size()) {
      fail_at(source_, at_,
              counted(static_cast<std::int64_t>(source_.size() - at_), "byte") + " after the last element");
    }
    return array;
  }

 private:
  void skip(const PlyElement& element) {
    const auto& properties = element.properties;
    if (std::none_of(properties.begin(), properties.end(), [](const PlyProperty& p) { return p.list; })) {
      at_ += static_cast<std::size_t>(element.count * least_bytes(element, header_.encoding));
      return;
    }
    for (std::int64_t i = 0; i < element.count; ++i) {
      for (const PlyProperty& property : properties) step_over(property);
    }
  }

  Array read_vertices(const PlyElement& vertex, const Selection& selection) {
    Rows rows(vertex.count, selection);
    std::vector<std::size_t> offsets(vertex.properties.size());  // of the properties of this vertex
    for (std::int64_t i = 0; i < vertex.count; ++i) {
      for (std::size_t p = 0; p < vertex.properties.size(); ++p) {
        offsets[p] = at_;
        step_over(vertex.properties[p]);
      }
      for (const std::size_t p : selection.properties) {
        rows.append(source_.bytes.data() + offsets[p], vertex.properties[p].type);
      }
    }
    return rows.finish();
  }

  void step_over(const PlyProperty& property) {
    std::int64_t items = 1;
    if (property.list) {
      const std::size_t count_at = at_;
      items = read_count(property);
      if (items < 0) fail_at(source_, count_at, "a list of " + std::to_string(items) + " items");
    }
    need(items, property.type.bytes);
    at_ += static_cast<std::size_t>(items * property.type.bytes);
  }

  std::int64_t read_count(const PlyProperty& property) {
    need(1, property.count.bytes);
    alignas(8) std::byte decoded[8];
    decode(property.count, source_.bytes.data() + at_, 0, 1, decoded);
    at_ += static_cast<std::size_t>(property.count.bytes);
    return with_type(loaded_type(property.count), [&](auto tag) {
      return static_cast<std::int64_t>(*reinterpret_cast<const typename decltype(tag)::type*>(decoded));
    });
  }

  void need(std::int64_t items, int bytes) const {
    if (items > static_cast<std::int64_t>(source_.size() - at_) / bytes) {
      fail_at(source_, source_.size(), "truncated inside the value at byte " + std::to_string(at_));
    }
  }

  const Source& source_;
  const PlyHeader& header_;
  std::size_t at_;
};

// One instance of an element per line; blank lines are skipped.
class AsciiReader {
 public:
  AsciiReader(const Source& source, const PlyHeader& header)
      : source_(source), header_(header), lines_(source.text().substr(header.data_offset)) {}

  Array read(const Selection& selection) {
    Array array;
    for (std::size_t i = 0; i < header_.elements.size(); ++i) {
      const PlyElement& element = header_.elements[i];
      check_count(source_, element, header_.encoding, std::min(source_.size(), header_.data_offset + lines_.offset()));
      if (i == header_.vertex) {
        array = read_vertices(element, selection);
      } else {
        for (std::int64_t instance = 0; instance < element.count; ++instance) read_instance(element);
      }
    }
    if (next_line()) fail_here("text after the last element");
    return array;
  }

 private:
  [[noreturn]] void fail_here(const std::string& reason) const {
    fail_line(source_, header_.lines + lines_.number(), reason);
  }

  bool next_line() {
    std::string_view line;
    while (lines_.next(line)) {
      split_words(line, words_);
      if (!words_.empty()) return true;
    }
    return false;
  }

  Array read_vertices(const PlyElement& vertex, const Selection& selection) {
    Rows rows(vertex.count, selection);
    for (std::int64_t i = 0; i < vertex.count; ++i) {
      read_instance(vertex);
      for (const std::size_t p : selection.properties) {
        rows.append(parse_value(words_[starts_[p]], vertex.properties[p]));
      }
    }
    return rows.finish();
  }

  // Splits the next line and finds where each property's words start.
  void read_instance(const PlyElement& element) {
    if (!next_line()) fail_here("truncated: the file ends inside element " + in_quotes(element.name));
    starts_.clear();
    std::size_t at = 0;
    for (const PlyProperty& property : element.properties) {
      starts_.push_back(at);
      std::size_t width = 1;
      if (property.list && at < words_.size()) {
        PlyProperty length = property;
        length.type = property.count;
        const double items = parse_value(words_[at], length);
        if (items < 0) fail_here("a list of " + in_quotes(words_[at]) + " items");
        width += static_cast<std::size_t>(items);
      }
      at += width;
    }
    if (at != words_.size()) {
      fail_here(counted(static_cast<std::int64_t>(words_.size()), "value") + " where element " +
                in_quotes(element.name) + " has " + std::to_string(at));
    }
  }

  double parse_value(std::string_view word, const PlyProperty& property) const {
    double value = 0;
    const NumberText result = parse_number(word, value);
    if (result == NumberText::not_a_number) fail_here(in_quotes(word) + " is not a number");
    if (result == NumberText::out_of_range || !fits(value, property.type)) {
      fail_here(in_quotes(word) + " is not a value of property " + in_quotes(property.name));
    }
    return value;
  }

  // Whether the property's declared type holds the value: integers exactly, floats without overflow.
  static bool fits(double value, StoredType type) {
    if (type.kind == StoredType::Kind::floating) {
      constexpr double kFloat32Beyond = 0x1.ffffffp127;  // rounds up to infinity
      return type.bytes == 8 || !(std::abs(value) >= kFloat32Beyond) || std::isinf(value);
    }
    const double range = std::ldexp(1.0, 8 * type.bytes);
    const double lowest = type.kind == StoredType::Kind::signed_integer ? -range / 2 : 0;
    return value == std::trunc(value) && value >= lowest && value < lowest + range;
  }

  const Source& source_;
  const PlyHeader& header_;
  LineReader lines_;
  std::vector<std::string_view> words_;
  std::vector<std::size_t> starts_;
};

}  // namespace

Array parse_ply(const Source& source, const std::vector<std::string>& columns) {
  const PlyHeader header = parse_ply_header(source);
  const Selection selection = select_properties(source, header.elements[header.vertex], columns);
  return header.encoding == PlyEncoding::ascii ? AsciiReader(source, header).read(selection)
                                               : BinaryReader(source, header).read(selection);
}

FileInfo describe_ply(const Source& source, const std::vector<std::string>& columns) {
  const PlyHeader header = parse_ply_header(source);
  const PlyElement& vertex = header.elements[header.vertex];
  const Selection selection = select_properties(source, vertex, columns);
  FileInfo info;
  info.format = Format::ply;
  info.arrays.push_back(
      {"", selection.type, 2, vertex.count, static_cast<std::int64_t>(selection.properties.size()), ""});
  for (const PlyProperty& property : vertex.properties) {
    if (!property.list) info.columns.push_back(property.name);
  }
  return info;
}

}  // namespace kith::io
