// kith eval: recall and distance ratio of an answer, against the truth.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/message.hpp"
#include "cli/options.hpp"
#include "cli/points.hpp"
#include "cli/progress.hpp"
#include "cli/quality.hpp"
#include "cli/report.hpp"
#include "cli/search_input.hpp"
#include "cli/signals.hpp"
#include "cli/sizes.hpp"
#include "cli/stdout.hpp"
#include "kith/kith.hpp"

namespace kith::cli {
namespace {

// The ids of an answer when its file holds several arrays and none is named.
const std::vector<std::string> kIdArrays = {"ids", "neighbors", "indices"};

struct EvalArguments {
  SearchInput input;
  std::string result;
  std::string result_array;
  std::string truth;
  std::string truth_array;
  std::optional<std::int64_t> k;  // not given: as many as the answer has
  SearchSettings search;
  ReportSettings report;
};

struct AnswerFile {
  io::Array ids;
  std::optional<io::Array> distances;
};

bool has_array(const io::FileInfo& info, const std::string& name) {
  return std::any_of(info.arrays.begin(), info.arrays.end(), [&](const auto& array) { return array.name == name; }) ||
         std::any_of(info.columns.begin(), info.columns.end(),
                     [&](const auto& column) { return column == name || column.rfind(name + "_", 0) == 0; });
}

// Ids alone, or ids and distances in one file. Standard input is read once, so only what load_all names is found there.
AnswerFile load_answer(const std::string& path, const std::string& array) {
  AnswerFile answer;
  if (path == "-") {
    for (auto& [name, values] : io::load_all(path)) {
      const bool is_ids =
          array.empty() ? name.empty() || std::count(kIdArrays.begin(), kIdArrays.end(), name) > 0 : name == array;
      if (is_ids) answer.ids = values;
      if (name == "distances") answer.distances = values;
    }
    if (answer.ids.rows() > 0) return answer;
    throw Error(ErrorCode::bad_data,
                fmt::format("standard input holds no array named {}",
                            array.empty() ? fmt::format("{}", fmt::join(kIdArrays, ", ")) : array));
  }
  const io::FileInfo info = io::describe(path);
  io::LoadOptions options;
  options.array = array;
  options.default_arrays = kIdArrays;
  // Columns of a csv are found only by a name that is asked for.
  if (array.empty() && info.format == io::Format::csv && has_array(info, "ids")) options.array = "ids";
  answer.ids = io::load(path, options);
  if (has_array(info, "distances")) {
    io::LoadOptions distances;
    distances.array = "distances";
    answer.distances = io::load(path, distances);
  }
  return answer;
}

// The first k columns as T, packed.
template <class T>
std::vector<T> leading_columns(const io::Array& array, std::int64_t k) {
  const std::vector<T> all = array.values<T>();
  std::vector<T> result;
  result.reserve(static_cast<std::size_t>(array.rows() * k));
  for (std::int64_t row = 0; row < array.rows(); ++row) {
    const auto first = all.begin() + row * array.cols();
    result.insert(result.end(), first, first + k);
  }
  return result;
}

void require_rows(const std::string& what, const io::Array& array, std::int64_t queries, std::int64_t k) {
  if (array.rows() != queries) {
    throw Error(ErrorCode::bad_data,
                fmt::format("the {} has {} rows but there are {} queries", what, array.rows(), queries));
  }
  if (k < 1 || k > array.cols()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("k = {} but the {} has {} columns and k starts at 1", k, what, array.cols()));
  }
}

// Checks the options too, as computing the truth would have done.
Truth load_truth(const EvalArguments& settings, const io::Array& base, std::int64_t queries, std::int64_t k,
                 const Options& options) {
  io::visit_points(base, [&](auto view) {
    using T = typename decltype(view)::value_type;
    explain({base.rows(), queries, base.cols(), std::min(k, base.rows()), dtype_of<T>()}, options);
  });
  const AnswerFile file = load_answer(settings.truth, settings.truth_array);
  require_rows("truth", file.ids, queries, k);
  return {leading_columns<std::int64_t>(file.ids, k)};
}

Truth compute_truth(const io::Array& base, const io::Array& queries, std::int64_t k, Options options,
                    bool print_its_plan, SearchReport& report) {
  if (options.method == Method::shifted_sort)
    throw Error(
        ErrorCode::invalid_argument,
        "method shifted-sort finds approximate neighbors; the truth needs an exact method, or a file by --truth");
  return io::visit_points(base, [&](auto base_view) -> Truth {
    using T = typename decltype(base_view)::value_type;
    if (print_its_plan) print_plan(explain({base.rows(), queries.rows(), base.cols(), k, dtype_of<T>()}, options));
    ProgressBar bar("computing the truth", "distances");
    options.progress = bar.callback();
    auto neighbors = search(base_view, queries.view<T>(), k, options);
    report = std::move(neighbors.report);
    return {std::move(neighbors.ids)};
  });
}

Json quality_json(const Quality& quality) {
  Json object = {{"queries", quality.queries},
                 {"k", quality.k},
                 {"recall", quality.recall()},
                 {"right", quality.right},
                 {"true_neighbors", quality.true_neighbors},
                 {"right_rows", quality.right_rows},
                 {"identical_rows", quality.identical_rows},
                 {"missing_ids", quality.missing_ids},
                 {"invalid_ids", quality.invalid_ids},
                 {"repeated_ids", quality.repeated_ids}};
  object["distance_ratio"] = quality.ratios ? to_json(*quality.ratios) : Json(nullptr);
  object["distance_error"] = quality.distance_error ? Json(*quality.distance_error) : Json(nullptr);
  return object;
}

void print_quality(const Quality& quality) {
  std::string text = fmt::format("recall@{:<8} {:.6f}  ({} of {})\n", quality.k, quality.recall(),
                                 format_integer(quality.right), format_integer(quality.true_neighbors));
  text += fmt::format("right rows      {} of {}, {} with the same ids in the same order\n",
                      format_integer(quality.right_rows), format_integer(quality.queries),
                      format_integer(quality.identical_rows));
  if (quality.ratios) text += describe(*quality.ratios);
  if (quality.missing_ids > 0) text += fmt::format("missing ids     {}\n", format_integer(quality.missing_ids));
  if (quality.invalid_ids > 0) text += fmt::format("invalid ids     {}\n", format_integer(quality.invalid_ids));
  if (quality.repeated_ids > 0) text += fmt::format("repeated ids    {}\n", format_integer(quality.repeated_ids));
  if (quality.distance_error) text += fmt::format("distance error  at most {}\n", *quality.distance_error);
  write_stdout(text);
}

void run(const EvalArguments& settings, const Context& context) {
  const Options options = settings.search.options();
  io::Array base = settings.input.load_base();
  io::Array queries = settings.input.load_queries();
  match_queries(base, queries);
  const AnswerFile answer = load_answer(settings.result, settings.result_array);
  const std::int64_t k = settings.k.value_or(answer.ids.cols());
  require_rows("result", answer.ids, queries.rows(), k);
  std::vector<double> distances;
  if (answer.distances) {
    require_rows("result's distances", *answer.distances, queries.rows(), k);
    distances = leading_columns<double>(*answer.distances, k);
  }
  const InterruptScope scope;
  const bool computed = settings.truth.empty();
  SearchReport report;
  const bool print_its_plan = settings.report.explain && !context.json;
  const Truth truth = computed ? compute_truth(base, queries, k, options, print_its_plan, report)
                               : load_truth(settings, base, queries.rows(), k, options);
  if (computed && settings.report.stats) print_to_stderr(describe(report) + "\n");
  const Quality quality = judge(base, queries, k, options, truth, leading_columns<std::int64_t>(answer.ids, k),
                                answer.distances ? &distances : nullptr);
  if (!context.json) return print_quality(quality);
  Json object = json_object("eval");
  object["metric"] = to_string(options.metric);
  object["truth"] = computed ? "computed" : settings.truth;
  object.update(quality_json(quality));
  if (computed) object["plan"] = to_json(report.plan);
  print_json(object);
}

}  // namespace

void add_eval(CLI::App& app, Context& context) {
  auto [command, settings] = add_command<EvalArguments>(
      app, context, "eval", "How good an answer is: recall (ties counted by distance), distance ratio", run);
  add_search_input(*command, context, settings->input);
  add_file(*command, "--result", settings->result, "The answer: ids, and distances if it has them; - reads stdin")
      ->required()
      ->group("Input");
  command->add_option("--result-array", settings->result_array, "Name of its ids; default: ids, neighbors or indices")
      ->type_name("NAME")
      ->group("Input");
  add_file(*command, "--truth", settings->truth, "True ids; default: they are computed exactly")->group("Input");
  command->add_option("--truth-array", settings->truth_array, "Name of its ids; default: ids, neighbors or indices")
      ->type_name("NAME")
      ->group("Input");
  add_integer(*command, "-k", settings->k, "Judge the first N neighbors; default: all columns of the result")
      ->group("Search");
  add_search_options(*command, context, settings->search);
  add_max_distance(*command, settings->search);
  add_period(*command, settings->search);
  add_report_options(*command, settings->report);
  add_general_options(*command, context, "Print the figures as a JSON object");
  command->footer(
      "A neighbor is right when its distance, recomputed from its id, is at most that of the last true one.\n"
      "The distance ratio of a query is its worst distance over that of the last true one.\n"
      "Give the metric, --period and --max-distance of the search that is judged. Id -1 with an infinite distance\n"
      "is a place without a neighbor; recall counts true neighbors only.");
}

}  // namespace kith::cli
