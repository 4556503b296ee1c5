// kith tune: measures the device and writes what its steps cost, for the planner to read.

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/message.hpp"
#include "cli/options.hpp"
#include "cli/sizes.hpp"
#include "cli/stdout.hpp"
#include "kith/error.hpp"
#include "kith/io.hpp"
#include "kith/tune.hpp"

namespace kith::cli {
namespace {

struct TuneArguments {
  Backend backend = Backend::automatic;
  std::string output;
  bool quick = false;
};

std::string place_of(const TuneArguments& settings, const TuneReport& report) {
  std::string path = settings.output.empty() ? profile_path(report.device) : settings.output;
  if (path.empty())
    throw Error(ErrorCode::cannot_write, "neither XDG_CONFIG_HOME nor HOME is set; say with --output where to write");
  return path;
}

void write_profile(const std::string& path, bool own_folder, const TuneReport& report) {
  std::error_code failure;
  if (own_folder) std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failure);
  if (failure) throw Error(ErrorCode::cannot_write, fmt::format("{}: {}", path, failure.message()));
  io::save_text(path, profile_text(report));
}

// Steps of these costs a second say more than the costs.
std::string rate(double seconds) {
  return format_count(1 / seconds) + "/s";
}

void print_table(const TuneReport& report) {
  std::string text = fmt::format("{}; before: {}\n", report.device, report.source);
  text += fmt::format("{:<16}{:>14}{:>14}  {}\n", "step", "before", "now", "what");
  for (const StepCost& cost : report.costs)
    text += fmt::format("{:<16}{:>14}{:>14}  {}\n", cost.name, rate(cost.before),
                        cost.measured ? rate(cost.after) : "not measured", cost.meaning);
  write_stdout(text);
}

Json report_json(const TuneReport& report, const std::string& path) {
  Json object = json_object("tune");
  object["device"] = report.device;
  object["source"] = report.source;
  object["costs"] = Json::array();
  for (const StepCost& cost : report.costs)
    object["costs"].push_back({{"name", cost.name},
                               {"meaning", cost.meaning},
                               {"seconds_before", cost.before},
                               {"seconds", cost.after},
                               {"measured", cost.measured}});
  object["seconds"] = report.seconds;
  object["output"] = path;
  return object;
}

void run(const TuneArguments& settings, const Context& context) {
  const TuneReport report = tune({settings.backend, settings.quick});
  const std::string path = place_of(settings, report);
  write_profile(path, settings.output.empty(), report);
  if (context.json) return print_json(report_json(report, path));
  print_table(report);
  note(fmt::format("{} written in {}; searches {}", path, format_seconds(report.seconds),
                   settings.output.empty() ? "go by it from now on" : "go by it where KITH_PROFILE names it"));
}

}  // namespace

void add_tune(CLI::App& app, Context& context) {
  auto [command, settings] = add_command<TuneArguments>(
      app, context, "tune", "Measures the device and stores what the planner reckons with", run);
  std::vector<Backend> devices = searching_backends();
  std::erase(devices, Backend::cpu);
  add_backend(*command, context, settings->backend, devices);
  add_file(*command, "-o,--output", settings->output,
           "The file; default: <device>.json in ~/.config/kith, where searches look for it")
      ->group("Output");
  command->add_flag("--quick", settings->quick, "Less work and fewer runs")->group("Search");
  add_general_options(*command, context, "Print a JSON object");
  command->footer("Searches read the file $KITH_PROFILE, or else the default one; 'kith explain' says which was used.");
}

}  // namespace kith::cli
