// kith explain: the plan of a search of a given shape, here, on a device by name, or on all that are known; nothing is
// searched.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/sizes.hpp"
#include "cli/stdout.hpp"
#include "kith/error.hpp"
#include "kith/plan.hpp"

namespace kith::cli {
namespace {

constexpr std::array kDTypes = {DType::float32, DType::float64, DType::uint8,
                                DType::int8,    DType::float16, DType::bfloat16};

constexpr const char* kMachineGroup = "Machine";

struct ExplainArguments {
  Problem problem;
  std::string dtype = "float32";
  std::string device;
  bool compare = false;
  SearchSettings search;
};

// A row of the comparison: a plan, or why there is none.
Json planned(const std::string& name, const std::string& title, const std::function<Plan()>& make_plan) {
  Json row = {{"name", name}, {"title", title}};
  try {
    row["plan"] = to_json(make_plan());
  } catch (const Error& error) {
    row["error"] = error.what();
  }
  return row;
}

double base_bytes(const Problem& problem) {
  return static_cast<double>(problem.base_rows) * static_cast<double>(problem.dims) *
         static_cast<double>(size_of(problem.dtype));
}

Json compare(const Problem& problem, const Options& options) {
  Json rows = Json::array();
  Options host = options;
  host.backend = Backend::cpu;
  rows.push_back(planned("cpu", "the CPU of this machine", [&] { return explain(problem, host); }));
  for (const KnownDevice& device : known_devices()) {
    Json row = planned(device.name, device.title, [&] { return explain(problem, options, device.name); });
    row["bring_seconds"] = base_bytes(problem) / device.link_bandwidth;
    rows.push_back(row);
  }
  return rows;
}

std::string stages_text(const Json& plan) {
  const auto method = plan["method"].get<std::string>();
  const bool has_stages = method == "brute" || method == "two-stage" || method == "fused";
  return has_stages ? method + " " + plan["distance"].get<std::string>() : method;
}

std::string row_text(const Json& row) {
  const auto name = row["name"].get<std::string>();
  if (row.contains("error")) return fmt::format("{:<11} {}\n", name, row["error"].get<std::string>());
  const Json& plan = row["plan"];
  const bool is_cpu = plan["backend"] == "cpu";
  const auto memory = plan[is_cpu ? "workspace_bytes" : "peak_bytes"].get<std::int64_t>();
  return fmt::format("{:<11} {:<22} {:>12.4g} {:>12} {:>12} {}\n", name, stages_text(plan),
                     1e3 * plan["seconds"].get<double>(), format_bytes(memory),
                     is_cpu ? "" : fmt::format("{:.4g}", 1e3 * row["bring_seconds"].get<double>()),
                     is_cpu                          ? ""
                     : plan["base_fits"].get<bool>() ? "fits"
                                                     : "is streamed");
}

void print_comparison(const Problem& problem, const Options& options, const Context& context) {
  const Json rows = compare(problem, options);
  if (context.json) {
    Json object = json_object("explain");
    object["devices"] = rows;
    return print_json(object);
  }
  std::string text = fmt::format("{:<11} {:<22} {:>12} {:>12} {:>12} {}\n", "device", "method", "predicted ms",
                                 "memory", "bringing ms", "base");
  for (const Json& row : rows) text += row_text(row);
  text +=
      "Times of devices but the h200 are derived from datasheets, not measured; bringing a base that fits is not part "
      "of "
      "them.\n";
  write_stdout(text);
}

void run(const ExplainArguments& settings, const Context& context) {
  Problem problem = settings.problem;
  problem.dtype =
      *std::find_if(kDTypes.begin(), kDTypes.end(), [&](DType dtype) { return settings.dtype == to_string(dtype); });
  const Options options = settings.search.options();
  if (settings.compare) return print_comparison(problem, options, context);
  const Plan plan = settings.device.empty() ? explain(problem, options) : explain(problem, options, settings.device);
  if (!context.json) {
    const std::string text = to_string(plan);
    return write_stdout(text.ends_with('\n') ? text : text + '\n');
  }
  Json object = json_object("explain");
  object["plan"] = to_json(plan);
  print_json(object);
}

// Devices by name are of no machine: nothing that is said of this one goes with them.
void add_devices(CLI::App& command, Context& context, ExplainArguments& settings) {
  std::vector<std::string> names;
  for (const KnownDevice& device : known_devices()) names.push_back(device.name);
  // A plan that nothing but a name can fail.
  const auto check = [](const std::string& name) { explain({1, 1, 1, 1}, {}, name); };
  CLI::Option* device = add_choice(command, context, "--device", settings.device, names, check,
                                   "Plan for this GPU, which need not be here")
                            ->group(kMachineGroup);
  CLI::Option* all = command.add_flag("--compare", settings.compare,
                                      "A table: what this CPU and every GPU that is known would do and take");
  all->excludes(device)->group(kMachineGroup);
  for (CLI::Option* option : {device, all}) option->excludes(command.get_option("--backend"));
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  auto [command, settings] = add_command<ExplainArguments>(
      app, context, "explain", "The plan of a search: method, reason, cost and memory; nothing is run", run);
  Problem& problem = settings->problem;
  add_integer(*command, "--rows", problem.base_rows, "Base points")->required()->group("Problem");
  add_integer(*command, "--dims", problem.dims, "Dimensions")->required()->group("Problem");
  add_integer(*command, "--queries", problem.queries, "Queries")->required()->group("Problem");
  std::vector<std::string> dtypes;
  for (const DType dtype : kDTypes) dtypes.emplace_back(to_string(dtype));
  add_dtype(*command, context, settings->dtype, dtypes, "Type of the coordinates")->group("Problem");
  add_k(*command, problem.k, "Neighbors of each query");
  add_search_options(*command, context, settings->search);
  add_limits(*command, settings->search);
  add_period(*command, settings->search);
  add_devices(*command, context, *settings);
  add_general_options(*command, context, "Print the plan, or all plans, as a JSON object");
}

}  // namespace kith::cli
