// What the program says to people: always on stderr, so that stdout carries data alone.
#pragma once

#include <string_view>

namespace kith::cli {

// Notes and warnings are dropped from now on; errors are not.
void set_quiet(bool quiet);
bool quiet();

// Color only on a terminal, and never when NO_COLOR is set and not empty or TERM is dumb.
bool stderr_has_color();
bool stderr_is_terminal();

void note(std::string_view text);     // "kith: text"
void warning(std::string_view text);  // "kith: warning: text"
void error(std::string_view text);    // "kith: error: text"

// Text without a prefix (a plan, a report); dropped when quiet.
void print_to_stderr(std::string_view text);

}  // namespace kith::cli
