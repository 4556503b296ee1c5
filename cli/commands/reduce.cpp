// kith reduce: what the k nearest base points of each query amount to.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/points.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/search_input.hpp"
#include "cli/signals.hpp"
#include "kith/kith.hpp"

namespace kith::cli {
namespace {

struct ReduceArguments {
  SearchInput input;
  std::string values;
  std::string values_array;
  std::string op = "mean";
  bool normals = false;
  std::int64_t k = 0;
  SearchSettings search;
  OutputSettings output;
  ReportSettings report;

  ReduceOp operation() const { return normals ? ReduceOp::covariance : parse_reduce_op(op); }
  bool to_ply() const {
    return io::parse_format(output.format) == io::Format::ply ||
           (output.format == "auto" && io::format_of(output.output) == io::Format::ply);
  }
};

void check_arguments(const ReduceArguments& settings) {
  const ReduceOp op = settings.operation();
  if (uses_values(op) && settings.values.empty())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--op {} is of values; give them with --values, a row for each base point", to_string(op)));
  if (!uses_values(op) && !settings.values.empty())
    throw Error(ErrorCode::invalid_argument, fmt::format("--values but --op {} looks at none", to_string(op)));
  if (settings.normals && settings.op != "mean" && settings.op != "covariance")
    throw Error(ErrorCode::invalid_argument, fmt::format("--normals are of --op covariance, not {}", settings.op));
}

// Points and normals side by side, as a ply has them.
template <Element T, class D>
Matrix<D> with_points(MatrixView<T> points, const Matrix<D>& directions) {
  Matrix<D> joined(points.rows, points.cols + directions.cols());
  for (std::int64_t r = 0; r < points.rows; ++r) {
    for (std::int64_t c = 0; c < points.cols; ++c) joined(r, c) = static_cast<D>(points(r, c));
    std::copy(directions.row(r), directions.row(r) + directions.cols(), joined.row(r) + points.cols);
  }
  return joined;
}

template <Element T>
void run_typed(MatrixView<T> base, MatrixView<T> queries, const std::vector<DistanceOf<T>>& values,
               const ReduceArguments& settings, const Context& context) {
  using D = DistanceOf<T>;
  Options options = settings.search.options();
  options.statistics = settings.report.stats;
  const auto value_cols = static_cast<std::int64_t>(values.size()) / base.rows;
  const MatrixView<D> value_view(values.data(), base.rows, value_cols);
  Reduced<D> reduced;
  {
    const InterruptScope scope;
    ProgressBar bar("reducing", "distances");
    options.progress = bar.callback();
    reduced = reduce(base, queries, settings.k, value_view, settings.operation(), options);
    throw_if_interrupted();
  }
  if (settings.normals) reduced.values = normals(reduced.values, base.cols);
  if (settings.normals && settings.to_ply()) reduced.values = with_points(queries, reduced.values);
  if (settings.report.stats) print_report(reduced.report);
  Answer answer;
  answer.json = json_object("reduce");
  answer.json["op"] = to_string(settings.operation());
  answer.json["k"] = settings.k;
  answer.json["plan"] = to_json(reduced.report.plan);
  answer.json["report"] = to_json(reduced.report);
  const io::Array array = io::Array::borrow(reduced.values.data(), reduced.values.rows(), reduced.values.cols());
  deliver_array(answer, settings.normals ? "normals" : "values", array, settings.output, context);
}

// As the distances are: in double where the points are, else in single precision.
template <class D>
std::vector<D> load_values(const ReduceArguments& settings, std::int64_t base_rows) {
  if (settings.values.empty()) return {};
  const io::Array array =
      io::load(settings.values, settings.input.files.load_options(settings.values_array, {"values"}));
  if (array.rows() != base_rows)
    throw Error(ErrorCode::bad_data, fmt::format("{}: {} rows of values, but the base has {} points", settings.values,
                                                 array.rows(), base_rows));
  return array.values<D>();
}

void run(const ReduceArguments& settings, const Context& context) {
  check_arguments(settings);
  check_output(settings.output, {Shape::array, settings.normals ? 3 : 1}, context);
  io::Array base = settings.input.load_base();
  io::Array queries = base;
  if (!settings.input.queries.empty()) {
    queries = settings.input.load_queries();
    match_queries(base, queries);
  }
  io::visit_points(base, [&](auto base_view) {
    using T = typename decltype(base_view)::value_type;
    if (settings.report.explain && !context.json)
      print_plan(
          explain({base.rows(), queries.rows(), base.cols(), settings.k, dtype_of<T>()}, settings.search.options()));
    run_typed(base_view, queries.view<T>(), load_values<DistanceOf<T>>(settings, base.rows()), settings, context);
  });
}

}  // namespace

void add_reduce(CLI::App& app, Context& context) {
  auto [command, settings] = add_command<ReduceArguments>(
      app, context, "reduce", "What the k nearest base points of each query amount to: means, densities, normals", run);
  add_search_input(*command, context, settings->input);
  command->get_option("--queries")
      ->required(false)
      ->description("The points whose neighbors are reduced; - reads stdin; default: the base itself");
  add_file(*command, "--values", settings->values, "A row of values for each base point")->group("Input");
  command->add_option("--values-array", settings->values_array, "Its name in an npz or hdf5 file; default: values")
      ->type_name("NAME")
      ->group("Input");
  add_k(*command, settings->k, "Neighbors of each query, from 1 to the number of base points");
  add_choice(
      *command, context, "--op", settings->op, reduce_op_names(),
      [](const std::string& name) { parse_reduce_op(name); }, "What is made of the neighbors")
      ->group("Search");
  command
      ->add_flag("--normals", settings->normals,
                 "With --op covariance, which it implies: the direction of least extent; in a ply behind the points")
      ->group("Search");
  add_search_options(*command, context, settings->search);
  add_period(*command, settings->search);
  add_output_options(*command, context, settings->output, "npy, npz, fvecs, h5, csv, ply (normals), json, ...");
  add_report_options(*command, settings->report);
  add_general_options(*command, context, "Print one JSON object on stdout: plan, report, and the answer or its file");
  command->footer(
      "weighted-mean has weights 1/distance; density is k over the volume of the ball to the k-th neighbor;\n"
      "covariance gives the upper triangle row by row. The other operations are of each column of --values.");
}

}  // namespace kith::cli
