#include "io/npy.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kith::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// Reads the header's dictionary, a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class DictionaryReader {
 public:
  DictionaryReader(const Source& source, std::size_t begin, std::size_t end)
      : source_(source), text_(source.text().substr(0, end)), at_(begin) {}

  void read(NpyHeader& header) {
    expect('{');
    bool seen[3] = {};
    while (!take('}')) {
      const std::size_t key_at = at_after_spaces();
      const std::string_view key = read_string();
      expect(':');
      const int index = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (index < 0) fail_at(source_, key_at, "unknown header key " + in_quotes(key));
      if (seen[index]) fail_at(source_, key_at, "header key " + in_quotes(key) + " appears twice");
      seen[index] = true;
      if (index == 0) read_type(header);
      if (index == 1) header.fortran_order = read_bool();
      if (index == 2) read_shape(header);
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    for (int index = 0; index < 3; ++index) {
      static constexpr const char* kKeys[] = {"descr", "fortran_order", "shape"};
      if (!seen[index]) fail_at(source_, at_, std::string("the header has no key '") + kKeys[index] + "'");
    }
    if (at_after_spaces() != text_.size()) fail_at(source_, at_, "text after the header's dictionary");
  }

 private:
  std::size_t at_after_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_;
  }

  bool take(char c) {
    if (at_after_spaces() == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (take(c)) return;
    fail_at(source_, at_, std::string("expected '") + c + "' in the header");
  }

  std::string_view read_string() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail_at(source_, at_, "a string in the header does not end");
    const std::string_view value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return value;
  }

  bool read_bool() {
    at_after_spaces();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail_at(source_, at_, "fortran_order is neither True nor False");
  }

  void read_type(NpyHeader& header) {
    const std::size_t at = at_after_spaces();
    if (at < text_.size() && text_[at] == '[') {
      fail_at(source_, at, "structured dtypes are not read; save each field as an array of its own");
    }
    header.stored = parse_type(at, read_string());
  }

  StoredType parse_type(std::size_t at, std::string_view descr) const {
    const std::string shown = "dtype " + in_quotes(descr);
    if (descr.size() < 2) fail_at(source_, at, shown + " is not a type");
    const char order = descr[0];
    if (std::string_view("<>|=").find(order) == std::string_view::npos) {
      fail_at(source_, at, shown + " has no byte order");
    }
    const char kind = descr[1];
    const std::string_view size = descr.substr(2);
    if (kind == 'O') fail_at(source_, at, shown + " holds Python objects, which are not read");
    if (kind == 'V' && size == "2") {
      fail_at(source_, at,
              shown +
                  " does not tell what its 2 bytes are, bfloat16 of ml_dtypes or others, and is not read; save them as "
                  "float32, float16 or bf16bin");
    }
    if (kind == 'V') fail_at(source_, at, shown + " is structured, which is not read");
    StoredType stored;
    stored.big_endian = order == '>';
    stored.bytes = size.size() == 1 ? size[0] - '0' : 0;
    const bool integer = stored.bytes == 1 || stored.bytes == 2 || stored.bytes == 4 || stored.bytes == 8;
    if (kind == 'f' && (stored.bytes == 2 || stored.bytes == 4 || stored.bytes == 8)) {
      stored.kind = StoredType::Kind::floating;
    } else if (kind == 'i' && integer) {
      stored.kind = StoredType::Kind::signed_integer;
    } else if ((kind == 'u' && integer) || (kind == 'b' && stored.bytes == 1)) {
      stored.kind = StoredType::Kind::unsigned_integer;
    } else {
      fail_at(source_, at, shown + " is not read; floats of 2, 4 or 8 bytes, integers and bool are");
    }
    if (order == '|' && stored.bytes > 1) fail_at(source_, at, shown + " has no byte order");
    return stored;
  }

  void read_shape(NpyHeader& header) {
    const std::size_t at = at_after_spaces();
    expect('(');
    std::vector<std::int64_t> shape;
    while (!take(')')) {
      shape.push_back(read_length());
      if (!take(',')) {
        // "(3)" is a number in parentheses, not a tuple.
        if (shape.size() == 1) fail_at(source_, at_, "expected ',' in the shape");
        expect(')');
        break;
      }
    }
    if (shape.empty() || shape.size() > 2) {
      fail_at(
          source_, at,
          "the array has " + counted(static_cast<std::int64_t>(shape.size()), "dimension") + "; one or two are read");
    }
    header.rank = static_cast<int>(shape.size());
    header.rows = shape[0];
    header.cols = header.rank == 2 ? shape[1] : 1;
  }

  std::int64_t read_length() {
    at_after_spaces();
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto result = std::from_chars(begin, text_.data() + text_.size(), value);
    if (result.ec == std::errc::result_out_of_range) fail_at(source_, at_, "a length in the shape exceeds 63 bits");
    if (result.ec != std::errc() || value < 0) fail_at(source_, at_, "the shape is not made of lengths");
    at_ += static_cast<std::size_t>(result.ptr - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote 3L
    return value;
  }

  const Source& source_;
  std::string_view text_;
  std::size_t at_;
};

std::size_t unsigned_at(const Source& source, std::size_t offset, std::size_t width) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value |= std::to_integer<std::size_t>(source.bytes[offset + i]) << (8 * i);
  return value;
}

// NumPy itself has no bfloat16: ml_dtypes, which adds it, saves it as '<V2', two bytes of no known type.
const char* npy_type(ElementType type) {
  switch (type) {
    case ElementType::float32: return "<f4";
    case ElementType::float64: return "<f8";
    case ElementType::uint8: return "|u1";
    case ElementType::int8: return "|i1";
    case ElementType::int32: return "<i4";
    case ElementType::int64: return "<i8";
    case ElementType::float16: return "<f2";
    case ElementType::bfloat16: break;
  }
  throw Error(
      ErrorCode::invalid_argument,
      "npy and npz have no type for bfloat16; convert to float32, which holds its values, or write bf16bin or hdf5");
}

}  // namespace

NpyHeader parse_npy_header(const Source& source) {
  if (!source.text().starts_with(kMagic)) fail_at(source, 0, "not an npy file: it does not begin with \\x93NUMPY");
  if (source.size() < kMagic.size() + 2) fail_at(source, source.size(), "truncated before the version");
  const auto version = std::to_integer<int>(source.bytes[kMagic.size()]);
  if (version < 1 || version > 3) {
    fail_at(source, kMagic.size(), "header version " + std::to_string(version) + "; versions 1 to 3 are read");
  }
  const std::size_t length_at = kMagic.size() + 2;
  const std::size_t width = version == 1 ? 2 : 4;
  const std::size_t begin = length_at + width;
  if (source.size() < begin) fail_at(source, source.size(), "truncated before the header");
  const std::size_t length = unsigned_at(source, length_at, width);
  if (length > kLongestNpyDictionary) {
    fail_at(source, length_at,
            "the header is said to have " + std::to_string(length) + " bytes; at most " +
                std::to_string(kLongestNpyDictionary) + " are read");
  }
  if (length > source.size() - begin) {
    fail_at(source, length_at,
            "the header is said to have " + std::to_string(length) + " bytes but only " +
                std::to_string(source.size() - begin) + " follow");
  }
  NpyHeader header;
  header.data_offset = begin + length;
  DictionaryReader(source, begin, header.data_offset).read(header);
  return header;
}

void check_npy_size(const Source& source, const NpyHeader& header) {
  const std::int64_t needed = byte_count(header.rows, header.cols, header.stored.bytes);
  const auto present = static_cast<std::int64_t>(source.size() - header.data_offset);
  if (needed < 0 || needed > present) {
    fail_at(source, source.size(),
            "truncated: " + counted(header.rows, "row") + " of " + counted(header.cols, "column") + " need " +
                (needed < 0 ? "more than 2^63" : std::to_string(needed)) + " bytes of data but there are " +
                std::to_string(present));
  }
  if (needed < present) {
    fail_at(source, header.data_offset + static_cast<std::size_t>(needed),
            counted(present - needed, "byte") + " after the array");
  }
}

Array parse_npy(const Source& source) {
  const NpyHeader header = parse_npy_header(source);
  check_npy_size(source, header);
  const ElementType type = loaded_type(header.stored);
  const std::int64_t row_stride = header.fortran_order && header.rank == 2 ? 1 : header.cols;
  const std::int64_t col_stride = header.fortran_order && header.rank == 2 ? header.rows : 1;
  const std::byte* data = source.bytes.data() + header.data_offset;
  if (is_native(header.stored) && is_aligned(data, type)) {
    return {type, header.rank, header.rows, header.cols, data, row_stride, col_stride, source.owner};
  }
  const std::int64_t count = header.rows * header.cols;
  const auto copy = allocate(count * size_of(type));
  const std::int64_t refused = decode(header.stored, data, header.stored.bytes, count, copy.get());
  if (refused != kAllDecoded) {
    const auto offset = static_cast<std::size_t>(refused * header.stored.bytes);
    fail_at(source, header.data_offset + offset, refused_number(header.stored, data + offset));
  }
  return {type, header.rank, header.rows, header.cols, copy.get(), row_stride, col_stride, copy};
}

ArrayInfo describe_npy(const NpyHeader& header) {
  return {"", loaded_type(header.stored), header.rank, header.rows, header.cols, ""};
}

std::string npy_header_text(const Array& array) {
  std::string dictionary = "{'descr': '" + std::string(npy_type(array.type())) +
                           "', 'fortran_order': False, 'shape': (" + std::to_string(array.rows()) + ",";
  if (array.rank() == 2) dictionary += " " + std::to_string(array.cols());
  dictionary += "), }";
  constexpr std::size_t kPrefix = 10;
  constexpr std::size_t kAlignment = 64;
  const std::size_t total = (kPrefix + dictionary.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  dictionary.resize(total - kPrefix - 1, ' ');
  dictionary += '\n';
  std::string text(kMagic);
  text += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xff), static_cast<char>(dictionary.size() >> 8)};
  return text + dictionary;
}

}  // namespace kith::io
