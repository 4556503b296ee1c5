// kith explain: the plan of a search of a given shape; nothing is searched.

#include <algorithm>
#include <array>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/stdout.hpp"
#include "kith/plan.hpp"

namespace kith::cli {
namespace {

constexpr std::array<DType, 4> kDTypes = {DType::float32, DType::float64, DType::uint8, DType::int8};

struct ExplainArguments {
  Problem problem;
  std::string dtype = "float32";
  SearchSettings search;
};

void run(const ExplainArguments& settings, const Context& context) {
  Problem problem = settings.problem;
  problem.dtype =
      *std::find_if(kDTypes.begin(), kDTypes.end(), [&](DType dtype) { return settings.dtype == to_string(dtype); });
  const Plan plan = explain(problem, settings.search.options());
  if (!context.json) {
    const std::string text = to_string(plan);
    return write_stdout(text.ends_with('\n') ? text : text + '\n');
  }
  Json object = json_object("explain");
  object["plan"] = to_json(plan);
  print_json(object);
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  auto [command, settings] = add_command<ExplainArguments>(
      app, context, "explain", "The plan of a search: method, reason, cost and memory; nothing is run", run);
  Problem& problem = settings->problem;
  add_integer(*command, "--rows", problem.base_rows, "Base points")->required()->group("Problem");
  add_integer(*command, "--dims", problem.dims, "Dimensions")->required()->group("Problem");
  add_integer(*command, "--queries", problem.queries, "Queries")->required()->group("Problem");
  add_dtype(*command, context, settings->dtype, {"float32", "float64", "uint8", "int8"}, "Type of the coordinates")
      ->group("Problem");
  add_k(*command, problem.k, "Neighbors of each query");
  add_search_options(*command, context, settings->search);
  add_limits(*command, settings->search);
  add_period(*command, settings->search);
  add_general_options(*command, context, "Print the plan as a JSON object");
}

}  // namespace kith::cli
