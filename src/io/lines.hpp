// The lines of a text, counted from 1, and the words of a line.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace kith::io {

class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}

  // The next line without its "\n" or "\r\n"; false at the end of the text.
  bool next(std::string_view& line) {
    if (at_ >= text_.size()) return false;
    std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) end = text_.size();
    line = text_.substr(at_, end - at_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    at_ = end + 1;
    ++number_;
    return true;
  }

  std::int64_t number() const { return number_; }  // of the line last read
  // Where the next line begins; beyond the text when the last line did not end in "\n".
  std::size_t offset() const { return at_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
};

inline bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

inline std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Replaces `words` with the parts of the line between runs of blanks.
inline void split_words(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  while (!(line = trim(line)).empty()) {
    const std::size_t end = line.find_first_of(" \t");
    words.push_back(line.substr(0, end));
    line.remove_prefix(words.back().size());
  }
}

}  // namespace kith::io
