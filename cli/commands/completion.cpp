// kith completion: shell completion scripts, written from the option tree itself.

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/stdout.hpp"
#include "kith/error.hpp"

namespace kith::cli {
namespace {

const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

struct CompletionArguments {
  std::string shell;
};

// What the scripts need to know of one option.
struct OptionEntry {
  std::vector<std::string> names;  // "-o", "--output"; none for a positional
  std::string description;
  std::vector<std::string> choices;
  bool takes_value = false;
  bool is_file = false;
};

struct CommandEntry {
  std::string name;
  std::string description;
  std::vector<OptionEntry> options;
};

std::string joined(const std::vector<std::string>& words, const char* separator = " ") {
  return fmt::format("{}", fmt::join(words, separator));
}

std::vector<OptionEntry> options_of(const CLI::App& command, const Context& context) {
  std::vector<OptionEntry> entries;
  for (const CLI::Option* option : command.get_options()) {
    OptionEntry entry;
    for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
    entry.description = option->get_description();
    const auto choices = context.choices.find(option);
    if (choices != context.choices.end()) {
      entry.choices = choices->second;
      // The shell shows the choices anyway.
      const std::string list = ": " + joined(entry.choices);
      if (entry.description.ends_with(list)) entry.description.resize(entry.description.size() - list.size());
    }
    entry.takes_value = option->get_items_expected_max() > 0;
    entry.is_file = option->get_type_name() == "FILE";
    entries.push_back(std::move(entry));
  }
  return entries;
}

// A command that has commands is completed by their names and by the options of all of them.
void add_commands_within(const CLI::App& command, const Context& context, std::vector<OptionEntry>& entries) {
  OptionEntry names{{}, "What to do", {}, true, false};
  for (const CLI::App* within : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.choices.push_back(within->get_name());
    for (OptionEntry& option : options_of(*within, context)) {
      const bool known = std::any_of(entries.begin(), entries.end(),
                                     [&](const OptionEntry& entry) { return entry.names == option.names; });
      if (!known) entries.push_back(std::move(option));
    }
  }
  if (!names.choices.empty()) entries.push_back(std::move(names));
}

std::vector<CommandEntry> commands_of(const CLI::App& app, const Context& context) {
  std::vector<CommandEntry> entries;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    std::vector<OptionEntry> options = options_of(*command, context);
    add_commands_within(*command, context, options);
    entries.push_back({command->get_name(), command->get_description(), std::move(options)});
  }
  return entries;
}

std::string command_names(const std::vector<CommandEntry>& commands, const char* separator) {
  std::vector<std::string> names;
  for (const CommandEntry& command : commands) names.push_back(command.name);
  return joined(names, separator);
}

// `text` with a backslash before each of `specials`, and quotes as a single-quoted shell word wants them.
std::string escaped(const std::string& text, std::string_view specials) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (specials.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// One line per option that takes a value: what may follow it.
std::string bash_values(const CommandEntry& command) {
  std::string text;
  for (const OptionEntry& option : command.options) {
    if (!option.takes_value || option.names.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) patterns.push_back(command.name + ":" + name);
    // Without a reply bash completes file names.
    const std::string reply = option.choices.empty()
                                  ? ""
                                  : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\")); ", joined(option.choices));
    text += fmt::format("    {}) {}return ;;\n", joined(patterns, "|"), reply);
  }
  return text;
}

std::string bash_words(const CommandEntry& command) {
  std::vector<std::string> words;
  bool takes_file = false;
  for (const OptionEntry& option : command.options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
    if (!option.names.empty()) continue;
    words.insert(words.end(), option.choices.begin(), option.choices.end());
    takes_file = takes_file || option.is_file;
  }
  const char* files = takes_file ? " $(compgen -f -- \"$cur\")" : "";
  return fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\"){}) ;;\n", command.name, joined(words), files);
}

std::string bash_script(const std::vector<CommandEntry>& commands) {
  std::string text = "# bash completion for kith; source it, or put it into bash's completions folder as \"kith\"\n";
  text += "_kith() {\n";
  text += "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word\n";
  text += "  COMPREPLY=()\n";
  text += "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n";
  text += fmt::format("    case $word in {}) command=$word; break ;; esac\n", command_names(commands, "|"));
  text += "  done\n  case \"$command:$prev\" in\n";
  for (const CommandEntry& command : commands) text += bash_values(command);
  text += "  esac\n  case \"$command\" in\n";
  for (const CommandEntry& command : commands) text += bash_words(command);
  text += fmt::format("    *) COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\")) ;;\n",
                      command_names(commands, " "));
  text += "  esac\n}\ncomplete -o bashdefault -o default -F _kith kith\n";
  return text;
}

std::string zsh_option(const OptionEntry& option) {
  const std::string description = escaped(option.description, "[]:\\");
  const std::string action = !option.choices.empty() ? fmt::format("({})", joined(option.choices))
                             : option.is_file        ? "_files"
                                                     : " ";
  if (option.names.empty()) return fmt::format(" \\\n        '1:{}:{}'", description, action);
  const std::string value = option.takes_value ? fmt::format(":value:{}", action) : "";
  if (option.names.size() == 1) return fmt::format(" \\\n        '{}[{}]{}'", option.names[0], description, value);
  return fmt::format(" \\\n        '({})'{{{}}}'[{}]{}'", joined(option.names), joined(option.names, ","), description,
                     value);
}

std::string zsh_script(const std::vector<CommandEntry>& commands) {
  std::string text = "#compdef kith\n_kith() {\n  local -a commands=(\n";
  for (const CommandEntry& command : commands) {
    text += fmt::format("    '{}:{}'\n", command.name, escaped(command.description, ":\\"));
  }
  text += "  )\n  local context state line\n";
  text += "  _arguments -C '(- *)'{-h,--help}'[help]' '(- *)--version[version]' '1: :->command' '*:: :->options'\n";
  text += "  case $state in\n    command) _describe command commands ;;\n    options)\n      case $words[1] in\n";
  for (const CommandEntry& command : commands) {
    text += fmt::format("      {}) _arguments", command.name);
    for (const OptionEntry& option : command.options) text += zsh_option(option);
    text += " ;;\n";
  }
  text += "      esac ;;\n  esac\n}\n";
  // Autoloaded from fpath the file is the function's body; sourced it must register itself.
  text += "if [ \"$funcstack[1]\" = _kith ]; then _kith \"$@\"; else compdef _kith kith; fi\n";
  return text;
}

std::string fish_option(const CommandEntry& command, const OptionEntry& option) {
  std::string text = fmt::format("complete -c kith -n '__fish_seen_subcommand_from {}'", command.name);
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.choices.empty()) {
    text += fmt::format(" {}a '{}'", option.names.empty() ? "-" : "-x", joined(option.choices));
  } else if (option.is_file) {
    text += option.names.empty() ? " -F" : " -rF";
  } else if (option.takes_value) {
    text += " -x";
  }
  return text + fmt::format(" -d '{}'\n", escaped(option.description, ""));
}

std::string fish_script(const std::vector<CommandEntry>& commands) {
  std::string text = "# fish completion for kith\ncomplete -c kith -f\n";
  for (const CommandEntry& command : commands) {
    text += fmt::format("complete -c kith -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        escaped(command.description, ""));
  }
  text += "complete -c kith -n __fish_use_subcommand -l version -d 'Print the version'\n";
  for (const CommandEntry& command : commands) {
    for (const OptionEntry& option : command.options) text += fish_option(command, option);
  }
  return text;
}

void require_shell(const std::string& name) {
  if (std::find(kShells.begin(), kShells.end(), name) != kShells.end()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("unknown shell '{}'; known are {}", name, joined(kShells, ", ")));
}

void run(const CompletionArguments& settings, const Context& context) {
  const std::vector<CommandEntry> commands = commands_of(*context.app, context);
  write_stdout(settings.shell == "bash"  ? bash_script(commands)
               : settings.shell == "zsh" ? zsh_script(commands)
                                         : fish_script(commands));
}

}  // namespace

void add_completion(CLI::App& app, Context& context) {
  auto [command, settings] =
      add_command<CompletionArguments>(app, context, "completion", "Print a completion script for a shell", run);
  add_choice(*command, context, "shell", settings->shell, kShells, require_shell, "The shell")->required();
  command->footer(
      "bash: source <(kith completion bash)\nzsh:  source <(kith completion zsh)\n"
      "fish: kith completion fish | source");
}

}  // namespace kith::cli
