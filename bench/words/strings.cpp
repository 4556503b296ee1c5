#include "words/strings.hpp"

#include <algorithm>
#include <fstream>
#include <random>
#include <stdexcept>
#include <utility>

namespace kith::bench {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  if (lines.empty()) throw std::runtime_error("no lines in " + path);
  return lines;
}

// Syllables, as many as words of English have, and no two words alike.
std::vector<std::string> made_up(std::int64_t count) {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  const std::string consonants = "bcdfghklmnprstvwz";
  const std::string vowels = "aeiou";
  std::vector<std::string> all;
  while (std::ssize(all) < count) {
    std::string word;
    for (auto syllable = 1 + below(4); syllable > 0; --syllable) {
      word += consonants[below(consonants.size())];
      word += vowels[below(vowels.size())];
      if (below(2) == 0) word += consonants[below(consonants.size())];
    }
    all.push_back(word);
    if (std::ssize(all) < count) continue;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  return all;
}

// Letters of others than English stay as they are, which may be several bytes.
std::string misspelled(std::string word, std::int64_t rule) {
  const bool plain = std::all_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!plain || word.size() < 2) return word;
  const std::size_t middle = word.size() / 2;
  switch (rule) {
    case 1: std::swap(word[middle - 1], word[middle]); break;
    case 2: word.erase(middle, 1); break;
    case 3: word.insert(middle, 1, 'e'); break;
    case 4: word[middle] = word[middle] == 'a' ? 'o' : 'a'; break;
    default: break;
  }
  return word;
}

}  // namespace

Strings words(const std::string& path, std::int64_t count, std::int64_t queries) {
  Strings made{"words", path.empty() ? "made-up words" : "lines of " + path, {}, {}};
  made.objects = path.empty() ? made_up(count) : lines_of(path);
  const std::int64_t objects = std::ssize(made.objects);
  for (std::int64_t i = 0; i < queries; ++i)
    made.queries.push_back(misspelled(made.objects[static_cast<std::size_t>(i * objects / queries)], i % 5));
  return made;
}

Strings reads(std::int64_t count, std::int64_t queries) {
  Strings made{"reads", "200 to 400 letters of four, 100 families", {}, {}};
  std::mt19937_64 random(2);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  const auto letter = [&] { return "ACGT"[below(4)]; };
  std::vector<std::string> ancestors(100);
  for (std::string& ancestor : ancestors)
    for (auto size = 200 + below(201); size > 0; --size) ancestor += letter();
  for (std::int64_t i = 0; i < count + queries; ++i) {
    std::string read = ancestors[below(ancestors.size())];
    for (auto changes = below(read.size() / 5); changes > 0; --changes) {
      const std::size_t at = below(read.size());
      switch (below(3)) {
        case 0: read[at] = letter(); break;
        case 1: read.erase(at, 1); break;
        default: read.insert(at, 1, letter());
      }
    }
    (i < count ? made.objects : made.queries).push_back(std::move(read));
  }
  return made;
}

}  // namespace kith::bench
