#include "io/hdf5_attributes.hpp"

#include <optional>
#include <string_view>

#include "io/hdf5_messages.hpp"

namespace kith::io {
namespace {

constexpr std::uint64_t kAttribute = 0x0c;
constexpr std::uint64_t kShared = 0x02;
constexpr std::size_t kMostAttributes = 1000;
constexpr std::size_t kLongestText = 64 * 1024;

// One element, whatever the number of dimensions.
bool is_single(Hdf5Fields space) {
  const std::uint64_t version = space.number(1);
  const std::uint64_t rank = space.number(1);
  space.skip(1);
  if (version == 1) {
    space.skip(5);
  } else if (version != 2 || space.number(1) > 1) {
    return false;
  }
  for (std::uint64_t i = 0; i < rank; ++i) {
    if (space.number(8) != 1) return false;
  }
  return true;
}

std::optional<std::string> read_integer(std::uint64_t size, std::uint64_t bits, Hdf5Fields type, Hdf5Fields data) {
  const std::uint64_t offset = type.number(2);
  const std::uint64_t precision = type.number(2);
  if ((size != 1 && size != 2 && size != 4 && size != 8) || offset != 0 || precision != 8 * size) return std::nullopt;
  std::uint64_t value = data.number(size);
  const bool big_endian = (bits & 1) != 0;
  if (big_endian) value = __builtin_bswap64(value) >> (64 - precision);
  const bool has_sign = (bits & 8) != 0;
  if (!has_sign) return std::to_string(value);
  const std::uint64_t unused = 64 - precision;
  return std::to_string(static_cast<std::int64_t>(value << unused) >> unused);
}

std::optional<std::string> short_text(std::string_view text) {
  if (text.size() > kLongestText) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> read_value(const Hdf5Metadata& file, Hdf5Fields type, Hdf5Fields data) {
  constexpr std::uint64_t kInteger = 0;
  constexpr std::uint64_t kString = 3;
  constexpr std::uint64_t kVariable = 9;
  constexpr std::uint64_t kVariableString = 1;
  const std::uint64_t kind = type.number(1) & 0x0f;
  const std::uint64_t bits = type.number(3);
  const std::uint64_t size = type.number(4);
  if (kind == kInteger) return read_integer(size, bits, type, data);
  if (kind == kString) {
    const std::string_view text = data.piece(size).text();
    return short_text(text.substr(0, text.find_last_not_of('\0') + 1));
  }
  if (kind != kVariable || (bits & 0x0f) != kVariableString) return std::nullopt;
  const std::uint64_t length = data.number(4);
  const std::uint64_t address = data.number(8);
  const std::string_view text = file.heap_object(address, data.number(4)).substr(0, length);
  return short_text(text.substr(0, text.find('\0')));
}

void add_attribute(const Hdf5Metadata& file, Hdf5Fields body, Attributes& attributes) {
  const std::uint64_t version = body.number(1);
  const std::uint64_t shared = body.number(1);
  if (version < 1 || version > 3 || (version > 1 && shared != 0)) return;
  const std::uint64_t name_size = body.number(2);
  const std::uint64_t type_size = body.number(2);
  const std::uint64_t space_size = body.number(2);
  if (version == 3) body.skip(1);  // the name's encoding
  const std::uint64_t unit = version == 1 ? 8 : 1;
  const std::string_view name = body.piece(name_size, unit).text();
  const Hdf5Fields type = body.piece(type_size, unit);
  if (!is_single(body.piece(space_size, unit))) return;
  const std::optional<std::string> value = read_value(file, type, body);
  if (value) attributes[std::string(name.substr(0, name.find('\0')))] = *value;
}

}  // namespace

Attributes read_hdf5_attributes(const Source& source) {
  Attributes attributes;
  try {
    const Hdf5Metadata file(source);
    for (const Hdf5Message& message : file.root_messages()) {
      if (message.type != kAttribute || (message.flags & kShared) != 0) continue;
      if (attributes.size() == kMostAttributes) break;
      try {
        add_attribute(file, message.body, attributes);
      } catch (const Error&) {
        continue;  // the others may be in order
      }
    }
  } catch (const Error&) {
    return attributes;
  }
  return attributes;
}

}  // namespace kith::io
