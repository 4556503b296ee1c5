#include "cli/app.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/exit_codes.hpp"
#include "cli/launched_copies.hpp"
#include "cli/message.hpp"
#include "cli/signals.hpp"
#include "cli/stdout.hpp"
#include "cli/suggest.hpp"
#include "kith/error.hpp"
#include "kith/version.hpp"

namespace kith::cli {
namespace {

constexpr const char* kFooter =
    "'kith COMMAND --help' lists a command's options. Data goes to stdout or --output, all else to stderr.\n"
    "Exit codes: 0 ok, 2 usage, 3 bad data, 4 memory, 5 no such device, 6 cannot write (a closed pipe too),\n"
    "130 interrupted, 1 a defect of kith.";

void build(CLI::App& app, Context& context) {
  context.app = &app;
  app.set_version_flag("--version", std::string("kith ") + version(), "Print the version and exit");
  app.get_formatter()->column_width(34);
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.require_subcommand(1);
  add_search(app, context);
  add_radius(app, context);
  add_graph(app, context);
  add_reduce(app, context);
  add_index(app, context);
  add_topk(app, context);
  add_explain(app, context);
  add_tune(app, context);
  add_info(app, context);
  add_gen(app, context);
  add_eval(app, context);
  add_convert(app, context);
  add_demo(app, context);
  add_completion(app, context);
  app.footer(kFooter);
}

// The command that was being read, if only its first word, or the program itself.
const CLI::App& current_command(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : current_command(*parsed.front());
}

// "kith index build"
std::string full_name(const CLI::App& command) {
  return command.get_parent() == nullptr ? "kith" : full_name(*command.get_parent()) + " " + command.get_name();
}

bool has_commands(const CLI::App& command) {
  return !command.get_subcommands([](const CLI::App*) { return true; }).empty();
}

std::vector<std::string> known_words(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    words.push_back(sub->get_name());
  }
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return words;
}

// What to say about a word that is neither an option nor expected.
std::string describe_stray(const CLI::App& app, const CLI::App& command) {
  const std::vector<std::string> stray = app.remaining(true);
  if (stray.empty()) return {};
  std::string word = stray.front();
  for (const std::string& candidate : stray) {
    if (candidate.starts_with("-") && candidate != "-") {
      word = candidate.substr(0, candidate.find('='));
      break;
    }
  }
  const char* what = word.starts_with("-")   ? "unknown option '"
                     : has_commands(command) ? "unknown command '"
                                             : "unexpected argument '";
  return what + word + "'" + did_you_mean(word, known_words(command));
}

int report_usage(const CLI::App& app, const CLI::ParseError& problem) {
  const CLI::App& command = current_command(app);
  std::string text = describe_stray(app, command);
  if (text.empty()) text = has_commands(command) ? "no command given" : problem.what();
  error(text);
  print_to_stderr("Try '" + full_name(command) + " --help'.\n");
  return kUsage;
}

// --help and --version. CLI11 calls them errors that are none.
int report_asked(const CLI::App& app, const CLI::ParseError& asked) {
  const bool version_asked = dynamic_cast<const CLI::CallForVersion*>(&asked) != nullptr;
  write_stdout(version_asked ? std::string(asked.what()) + "\n" : app.help());
  flush_stdout();
  return kOk;
}

int report(const Error& problem) {
  // Whoever closed the pipe knows that it is closed.
  if (problem.code() == ErrorCode::cannot_write && stdout_is_broken_pipe()) return kCannotWrite;
  if (problem.code() == ErrorCode::internal) {
    error(std::string("internal error: ") + problem.what());
  } else if (problem.code() == ErrorCode::cancelled) {
    note("interrupted");
  } else {
    error(problem.what());
  }
  return exit_code(problem.code());
}

int parse_and_run(int argc, const char* const* argv) {
  Context context;
  CLI::App app("k-nearest-neighbor search: exact, on every core", "kith");
  build(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return problem.get_exit_code() == kOk ? report_asked(app, problem) : report_usage(app, problem);
  }
  set_quiet(context.quiet);
  refuse_copies(current_command(app));
  context.run();
  flush_stdout();
  return kOk;
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  install_signal_handlers();
  try {
    return parse_and_run(argc, argv);
  } catch (const Error& problem) {
    return report(problem);
  } catch (const std::bad_alloc&) {
    error("out of memory");
    return kMemory;
  } catch (const std::exception& problem) {
    error(std::string("internal error: ") + problem.what());
    return kInternal;
  }
}

}  // namespace kith::cli
