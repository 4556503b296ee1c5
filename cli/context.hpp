// What the commands share while the command line is taken apart.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kith::cli {

struct Context {
  const CLI::App* app = nullptr;  // the whole tree, for completion
  bool quiet = false;
  bool json = false;
  // The values an option takes, where they can be listed: for suggestions and completion.
  std::map<const CLI::Option*, std::vector<std::string>> choices;
  // What the chosen command does, called after a successful parse.
  std::function<void()> run;
};

// A subcommand and what its options are read into.
template <class Settings>
struct Command {
  CLI::App* app;
  std::shared_ptr<Settings> settings;
};

// `run` is called with the settings after a successful parse.
template <class Settings>
Command<Settings> add_command(CLI::App& parent, Context& context, const std::string& name,
                              const std::string& description, void (*run)(const Settings&, const Context&)) {
  Command<Settings> command{parent.add_subcommand(name, description)->group("Commands"), std::make_shared<Settings>()};
  command.app->callback([settings = command.settings, &context, run] {
    context.run = [settings, &context, run] { run(*settings, context); };
  });
  return command;
}

// --quiet and --json, last in the help.
void add_general_options(CLI::App& command, Context& context, const std::string& json_description);

// Empty, or what is wrong with `text` as a whole number from `least` to 2^63 − 1. CLI11 itself lets large ones
// saturate.
std::string check_integer(const std::string& text, std::int64_t least);

// An option with a whole number; `value` may be an optional one.
template <class T>
CLI::Option* add_integer(CLI::App& command, const std::string& option_name, T& value, const std::string& description,
                         std::int64_t least = std::numeric_limits<std::int64_t>::min()) {
  const auto check = [least](const std::string& text) { return check_integer(text, least); };
  return command.add_option(option_name, value, description)->type_name("N")->check(CLI::Validator(check, ""));
}

// An option whose value is one of `names`, or anything else that `parse` takes without throwing kith::Error (aliases).
// The help lists the names after the description.
CLI::Option* add_choice(CLI::App& command, Context& context, const std::string& option_name, std::string& value,
                        const std::vector<std::string>& names, const std::function<void(const std::string&)>& parse,
                        const std::string& description);

// The same for an enumeration, whose value is set as it is parsed.
template <class Value>
CLI::Option* add_choice(CLI::App& command, Context& context, const std::string& option_name, Value& value,
                        const std::vector<Value>& known, Value (*parse)(std::string_view),
                        const std::string& description) {
  auto text = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const Value one : known) names.emplace_back(to_string(one));
  return add_choice(
      command, context, option_name, *text, names,
      [&value, parse, text](const std::string& name) { value = parse(name); }, description);
}

// An option that names a file.
CLI::Option* add_file(CLI::App& command, const std::string& option_name, std::string& value,
                      const std::string& description);

}  // namespace kith::cli
