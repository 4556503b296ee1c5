// kith graph: every point's k nearest others, as compressed sparse rows.

#include <fmt/format.h>

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

const std::vector<std::string> kSymmetrizeNames = {"none", "union", "mutual"};

struct GraphArguments {
  std::string base;
  std::string base_array;
  InputSettings files;
  std::int64_t k = 0;
  SearchSettings search;
  std::string symmetrize = "none";
  OutputSettings output;
  ReportSettings report;
};

template <Element T>
Graph<DistanceOf<T>> run_graph(MatrixView<T> points, const GraphArguments& settings, Options options) {
  const InterruptScope scope;
  ProgressBar bar("searching", "distances");
  options.progress = bar.callback();
  Graph<DistanceOf<T>> result = graph(points, settings.k, parse_symmetrize(settings.symmetrize), options);
  throw_if_interrupted();
  return result;
}

template <class D>
void print_edges(const Graph<D>& graph) {
  write_stdout(fmt::format("{:>8} {:>10}  distance\n", "point", "id"));
  std::string text;
  for (std::int64_t point = 0; point < graph.points; ++point) {
    text.clear();
    const auto first = static_cast<std::size_t>(graph.indptr[static_cast<std::size_t>(point)]);
    const auto end = static_cast<std::size_t>(graph.indptr[static_cast<std::size_t>(point) + 1]);
    for (std::size_t edge = first; edge < end; ++edge) {
      fmt::format_to(std::back_inserter(text), "{:>8} {:>10}  {}\n", point, graph.indices[edge], graph.data[edge]);
    }
    write_stdout(text);
  }
}

template <class D>
void deliver_graph(const GraphArguments& settings, const Context& context, const Graph<D>& graph) {
  if (settings.report.stats) print_report(graph.report);
  const std::vector<std::int64_t> shape = {graph.points, graph.points};
  Answer answer;
  answer.json = json_object("graph");
  answer.json["symmetrize"] = settings.symmetrize;
  answer.json["points"] = graph.points;
  answer.json["edges"] = graph.indices.size();
  answer.json["plan"] = to_json(graph.report.plan);
  answer.json["report"] = to_json(graph.report);
  answer.add_to_json = [&](Json& json) {
    json["indptr"] = graph.indptr;
    json["indices"] = graph.indices;
    json["data"] = graph.data;
    json["shape"] = shape;
  };
  answer.print_text = [&] { print_edges(graph); };
  answer.as_text = settings.output.as_text();
  if (!answer.as_text) {
    answer.outputs.push_back(settings.output.with({{"indptr", io::Array::borrow(graph.indptr)},
                                                   {"indices", io::Array::borrow(graph.indices)},
                                                   {"data", io::Array::borrow(graph.data)},
                                                   {"shape", io::Array::borrow(shape)}}));
  }
  deliver(answer, context);
}

void run(const GraphArguments& settings, const Context& context) {
  Options options = settings.search.options();
  options.statistics = settings.report.stats;
  check_output(settings.output, {Shape::named}, context);
  const io::Array points =
      load_points("base", settings.base, settings.files.load_options(settings.base_array, kBaseArrays));
  io::visit_points(points, [&](auto view) {
    if (settings.report.explain && !context.json) {
      using T = typename decltype(view)::value_type;
      print_plan(explain({view.rows, view.rows, view.cols, settings.k, dtype_of<T>()}, options));
    }
    deliver_graph(settings, context, run_graph(view, settings, options));
  });
}

}  // namespace

void add_graph(CLI::App& app, Context& context) {
  auto [command, settings] =
      add_command<GraphArguments>(app, context, "graph", "The k-nearest-neighbor graph of a set of points", run);
  add_base(*command, settings->base, settings->base_array);
  add_input_options(*command, context, settings->files);
  add_k(*command, settings->k, "Neighbors of each point, itself left out: from 1 to the number of points - 1");
  add_choice(
      *command, context, "--symmetrize", settings->symmetrize, kSymmetrizeNames,
      [](const std::string& name) { parse_symmetrize(name); }, "Edges kept")
      ->group("Search");
  add_search_options(*command, context, settings->search);
  add_limits(*command, settings->search);
  add_period(*command, settings->search);
  add_output_options(*command, context, settings->output,
                     "npz, h5, json with the CSR arrays indptr indices data shape");
  add_report_options(*command, settings->report);
  add_general_options(*command, context, "Print one JSON object on stdout: plan, report, and the graph or its file");
  command->footer(
      "In Python: f = numpy.load('graph.npz');\n"
      "scipy.sparse.csr_matrix((f['data'], f['indices'], f['indptr']), shape=f['shape'])");
}

}  // namespace kith::cli
