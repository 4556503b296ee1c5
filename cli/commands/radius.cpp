// kith radius: all base points within a distance of each query.

#include <fmt/format.h>

#include <optional>

#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/points.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/search_input.hpp"
#include "cli/signals.hpp"
#include "cli/stdout.hpp"
#include "kith/kith.hpp"

namespace kith::cli {
namespace {

struct RadiusArguments {
  SearchInput input;
  std::optional<double> radius;
  std::string radii;
  bool count = false;
  SearchSettings search;
  OutputSettings output;
  ReportSettings report;
};

template <class D>
std::vector<D> load_radii(const RadiusArguments& settings) {
  if (settings.radii.empty()) return {static_cast<D>(*settings.radius)};
  return io::load(settings.radii, settings.input.files.load_options("", {"radii"})).values<D>();
}

template <Element T>
RadiusNeighbors<DistanceOf<T>> run_radius(MatrixView<T> base, const std::optional<MatrixView<T>>& queries,
                                          const RadiusArguments& settings, Options options) {
  const InterruptScope scope;
  ProgressBar bar("searching", "distances");
  options.progress = bar.callback();
  const std::vector<DistanceOf<T>> radii = load_radii<DistanceOf<T>>(settings);
  const RadiusOutput output = settings.count ? RadiusOutput::count_only : RadiusOutput::neighbors;
  const Index<T> index(base, options);
  auto found = queries ? index.search_radius(*queries, radii, output) : index.search_radius_self(radii, output);
  throw_if_interrupted();
  return found;
}

template <class D>
void print_neighbors(const RadiusNeighbors<D>& found) {
  write_stdout(fmt::format("{:>8} {:>10}  distance\n", "query", "id"));
  std::string text;
  for (std::int64_t query = 0; query < found.queries; ++query) {
    text.clear();
    const auto ids = found.ids_of(query);
    const auto distances = found.distances_of(query);
    for (std::size_t i = 0; i < ids.size(); ++i)
      fmt::format_to(std::back_inserter(text), "{:>8} {:>10}  {}\n", query, ids[i], distances[i]);
    write_stdout(text);
  }
}

template <class D>
void deliver_lists(Answer& answer, const RadiusArguments& settings, const Context& context,
                   const RadiusNeighbors<D>& found) {
  answer.json["neighbors"] = found.ids.size();
  answer.add_to_json = [&](Json& json) {
    json["offsets"] = found.offsets;
    json["ids"] = found.ids;
    json["distances"] = found.distances;
  };
  answer.print_text = [&] { print_neighbors(found); };
  answer.as_text = settings.output.as_text();
  if (!answer.as_text) {
    answer.outputs.push_back(settings.output.with({{"offsets", io::Array::borrow(found.offsets)},
                                                   {"ids", io::Array::borrow(found.ids)},
                                                   {"distances", io::Array::borrow(found.distances)}}));
  }
  deliver(answer, context);
}

template <class D>
void deliver_radius(const RadiusArguments& settings, const Context& context, const RadiusNeighbors<D>& found) {
  if (settings.report.stats) print_report(found.report);
  Answer answer;
  answer.json = json_object("radius");
  answer.json["queries"] = found.queries;
  answer.json["plan"] = to_json(found.report.plan);
  answer.json["report"] = to_json(found.report);
  if (!settings.count) return deliver_lists(answer, settings, context, found);
  std::vector<std::int64_t> counts;
  for (std::int64_t query = 0; query < found.queries; ++query) counts.push_back(found.count_of(query));
  deliver_array(answer, "counts", io::Array::borrow(counts.data(), found.queries, 1), settings.output, context);
}

void run(const RadiusArguments& settings, const Context& context) {
  if (settings.radius.has_value() == !settings.radii.empty())
    throw Error(ErrorCode::invalid_argument, "one of --radius and --radii is needed, and not both");
  Options options = settings.search.options();
  options.statistics = settings.report.stats;
  check_output(settings.output, settings.count ? Content{Shape::array, 1} : Content{Shape::named}, context);
  io::Array base = settings.input.load_base();
  io::Array queries = base;
  const bool self = settings.input.queries.empty();
  if (!self) {
    queries = settings.input.load_queries();
    match_queries(base, queries);
  }
  io::visit_points(base, [&](auto base_view) {
    using T = typename decltype(base_view)::value_type;
    std::optional<MatrixView<T>> asked;
    if (!self) asked = queries.view<T>();
    const auto found = run_radius(base_view, asked, settings, options);
    if (settings.report.explain && !context.json) print_plan(found.report.plan);
    deliver_radius(settings, context, found);
  });
}

}  // namespace

void add_radius(CLI::App& app, Context& context) {
  auto [command, settings] =
      add_command<RadiusArguments>(app, context, "radius", "All base points within a distance of each query", run);
  add_search_input(*command, context, settings->input);
  command->get_option("--queries")
      ->required(false)
      ->description("The points to find neighbors of; - reads stdin; default: each base point, itself left out");
  command->add_option("--radius", settings->radius, "The distance; with inner_product the least product")
      ->type_name("NUMBER")
      ->group("Search");
  add_file(*command, "--radii", settings->radii, "A radius for each query, from a file")->group("Search");
  command->add_flag("--count", settings->count, "How many there are, which is faster than finding them")
      ->group("Search");
  add_search_options(*command, context, settings->search);
  add_period(*command, settings->search);
  add_output_options(*command, context, settings->output,
                     "npz, h5, json with arrays offsets, ids and distances; --count: npy, csv, ...");
  add_report_options(*command, settings->report);
  add_general_options(*command, context, "Print one JSON object on stdout: plan, report, and the answer or its file");
  command->footer("Query q has ids[offsets[q]] to ids[offsets[q + 1] - 1], nearest first.");
}

}  // namespace kith::cli
