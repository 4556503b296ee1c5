// edit_text.cpp: strings as sequences of symbols, UTF-8 decoded strictly (RFC 3629).
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "api/guard.hpp"
#include "kith/sequence_distances.hpp"

namespace kith {
namespace {

[[noreturn]] void refuse(std::string_view text, std::size_t at, const char* why) {
  throw Error(ErrorCode::bad_data, fmt::format("byte {} of the text (0x{:02x}) is not UTF-8: {}", at,
                                               static_cast<unsigned>(static_cast<unsigned char>(text[at])), why));
}

// The code point that begins at `at`, which moves behind it.
char32_t next_symbol(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return static_cast<char32_t>(text[at++]);
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4) refuse(text, at, first < 0xC0 ? "no character begins so" : "no code point does");
  char32_t symbol = first & (0x3FU >> more);
  for (int i = 1; i <= more; ++i) {
    if (at + static_cast<std::size_t>(i) >= text.size()) refuse(text, at, "the text ends within the character");
    const auto byte = static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
    if ((byte & 0xC0) != 0x80) refuse(text, at + static_cast<std::size_t>(i), "it should go on with a character");
    symbol = symbol << 6 | (byte & 0x3FU);
  }
  constexpr char32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  if (symbol < kLeast[more]) refuse(text, at, "the character is written longer than it is");
  if (symbol >= 0xD800 && symbol <= 0xDFFF) refuse(text, at, "the character is half of a surrogate pair");
  if (symbol > 0x10FFFF) refuse(text, at, "there is no such code point");
  at += static_cast<std::size_t>(more) + 1;
  return symbol;
}

}  // namespace

EditText::EditText(std::u32string symbols) : symbols_(std::move(symbols)) {
  for (const char32_t symbol : symbols_) {
    std::uint8_t& count = counts_[symbol % counts_.size()];
    if (count < std::numeric_limits<std::uint8_t>::max()) ++count;
  }
}

EditText EditText::of_utf8(std::string_view text) {
  return api::guarded([&] {
    std::u32string symbols;
    for (std::size_t at = 0; at < text.size();) symbols.push_back(next_symbol(text, at));
    symbols.shrink_to_fit();
    return EditText(std::move(symbols));
  });
}

EditText EditText::of_bytes(std::string_view bytes) {
  return api::guarded([&] {
    std::u32string symbols;
    symbols.reserve(bytes.size());
    for (const char byte : bytes) symbols.push_back(static_cast<unsigned char>(byte));
    return EditText(std::move(symbols));
  });
}

}  // namespace kith
