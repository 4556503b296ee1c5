// Text from outside (names in a file, paths, messages that quote them) as it may be shown on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace kith::cli {

// UTF-8 as it is; control characters, which a terminal would obey, and bytes that are not UTF-8 as \xNN.
std::string printable(std::string_view text);

}  // namespace kith::cli
