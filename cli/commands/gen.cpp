// kith gen: made-up points, the same for the same seed on every platform.

#include <fmt/format.h>

#include <limits>

#include "cli/commands.hpp"
#include "cli/generator.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "kith/error.hpp"

namespace kith::cli {
namespace {

const std::vector<std::string> kPointTypes = {"float32", "float64", "uint8", "int8"};

struct Settings {
  std::string kind = "uniform";
  std::int64_t rows = 0;
  std::int64_t dims = 0;
  std::uint64_t seed = 0;
  std::int64_t skip = 0;
  std::int64_t clusters = 0;
  std::string dtype = "float32";
  OutputSettings output;
};

void require_sizes(const Settings& settings) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 8;
  if (settings.rows > kMost / settings.dims) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{} rows × {} dims are more than memory can address", settings.rows, settings.dims));
  }
}

io::Array generate(const Settings& settings) {
  const PointGenerator generator({parse_point_kind(settings.kind), settings.dims, settings.seed, settings.clusters});
  const auto rows = [&]<Element T>(T) {
    return io::Array::from(generator.rows<T>(settings.skip, settings.rows), settings.rows, settings.dims);
  };
  switch (io::parse_element_type(settings.dtype)) {
    case io::ElementType::float64: return rows(double{});
    case io::ElementType::uint8: return rows(std::uint8_t{});
    case io::ElementType::int8: return rows(std::int8_t{});
    default: return rows(float{});
  }
}

void run(const Settings& settings, const Context& context) {
  check_output(settings.output, Shape::array, context);
  require_sizes(settings);
  const io::Array points = generate(settings);
  Answer answer;
  answer.json = json_object("gen");
  answer.json["kind"] = settings.kind;
  answer.json["rows"] = settings.rows;
  answer.json["dims"] = settings.dims;
  answer.json["seed"] = settings.seed;
  answer.json["dtype"] = settings.dtype;
  deliver_array(answer, "points", points, settings.output, context);
}

}  // namespace

void add_gen(CLI::App& app, Context& context) {
  auto [command, settings] = add_command<Settings>(
      app, context, "gen", "Generate points; the same seed gives the same points everywhere", run);
  const std::string group = "Points";
  add_choice(
      *command, context, "--kind", settings->kind, point_kind_names(),
      [](const std::string& name) { parse_point_kind(name); }, "Distribution")
      ->group(group);
  const auto positive = CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()).description("");
  const auto not_negative = CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max() / 2).description("");
  command->add_option("--rows", settings->rows, "Points")->type_name("N")->required()->check(positive)->group(group);
  command->add_option("--dims", settings->dims, "Dimensions")
      ->type_name("N")
      ->required()
      ->check(positive)
      ->group(group);
  command->add_option("--seed", settings->seed, "Any number")->type_name("N")->group(group);
  command
      ->add_option("--skip", settings->skip,
                   "Leave out the first N points: fresh points of the same distribution, for queries")
      ->type_name("N")
      ->check(not_negative)
      ->group(group);
  command
      ->add_option("--clusters", settings->clusters,
                   "Centres of clustered (default 256), different points of duplicates (default 1000)")
      ->type_name("N")
      ->check(positive)
      ->group(group);
  add_dtype(*command, context, settings->dtype, kPointTypes, "Type of the coordinates")->group(group);
  add_output_options(*command, context, settings->output, "npy, npz, fvecs, fbin, h5, csv, ply, ...");
  add_general_options(*command, context, "Print a JSON object: the shape, and the points or their file");
}

}  // namespace kith::cli
