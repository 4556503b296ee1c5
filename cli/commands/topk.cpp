// kith topk: the k smallest or largest values of each row of a matrix.

#include <fmt/format.h>

#include <chrono>
#include <concepts>

#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/points.hpp"
#include "cli/progress.hpp"
#include "cli/signals.hpp"
#include "cli/sizes.hpp"
#include "cli/table.hpp"
#include "cli/tuning.hpp"
#include "kith/kith.hpp"

namespace kith::cli {
namespace {

struct TopkArguments {
  std::string input;
  std::string array;
  InputSettings files;
  std::int64_t k = 0;
  bool largest = false;
  bool unsorted = false;
  bool values_only = false;
  bool kth_only = false;
  std::int64_t first_row = 0;
  std::optional<std::int64_t> row_count;
  SelectMethod method = SelectMethod::automatic;
  Backend backend = Backend::automatic;
  TuningSettings tuning;
  int threads = 0;
  std::int64_t memory = 0;
  OutputSettings output;
  bool stats = false;

  TopkOptions options() const {
    TopkOptions result;
    result.largest = largest;
    result.output = unsorted      ? TopkOutput::unsorted
                    : values_only ? TopkOutput::values_only
                    : kth_only    ? TopkOutput::kth_only
                                  : TopkOutput::sorted;
    result.backend = backend;
    result.method = method;
    result.tuning = tuning.values();
    result.threads = threads;
    result.memory_budget = memory;
    return result;
  }
};

template <Element T>
MatrixView<T> chosen_rows(MatrixView<T> matrix, const TopkArguments& settings) {
  if (settings.first_row < 0 || settings.first_row >= matrix.rows) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--first-row = {} but the matrix has {} rows, from 0", settings.first_row, matrix.rows));
  }
  const std::int64_t rest = matrix.rows - settings.first_row;
  const std::int64_t count = settings.row_count.value_or(rest);
  if (count < 1 || count > rest) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--row-count = {} but {} rows follow row {}", count, rest, settings.first_row));
  }
  return matrix.rows_from(settings.first_row, count);
}

template <class T>
void deliver_topk(const TopkArguments& settings, const Context& context, const Topk<T>& top, double seconds) {
  const auto values = io::Array::borrow(top.values.data(), top.rows, top.k);
  io::NamedArrays arrays = {{"values", values}};
  if (!top.ids.empty()) arrays.emplace_back("ids", io::Array::borrow(top.ids.data(), top.rows, top.k));
  Answer answer;
  answer.json = json_object("topk");
  answer.json["rows"] = top.rows;
  answer.json["k"] = settings.k;
  answer.json["largest"] = settings.largest;
  answer.json["report"] = {{"seconds", seconds}};
  answer.add_to_json = [&](Json& json) {
    json["values"] = rows_to_json(top.values, top.rows, top.k);
    if (!top.ids.empty()) json["ids"] = rows_to_json(top.ids, top.rows, top.k);
  };
  answer.print_text = [&] { print_ranked("row", "value", top.rows, top.k, top.ids, top.values, settings.first_row); };
  answer.as_text = settings.output.as_text();
  if (!answer.as_text) answer.outputs.push_back(settings.output.with(arrays));
  deliver(answer, context);
}

// Values of 16 bits as floats, which hold them.
template <Element T>
Topk<float> widened(const Topk<T>& top) {
  return {top.rows, top.k, {top.values.begin(), top.values.end()}, top.ids};
}

template <Element T>
void run_typed(MatrixView<T> matrix, const TopkArguments& settings, const Context& context) {
  TopkOptions options = settings.options();
  if (options.backend == Backend::emulated) note("backend emulated is slow: it is for development");
  Topk<T> top;
  const auto start = std::chrono::steady_clock::now();
  {
    const InterruptScope scope;
    ProgressBar bar("selecting", "values");
    options.progress = bar.callback();
    top = topk(matrix, settings.k, options);
    throw_if_interrupted();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (settings.stats) {
    const auto values = static_cast<double>(matrix.rows) * static_cast<double>(matrix.cols);
    print_to_stderr(fmt::format("{} of each of {} × {} values in {}: {} values/s\n", format_integer(settings.k),
                                format_integer(matrix.rows), format_integer(matrix.cols), format_seconds(seconds),
                                format_count(values / seconds)));
  }
  if constexpr (std::same_as<T, Float16> || std::same_as<T, BFloat16>) {
    deliver_topk(settings, context, widened(top), seconds);
  } else {
    deliver_topk(settings, context, top, seconds);
  }
}

void run(const TopkArguments& settings, const Context& context) {
  const bool values_alone = settings.values_only || settings.kth_only;
  check_output(settings.output,
               {values_alone ? Shape::array : Shape::table, settings.kth_only ? std::int64_t{1} : settings.k}, context);
  const io::Array matrix = load_points("input", settings.input,
                                       settings.files.load_options(settings.array, {"distances", "values", "data"}));
  io::visit_points(matrix, [&](auto view) { run_typed(chosen_rows(view, settings), settings, context); });
}

}  // namespace

void add_topk(CLI::App& app, Context& context) {
  auto [command, settings] =
      add_command<TopkArguments>(app, context, "topk", "The k smallest or largest values of each row of a matrix", run);
  add_file(*command, "--input", settings->input, "The matrix; - reads stdin")->required()->group("Input");
  command->add_option("--array", settings->array, "Its name in an npz or hdf5 file")->type_name("NAME")->group("Input");
  add_integer(*command, "--first-row", settings->first_row, "Start at this row")->group("Input");
  add_integer(*command, "--row-count", settings->row_count, "Take this many rows; default: all that follow")
      ->group("Input");
  add_input_options(*command, context, settings->files);
  add_k(*command, settings->k, "Values of each row, from 1 to its length");
  const std::string group = "Search";
  command->add_flag("--largest", settings->largest, "The largest instead of the smallest")->group(group);
  CLI::Option* unsorted = command->add_flag("--unsorted", settings->unsorted, "Any order within a row");
  CLI::Option* values_only = command->add_flag("--values-only", settings->values_only, "Sorted values, no ids");
  CLI::Option* kth_only = command->add_flag("--kth-only", settings->kth_only, "The k-th value of each row alone");
  unsorted->group(group)->excludes(values_only)->excludes(kth_only);
  values_only->group(group)->excludes(kth_only);
  kth_only->group(group);
  add_select_method(*command, context, settings->method);
  add_backend(*command, context, settings->backend, selecting_backends());
  add_threads(*command, settings->threads);
  add_memory(*command, settings->memory);
  add_tuning_options(*command, context, settings->tuning);
  add_output_options(*command, context, settings->output, "npz, h5, csv, json with arrays values and ids");
  command->add_flag("--stats", settings->stats, "Print time and rate on stderr")->group("General");
  add_general_options(*command, context, "Print one JSON object on stdout, with the answer or its file");
  command->footer("Rows are sorted by (value, id), the best first; NaN comes last; ids are column numbers from 0.");
}

}  // namespace kith::cli
