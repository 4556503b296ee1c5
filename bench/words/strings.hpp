// strings.hpp: strings to search, and those to search for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kith::bench {

struct Strings {
  std::string name;
  std::string about;
  std::vector<std::string> objects;
  std::vector<std::string> queries;
};

// The lines of a file, or made-up words where the path is empty. Queries are some of them, spread evenly, by turns as
// they are, with two letters changed about, with one left out, with one put in, and with one replaced.
Strings words(const std::string& path, std::int64_t count, std::int64_t queries);

// Strings of 200 to 400 letters of four, in families: copies of an ancestor with some letters changed.
Strings reads(std::int64_t count, std::int64_t queries);

}  // namespace kith::bench
