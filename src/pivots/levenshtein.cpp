// levenshtein.cpp: edit distances, 64 rows of the table at a time.
//
// A column of the table of distances between prefixes is kept as differences between its rows: bits of `plus` where the
// distance rises by one, of `minus` where it falls. A symbol of the text moves all rows of a word by one column in some
// ten operations (Myers 1999); words hand the difference of their last row on to the next (Hyyrö 2003).
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "api/guard.hpp"
#include "cpu/simd/bag_bounds.hpp"
#include "kith/sequence_distances.hpp"

namespace kith {
namespace {

constexpr std::int64_t kWord = 64;
constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

// Rows of a word, of the column so far.
struct Word {
  std::uint64_t plus = ~std::uint64_t{0};
  std::uint64_t minus = 0;

  // Moves by one column, where `equal` says which symbols of the pattern are that of the text. `above` is the
  // difference that the row above gives; returns that of the row of `last`.
  int step(std::uint64_t equal, int above, std::uint64_t last) {
    const std::uint64_t vertical = equal | minus;
    if (above < 0) equal |= 1;
    const std::uint64_t horizontal = (((equal & plus) + plus) ^ plus) | equal;
    std::uint64_t rises = minus | ~(horizontal | plus);
    std::uint64_t falls = plus & horizontal;
    const int below = ((rises & last) != 0 ? 1 : 0) - ((falls & last) != 0 ? 1 : 0);
    rises = rises << 1 | (above > 0 ? 1U : 0U);
    falls = falls << 1 | (above < 0 ? 1U : 0U);
    plus = falls | ~(vertical | rises);
    minus = rises & vertical;
    return below;
  }
};

// Which symbols of a pattern are a given one: a row of `words` masks for each symbol that it has.
class SymbolMasks {
 public:
  void set(std::u32string_view pattern, std::size_t words) {
    clear();
    words_ = words;
    masks_.assign(words, 0);  // of symbols that it has not
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      std::uint32_t& row = row_of(pattern[i]);
      if (row == 0) {
        row = static_cast<std::uint32_t>(masks_.size() / words);
        masks_.resize(masks_.size() + words, 0);
      }
      masks_[row * words + i / kWord] |= std::uint64_t{1} << (i % kWord);
    }
  }

  const std::uint64_t* of(char32_t symbol) const {
    if (symbol < low_.size()) return masks_.data() + low_[symbol] * words_;
    const auto found = std::lower_bound(high_.begin(), high_.end(), High{symbol, 0});
    return masks_.data() + (found != high_.end() && found->symbol == symbol ? found->row : 0) * words_;
  }

 private:
  struct High {
    char32_t symbol;
    std::uint32_t row;
    friend bool operator<(const High& a, const High& b) { return a.symbol < b.symbol; }
  };

  std::uint32_t& row_of(char32_t symbol) {
    if (symbol < low_.size()) return low_[symbol];
    const auto place = std::lower_bound(high_.begin(), high_.end(), High{symbol, 0});
    if (place != high_.end() && place->symbol == symbol) return place->row;
    return high_.insert(place, High{symbol, 0})->row;
  }

  void clear() {
    low_.fill(0);
    high_.clear();
  }

  std::size_t words_ = 0;
  std::array<std::uint32_t, 256> low_{};  // rows of symbols, 0 for those that it has not
  std::vector<High> high_;                // sorted
  std::vector<std::uint64_t> masks_;
};

// The same for patterns of one word whose symbols are all below 256: what is set is taken back, not cleared.
class ByteMasks {
 public:
  static bool can_take(std::u32string_view pattern) {
    return static_cast<std::int64_t>(pattern.size()) <= kWord &&
           std::all_of(pattern.begin(), pattern.end(), [](char32_t symbol) { return symbol < 256; });
  }
  void set(std::u32string_view pattern) {
    for (std::size_t i = 0; i < pattern.size(); ++i) masks_[pattern[i]] |= std::uint64_t{1} << i;
  }
  void take_back(std::u32string_view pattern) {
    for (const char32_t symbol : pattern) masks_[symbol] = 0;
  }
  std::uint64_t of(char32_t symbol) const { return symbol < masks_.size() ? masks_[symbol] : 0; }

 private:
  std::array<std::uint64_t, 256> masks_{};
};

// Whether a distance in the last row can come back to the bound in so many columns.
bool is_lost(std::int64_t distance, std::int64_t columns_left, std::int64_t bound) {
  return distance - columns_left > bound;
}

std::int64_t by_one_word(std::u32string_view pattern, std::u32string_view text, std::int64_t bound) {
  thread_local ByteMasks of_thread;
  ByteMasks& masks = of_thread;
  masks.set(pattern);
  auto distance = static_cast<std::int64_t>(pattern.size());
  auto left = static_cast<std::int64_t>(text.size());
  const std::uint64_t last = std::uint64_t{1} << (pattern.size() - 1);
  Word word;
  for (const char32_t symbol : text) {
    distance += word.step(masks.of(symbol), 1, last);
    if (is_lost(distance, --left, bound)) break;
  }
  masks.take_back(pattern);
  return is_lost(distance, left, bound) ? bound + 1 : distance;
}

std::int64_t by_words(std::u32string_view pattern, std::u32string_view text, std::int64_t bound) {
  thread_local SymbolMasks masks;
  thread_local std::vector<Word> words;
  const std::size_t count = (pattern.size() + kWord - 1) / kWord;
  masks.set(pattern, count);
  words.assign(count, Word());
  auto distance = static_cast<std::int64_t>(pattern.size());
  auto left = static_cast<std::int64_t>(text.size());
  const std::uint64_t last = std::uint64_t{1} << ((pattern.size() - 1) % kWord);
  constexpr std::uint64_t kTop = std::uint64_t{1} << (kWord - 1);
  for (const char32_t symbol : text) {
    const std::uint64_t* equal = masks.of(symbol);
    int difference = 1;
    for (std::size_t i = 0; i < count; ++i)
      difference = words[i].step(equal[i], difference, i + 1 == count ? last : kTop);
    distance += difference;
    if (is_lost(distance, --left, bound)) return bound + 1;
  }
  return distance;
}

std::int64_t distance_of(std::u32string_view a, std::u32string_view b, std::int64_t bound) {
  if (a.size() > b.size()) std::swap(a, b);
  const auto longer = static_cast<std::int64_t>(b.size() - a.size());
  if (longer > bound) return longer;
  const auto begin = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  a.remove_prefix(begin);
  b.remove_prefix(begin);
  const auto end = static_cast<std::size_t>(std::mismatch(a.rbegin(), a.rend(), b.rbegin()).first - a.rbegin());
  a.remove_suffix(end);
  b.remove_suffix(end);
  if (a.empty()) return static_cast<std::int64_t>(b.size());
  if (ByteMasks::can_take(a)) return by_one_word(a, b, bound);
  return api::guarded([&] { return by_words(a, b, bound); });
}

}  // namespace

std::int64_t levenshtein(const EditText& a, const EditText& b) {
  return levenshtein(a, b, kUnbounded);
}

std::int64_t levenshtein(const EditText& a, const EditText& b, std::int64_t bound) {
  // Below 0 nothing is equal; the number after the largest is none.
  if (bound < 0) return a.symbols() == b.symbols() ? 0 : 1;
  return distance_of(a.symbols(), b.symbols(), std::min(bound, kUnbounded - 1));
}

std::int64_t levenshtein(std::string_view a, std::string_view b) {
  return levenshtein(EditText::of_utf8(a), EditText::of_utf8(b));
}

void levenshtein_lower_bounds(const EditText& text, std::span<const EditText> others, double* out) {
  if (others.empty()) return;
  cpu::bag_bounds(text.counts().data(), others.front().counts().data(), sizeof(EditText),
                  static_cast<std::int64_t>(others.size()), out);
  for (const EditText& other : others) {
    *out = std::max(*out, static_cast<double>(std::abs(text.size() - other.size())));
    ++out;
  }
}

}  // namespace kith
