// kith gen: made-up points, the same for the same seed on every platform.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/sizes.hpp"
#include "kith/error.hpp"
#include "support/generator.hpp"
#include "support/machine.hpp"

namespace kith::cli {
namespace {

const std::vector<std::string> kPointTypes = {"float32", "float64", "uint8", "int8", "float16", "bfloat16"};

struct GenArguments {
  std::string kind = "uniform";
  std::int64_t rows = 0;
  std::int64_t dims = 0;
  std::uint64_t seed = 0;
  std::int64_t skip = 0;
  std::int64_t clusters = 0;
  std::string dtype = "float32";
  OutputSettings output;
};

void require_memory(const GenArguments& settings) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 8;
  const std::int64_t rows = std::max(settings.rows, settings.clusters);
  const bool countable = rows <= kMost / settings.dims && settings.skip <= kMost;
  const std::int64_t bytes = countable ? rows * settings.dims * io::size_of(io::parse_element_type(settings.dtype)) : 0;
  const std::int64_t memory = support::inspect_machine().memory_bytes;
  if (countable && (memory == 0 || bytes <= memory)) return;
  throw Error(ErrorCode::out_of_memory, fmt::format("{} points × {} dims do not fit into this machine's memory of {}",
                                                    rows, settings.dims, format_bytes(memory)));
}

void check_settings(const GenArguments& settings) {
  require_memory(settings);
  const bool has_clusters = settings.kind == "clustered" || settings.kind == "duplicates";
  if (settings.clusters > 0 && !has_clusters) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--clusters = {} but {} points have none", settings.clusters, settings.kind));
  }
}

io::Array generate(const GenArguments& settings) {
  const support::PointGenerator generator(
      {support::parse_point_kind(settings.kind), settings.dims, settings.seed, settings.clusters});
  const auto rows = [&]<Element T>(T) {
    return io::Array::from(generator.rows<T>(settings.skip, settings.rows), settings.rows, settings.dims);
  };
  switch (io::parse_element_type(settings.dtype)) {
    case io::ElementType::float64: return rows(double{});
    case io::ElementType::uint8: return rows(std::uint8_t{});
    case io::ElementType::int8: return rows(std::int8_t{});
    case io::ElementType::float16: return rows(Float16{});
    case io::ElementType::bfloat16: return rows(BFloat16{});
    default: return rows(float{});
  }
}

void run(const GenArguments& settings, const Context& context) {
  check_settings(settings);
  check_output(settings.output, {Shape::array, settings.dims}, context);
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
  auto [command, settings] = add_command<GenArguments>(
      app, context, "gen", "Generate points; the same seed gives the same points everywhere", run);
  const std::string group = "Points";
  add_choice(
      *command, context, "--kind", settings->kind, support::point_kind_names(),
      [](const std::string& name) { support::parse_point_kind(name); }, "Distribution")
      ->group(group);
  add_integer(*command, "--rows", settings->rows, "Points", 1)->required()->group(group);
  add_integer(*command, "--dims", settings->dims, "Dimensions", 1)->required()->group(group);
  add_integer(*command, "--seed", settings->seed, "Any number from 0", 0)->group(group);
  add_integer(*command, "--skip", settings->skip,
              "Leave out the first N points: fresh points of the same distribution, for queries", 0)
      ->group(group);
  add_integer(*command, "--clusters", settings->clusters,
              "Centers of clustered (default 256), different points of duplicates (default 1000)", 1)
      ->group(group);
  add_dtype(*command, context, settings->dtype, kPointTypes, "Type of the coordinates")->group(group);
  add_output_options(*command, context, settings->output, "npy, npz, fvecs, fbin, h5, csv, ply, ...");
  add_general_options(*command, context, "Print a JSON object: the shape, and the points or their file");
}

}  // namespace kith::cli
