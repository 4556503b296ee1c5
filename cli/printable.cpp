#include "cli/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace kith::cli {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Bytes of the well-formed UTF-8 sequence that begins the text; 0 when there is none.
std::size_t sequence_length(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

// Of ASCII, and those between U+0080 and U+009F.
bool is_control(std::string_view sequence) {
  const unsigned first = byte_at(sequence, 0);
  return first < 0x20 || first == 0x7f || (first == 0xc2 && byte_at(sequence, 1) < 0xa0);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (length > 0 && !is_control(sequence)) {
      shown += sequence;
    } else {
      for (std::size_t i = 0; i < sequence.size(); ++i) {
        fmt::format_to(std::back_inserter(shown), "\\x{:02x}", byte_at(sequence, i));
      }
    }
    text.remove_prefix(sequence.size());
  }
  return shown;
}

}  // namespace kith::cli
