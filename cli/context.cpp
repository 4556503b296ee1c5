#include "cli/context.hpp"

#include <fmt/format.h>

#include <charconv>

#include "cli/suggest.hpp"
#include "kith/error.hpp"

namespace kith::cli {

void add_general_options(CLI::App& command, Context& context, const std::string& json_description) {
  command.add_flag("--json", context.json, json_description)->group("General");
  command.add_flag("--quiet", context.quiet, "No notes, warnings or progress on stderr, only errors")->group("General");
}

std::string check_integer(const std::string& text, std::int64_t least) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return fmt::format("{} does not fit into 64 bits", text);
  if (error != std::errc() || end != text.data() + text.size()) return fmt::format("'{}' is not a whole number", text);
  return value < least ? fmt::format("{} is less than {}", text, least) : "";
}

CLI::Option* add_choice(CLI::App& command, Context& context, const std::string& option_name, std::string& value,
                        const std::vector<std::string>& names, const std::function<void(const std::string&)>& parse,
                        const std::string& description) {
  const auto check = [names, parse](const std::string& text) -> std::string {
    try {
      parse(text);
      return {};
    } catch (const Error& e) {
      return e.what() + did_you_mean(text, names);
    }
  };
  CLI::Option* option =
      command.add_option(option_name, value, fmt::format("{}: {}", description, fmt::join(names, " ")))
          ->type_name("NAME")
          ->check(CLI::Validator(check, ""));
  context.choices[option] = names;
  return option;
}

CLI::Option* add_file(CLI::App& command, const std::string& option_name, std::string& value,
                      const std::string& description) {
  return command.add_option(option_name, value, description)->type_name("FILE");
}

}  // namespace kith::cli
