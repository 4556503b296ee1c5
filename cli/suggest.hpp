// "Did you mean …?": the known name nearest to a misspelled one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kith::cli {

// The name with the fewest edits (insert, delete, replace, swap of neighbors) from `word`, case ignored; empty when
// none is within a third of the word's length, at least one edit.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

// "; did you mean 'x'?" or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace kith::cli
