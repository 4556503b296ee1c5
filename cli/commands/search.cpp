// kith search: the k nearest base points of each query.

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/packed_bits.hpp"
#include "cli/points.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/search_input.hpp"
#include "cli/signals.hpp"
#include "cli/table.hpp"
#include "kith/kith.hpp"

namespace kith::cli {
namespace {

struct SearchArguments {
  SearchInput input;
  std::int64_t k = 0;
  SearchSettings search;
  OutputSettings output;
  std::string ids_path;
  std::string distances_path;
  bool certify = false;
  std::string packed_bits;  // empty: points are numbers
  const CLI::Option* metric = nullptr;
  ReportSettings report;

  // Whether ids and distances go together to --output, be it stdout.
  bool has_joint_output() const { return !output.output.empty() || (ids_path.empty() && distances_path.empty()); }
  // For --ids and --distances: --output-format and --compress are theirs when there is no joint output.
  OutputSettings separate_output() const { return has_joint_output() ? OutputSettings{} : output; }
};

// Only shifted-sort can certify its rows, and only the whole answer has an array of flags.
void check_certify(const SearchArguments& settings) {
  if (!settings.certify) return;
  if (settings.search.method != Method::shifted_sort)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--certify but --method is {}; only shifted-sort can certify its rows",
                            to_string(settings.search.method)));
  if (!settings.has_joint_output())
    throw Error(
        ErrorCode::invalid_argument,
        "--certify but --ids and --distances hold no flags; write the whole answer with -o: npz, h5, csv, json, "
        "or - for stdout");
}

void check_outputs(const SearchArguments& settings, const Context& context) {
  const bool joint = settings.has_joint_output();
  // Flags have a column only.
  if (joint) check_output(settings.output, {settings.certify ? Shape::table : Shape::neighbors, settings.k}, context);
  int on_stdout = (joint && settings.output.to_stdout()) || context.json ? 1 : 0;
  std::vector<std::string> files;
  if (!settings.output.output.empty()) files.push_back(settings.output.output);
  for (const auto& [path, shape] :
       {std::pair(settings.ids_path, Shape::ids), std::pair(settings.distances_path, Shape::array)}) {
    if (path.empty()) continue;
    check_output(path, settings.separate_output(), {shape, settings.k});
    files.push_back(path);
    if (path == "-") ++on_stdout;
  }
  io::check_output_paths(files);
  if (on_stdout > 1) {
    throw Error(ErrorCode::invalid_argument,
                "stdout can take only one of --ids -, --distances -, the whole answer and --json");
  }
}

template <class D>
std::vector<io::Output> outputs_of(const SearchArguments& settings, const Neighbors<D>& neighbors) {
  const auto ids = io::Array::borrow(neighbors.ids.data(), neighbors.queries, neighbors.k);
  const auto distances = io::Array::borrow(neighbors.distances.data(), neighbors.queries, neighbors.k);
  const OutputSettings separate = settings.separate_output();
  std::vector<io::Output> outputs;
  if (!settings.ids_path.empty()) outputs.push_back(separate.with(settings.ids_path, {{"ids", ids}}));
  if (!settings.distances_path.empty()) {
    outputs.push_back(separate.with(settings.distances_path, {{"distances", distances}}));
  }
  if (settings.has_joint_output() && !settings.output.as_text()) {
    io::NamedArrays arrays{{"ids", ids}, {"distances", distances}};
    if (settings.certify)
      arrays.emplace_back("certified", io::Array::borrow(neighbors.certified.data(), neighbors.queries, 1));
    outputs.push_back(settings.output.with(std::move(arrays)));
  }
  return outputs;
}

// Without queries, of each base point, itself left out.
template <Element T>
Neighbors<DistanceOf<T>> run_search(MatrixView<T> base, const std::optional<MatrixView<T>>& queries, std::int64_t k,
                                    Options options, const std::shared_ptr<const PairMetric>& own) {
  const InterruptScope scope;
  ProgressBar bar("searching", "distances");
  options.progress = bar.callback();
  Neighbors<DistanceOf<T>> neighbors;
  if (own != nullptr) {
    neighbors = queries ? search_by(own, base, *queries, k, options) : search_self_by(own, base, k, options);
  } else {
    neighbors = queries ? search(base, *queries, k, options) : Index<T>(base, options).search_self(k);
  }
  throw_if_interrupted();
  return neighbors;
}

// `plan` and `report` are what --json has beside the neighbors.
template <class D>
void deliver_neighbors(const SearchArguments& settings, const Context& context, const Neighbors<D>& neighbors,
                       Json plan, Json report) {
  Answer answer;
  answer.json = json_object("search");
  answer.json["plan"] = std::move(plan);
  answer.json["report"] = std::move(report);
  answer.add_to_json = [&](Json& json) {
    json["ids"] = rows_to_json(neighbors.ids, neighbors.queries, neighbors.k);
    json["distances"] = rows_to_json(neighbors.distances, neighbors.queries, neighbors.k);
    if (settings.certify) json["certified"] = neighbors.certified;
  };
  answer.print_text = [&] {
    print_ranked("query", "distance", neighbors.queries, neighbors.k, neighbors.ids, neighbors.distances, 0,
                 neighbors.certified);
  };
  answer.as_text = settings.has_joint_output() && settings.output.as_text();
  answer.outputs = outputs_of(settings, neighbors);
  deliver(answer, context);
}

// Files of bytes whose bits are the points.
void run_packed(const SearchArguments& settings, const Context& context) {
  PackedSearch search{settings.packed_bits, settings.metric->count() > 0 ? settings.search.metric : "hamming",
                      settings.k, settings.search};
  check_certify(settings);
  check_outputs(settings, context);
  io::Array base = settings.input.load_base();
  io::Array queries = base;
  if (!settings.input.queries.empty()) {
    queries = settings.input.load_queries();
    if (queries.type() == base.type()) match_queries(base, queries);
  }
  BitNeighbors found =
      search.run(base, settings.input.queries.empty() ? nullptr : &queries, settings.report.explain && !context.json);
  if (settings.report.stats) print_to_stderr(describe(found.report));
  Neighbors<float> neighbors;
  neighbors.queries = found.queries;
  neighbors.k = found.k;
  neighbors.ids = std::move(found.ids);
  neighbors.distances = std::move(found.distances);
  deliver_neighbors(settings, context, neighbors, to_json(found.report.plan), to_json(found.report));
}

void run(const SearchArguments& settings, const Context& context) {
  if (!settings.packed_bits.empty()) return run_packed(settings, context);
  Options options = settings.search.options();
  options.shifted_sort.certify = settings.certify;
  check_certify(settings);
  check_outputs(settings, context);
  const auto own = settings.search.own_metric();
  options.statistics = settings.report.stats && own == nullptr;  // of the library's metrics
  if (own != nullptr && settings.report.explain)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--explain but {}; --stats has the plan afterwards",
                    settings.search.has_formula() ? "--metric is a formula" : "--zero-vectors has no plan before"));
  io::Array base = settings.input.load_base();
  io::Array queries = base;
  const bool self = settings.input.queries.empty();
  if (!self) {
    queries = settings.input.load_queries();
    match_queries(base, queries);
  }
  io::visit_points(base, [&](auto base_view) {
    using T = typename decltype(base_view)::value_type;
    if (settings.report.explain && !context.json) {
      print_plan(explain({base.rows(), queries.rows(), base.cols(), settings.k, dtype_of<T>()}, options));
    }
    std::optional<MatrixView<T>> asked;
    if (!self) asked = queries.view<T>();
    const auto neighbors = run_search(base_view, asked, settings.k, options, own);
    if (settings.report.stats) print_report(neighbors.report);
    if (settings.certify) print_to_stderr(certified_text(neighbors.report));
    deliver_neighbors(settings, context, neighbors, to_json(neighbors.report.plan), to_json(neighbors.report));
  });
}

}  // namespace

void add_search(CLI::App& app, Context& context) {
  auto [command, settings] =
      add_command<SearchArguments>(app, context, "search", "The k nearest base points of each query", run);
  add_search_input(*command, context, settings->input);
  command->get_option("--queries")
      ->required(false)
      ->description("The points to find neighbors of; - reads stdin; default: each base point, itself left out");
  add_k(*command, settings->k, "Neighbors of each query, from 1 to the number of base points");
  add_search_options(*command, context, settings->search, true);
  settings->metric = command->get_option("--metric");
  add_packed_bits(*command, settings->packed_bits);
  add_limits(*command, settings->search);
  add_period(*command, settings->search);
  command
      ->add_flag("--certify", settings->certify,
                 "Say which queries are proven to have the neighbors of an exact search: their share on stderr, and\n"
                 "an array certified of 1 and 0 in the whole answer")
      ->group(kShiftedSortGroup);
  add_output_options(*command, context, settings->output, "npz, h5, csv, json with arrays ids and distances");
  add_file(*command, "--ids", settings->ids_path, "Write the ids alone, as npy, ivecs, ibin, csv, ...")
      ->group("Output");
  add_file(*command, "--distances", settings->distances_path,
           "Write the distances alone, as npy, fvecs, fbin, csv, ...")
      ->group("Output");
  add_report_options(*command, settings->report);
  add_general_options(*command, context, "Print one JSON object on stdout: plan, report, and the answer or its files");
}

}  // namespace kith::cli
