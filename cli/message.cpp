#include "cli/message.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "cli/printable.hpp"

namespace kith::cli {
namespace {

bool is_quiet = false;

void say(std::string_view label, std::string_view color, std::string_view text) {
  const bool colored = !label.empty() && stderr_has_color();
  const std::string shown = printable(text);
  const std::string line = colored ? fmt::format("kith: \x1b[{}m{}\x1b[0m{}\n", color, label, shown)
                                   : fmt::format("kith: {}{}\n", label, shown);
  std::fputs(line.c_str(), stderr);
}

}  // namespace

void set_quiet(bool quiet) {
  is_quiet = quiet;
}
bool quiet() {
  return is_quiet;
}

bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

bool stderr_has_color() {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term == nullptr || std::string_view(term) == "dumb") return false;
  return stderr_is_terminal();
}

void note(std::string_view text) {
  if (!is_quiet) say("", "", text);
}

void warning(std::string_view text) {
  if (!is_quiet) say("warning: ", "33", text);
}

void error(std::string_view text) {
  say("error: ", "31", text);
}

void print_to_stderr(std::string_view text) {
  if (!is_quiet) std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace kith::cli
