#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/message.hpp"
#include "cli/sizes.hpp"
#include "kith/bit_metric.hpp"
#include "kith/error.hpp"
#include "kith/matrix.hpp"
#include "kith/named_metric.hpp"

namespace kith::cli {
namespace {

constexpr const char* kSearchGroup = "Search";
constexpr const char* kTriangleGroup = "Method triangle";
constexpr const char* kInputGroup = "Input";
constexpr const char* kOutputGroup = "Output";

const std::vector<std::string> kHeaderNames = {"auto", "present", "absent"};

// What any of the backends has, `auto` first.
template <class Value>
std::vector<Value> all_of(std::vector<Value> (*values_of)(Backend), const std::vector<Backend>& backends) {
  std::vector<Value> all;
  for (const Backend backend : backends) {
    for (const Value value : values_of(backend)) {
      if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
    }
  }
  return all;
}

void require_name(const std::string& what, const std::string& name, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("unknown {} '{}'; known are {}", what, name, fmt::join(names, ", ")));
}

io::Header parse_header(const std::string& name) {
  require_name("header", name, kHeaderNames);
  return name == "present" ? io::Header::present : name == "absent" ? io::Header::absent : io::Header::automatic;
}

// Those of packed bits are refused later, where there are none.
void check_metric(const std::string& name) {
  try {
    parse_bit_metric(name);
  } catch (const Error&) {
    parse_metric(name);
  }
}

void add_triangle_options(CLI::App& command, Context& context, SearchSettings& settings) {
  TriangleTuning& triangle = settings.triangle;
  add_integer(command, "--landmarks", triangle.base_landmarks, "Clusters of the base; 0 = by the number of points", 0)
      ->group(kTriangleGroup);
  add_integer(command, "--query-landmarks", triangle.query_landmarks, "Clusters of the queries; 0 = by their number", 0)
      ->group(kTriangleGroup);
  const auto in_group = [](CLI::Option* option) { option->group(kTriangleGroup); };
  in_group(add_choice(command, context, "--triangle-form", triangle.form,
                      {TriangleForm::automatic, TriangleForm::interval_scan, TriangleForm::sweet_knn},
                      parse_triangle_form, "Intervals of sorted clusters, or point by point (devices)"));
  in_group(add_choice(command, context, "--triangle-filter", triangle.filter,
                      {TriangleFilter::automatic, TriangleFilter::full, TriangleFilter::partial}, parse_triangle_filter,
                      "Form sweet-knn: whether bounds tighten as neighbors are found"));
  in_group(add_choice(command, context, "--triangle-placement", triangle.placement,
                      {TrianglePlacement::automatic, TrianglePlacement::registers, TrianglePlacement::shared,
                       TrianglePlacement::global},
                      parse_triangle_placement, "Form sweet-knn: the memory of a thread's neighbors"));
  in_group(add_choice(command, context, "--triangle-layout", triangle.layout,
                      {TriangleLayout::interleaved, TriangleLayout::contiguous}, parse_triangle_layout,
                      "Form sweet-knn: how they lie in memory"));
  command
      .add_flag("--no-remap", settings.no_remap, "Form sweet-knn: queries go to threads as they come, not by cluster")
      ->group(kTriangleGroup);
  add_integer(command, "--threads-per-query", triangle.threads_per_query, "On a device; 0 = by the number of queries",
              0)
      ->group(kTriangleGroup);
}

void add_shifted_sort_options(CLI::App& command, Context& context, ShiftedSortTuning& tuning) {
  add_integer(command, "--shifts", tuning.shifts, "Orders along the curve; more find more", 1)
      ->group(kShiftedSortGroup);
  command.add_option("--shift", tuning.shift, "From one to the next, of a cube of side 1; 0 = 0.05, less for many")
      ->type_name("X")
      ->group(kShiftedSortGroup);
  command.add_flag("--guaranteed", tuning.guaranteed, "The shifts of which a bound on the error is proved")
      ->group(kShiftedSortGroup);
  add_integer(command, "--window", tuning.window, "Candidates on either side in each order; 0 = k or a few more", 0)
      ->group(kShiftedSortGroup);
  add_choice(command, context, "--curve", tuning.curve, {Curve::automatic, Curve::morton, Curve::hilbert}, parse_curve,
             "What the orders follow")
      ->group(kShiftedSortGroup);
  add_choice(command, context, "--merge", tuning.merge,
             {CurveMerge::automatic, CurveMerge::warp, CurveMerge::global_memory}, parse_curve_merge,
             "How lists grow (devices)")
      ->group(kShiftedSortGroup);
  add_choice(command, context, "--positions", tuning.positions,
             {CurvePositions::automatic, CurvePositions::search, CurvePositions::sort}, parse_curve_positions,
             "How a query's position in an order is found; sort: queries and points sorted together (devices)")
      ->group(kShiftedSortGroup);
}

void add_devices(CLI::App& command, std::vector<int>& devices) {
  command
      .add_option_function<std::string>(
          "--devices",
          [&devices](const std::string& text) {
            try {
              devices = parse_devices(text);
            } catch (const Error& e) {
              throw CLI::ValidationError("--devices", e.what());
            }
          },
          "CUDA devices that share out the base, by their ids, as 0,1,2, or all; each has --memory")
      ->type_name("IDS")
      ->group(kSearchGroup);
}

// minkowski(3) is a metric's name.
bool is_formula(const std::string& metric) {
  constexpr std::string_view kPower = "minkowski(";
  const bool has_power = CLI::detail::to_lower(metric).starts_with(kPower);
  return metric.find('(') != std::string::npos && !has_power;
}

std::vector<std::string> formats_with_auto() {
  std::vector<std::string> names = io::format_names();
  names.insert(names.begin(), "auto");
  return names;
}

// Backend auto takes the CPU where no device can be used; that one is here is said once.
void note_unusable_devices() {
  if (static bool said = false; std::exchange(said, true) || why_unavailable(Backend::cuda).empty()) return;
  for (const Device& device : devices(Backend::cuda))
    if (!device.problem.empty()) note(device.problem);
}

}  // namespace

bool SearchSettings::has_formula() const {
  return is_formula(metric);
}

std::shared_ptr<const PairMetric> SearchSettings::own_metric() const {
  if (has_formula() && zero_vectors)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--zero-vectors {} but --metric is a formula", to_string(*zero_vectors)));
  if (has_formula()) return expression_metric(metric);
  if (!zero_vectors) return nullptr;
  if (const Metric asked = parse_metric(metric); asked.kind != MetricKind::cosine)
    throw Error(ErrorCode::invalid_argument, fmt::format("--zero-vectors {} but --metric is {}; only cosine takes it",
                                                         to_string(*zero_vectors), to_string(asked)));
  if (*zero_vectors == ZeroVectors::error) return nullptr;
  MetricParameters parameters;
  parameters.zero_vectors = zero_vectors;
  return named_metric("cosine", parameters);
}

Options SearchSettings::options() const {
  if (backend == Backend::automatic && devices.empty()) note_unusable_devices();
  Options options;
  if (own_metric() == nullptr) options.metric = parse_metric(metric);
  if (p) {
    if (has_formula()) throw Error(ErrorCode::invalid_argument, fmt::format("--p = {} but --metric is a formula", *p));
    if (options.metric.kind != MetricKind::minkowski) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--p = {} but --metric is {}; only minkowski has a p", *p, to_string(options.metric)));
    }
    options.metric.p = *p;
  }
  options.backend = backend;
  options.method = method;
  options.distance = distance;
  options.select = select;
  options.max_distance = max_distance;
  options.epsilon = epsilon;
  options.period = period;
  options.threads = threads;
  options.memory_budget = memory;
  options.devices = devices;
  options.check_finite = !no_check_finite;
  options.triangle = triangle;
  options.triangle.remapped = !no_remap;
  options.shifted_sort = shifted_sort;
  return options;
}

std::vector<Backend> searching_backends() {
  return {Backend::cpu, Backend::cuda, Backend::emulated};
}

std::vector<Backend> selecting_backends() {
  std::vector<Backend> able = searching_backends();
  // Whether they have a device is not asked before one is used: the driver takes a while to answer.
  std::erase_if(able, [](Backend backend) { return select_methods(backend).empty(); });
  return able;
}

void add_backend(CLI::App& command, Context& context, Backend& backend, const std::vector<Backend>& able) {
  std::vector<Backend> known = {Backend::automatic};
  known.insert(known.end(), able.begin(), able.end());
  add_choice(command, context, "--backend", backend, known, parse_backend, "Where it runs")->group(kSearchGroup);
}

void add_threads(CLI::App& command, int& threads) {
  add_integer(
      command, "--threads", threads,
      "CPU threads; 0 = as many as the work is worth, at most what 'kith info' says: the least of CPU affinity, CPU "
      "quota, KITH_NUM_THREADS, OMP_NUM_THREADS",
      0)
      ->group(kSearchGroup);
}

void add_memory(CLI::App& command, std::int64_t& memory) {
  command
      .add_option_function<std::string>(
          "--memory",
          [&memory](const std::string& text) {
            try {
              memory = parse_size(text);
            } catch (const Error& e) {
              throw CLI::ValidationError("--memory", e.what());
            }
          },
          "Workspace beyond input and output, such as 256MiB or 1GB; default: a quarter of what is free")
      ->type_name("SIZE")
      ->group(kSearchGroup);
}

void add_search_options(CLI::App& command, Context& context, SearchSettings& settings, bool formulas) {
  const std::vector<Backend> searching = searching_backends();
  add_choice(
      command, context, "--metric", settings.metric, metric_names(),
      [formulas](const std::string& name) {
        if (formulas && is_formula(name)) {
          expression_metric(name);
        } else {
          check_metric(name);
        }
      },
      formulas ? "Distance; with --packed-bits: hamming, jaccard (tanimoto); or a formula: \"sum(abs(x - y) / (1 + "
                 "abs(x)))\""
               : "Distance")
      ->group(kSearchGroup);
  command.add_option("--p", settings.p, "Exponent of --metric minkowski, at least 1; inf is allowed")
      ->type_name("P")
      ->group(kSearchGroup);
  if (formulas)
    command
        .add_option_function<std::string>(
            "--zero-vectors",
            [&settings](const std::string& name) {
              try {
                settings.zero_vectors = parse_zero_vectors(name);
              } catch (const Error& e) {
                throw CLI::ValidationError("--zero-vectors", e.what());
              }
            },
            "What --metric cosine makes of vectors of length 0: error, or the distance zero or one from everything")
        ->type_name("WHAT")
        ->group(kSearchGroup);
  add_choice(command, context, "--method", settings.method, all_of(search_methods, searching), parse_method,
             "How neighbors are found")
      ->group(kSearchGroup);
  add_backend(command, context, settings.backend, searching);
  add_choice(command, context, "--distance", settings.distance, all_of(distance_stages, searching),
             parse_distance_stage, "Force the distance stage")
      ->group(kSearchGroup);
  add_choice(command, context, "--select", settings.select, all_of(select_methods, searching), parse_select_method,
             "Force the selection stage")
      ->group(kSearchGroup);
  add_threads(command, settings.threads);
  add_memory(command, settings.memory);
  add_devices(command, settings.devices);
  command.add_flag("--no-check-finite", settings.no_check_finite, "Do not look for NaN and Inf in the input first")
      ->group(kSearchGroup);
  add_triangle_options(command, context, settings);
  add_shifted_sort_options(command, context, settings.shifted_sort);
}

void add_max_distance(CLI::App& command, SearchSettings& settings) {
  command
      .add_option("--max-distance", settings.max_distance,
                  "Leave out neighbors that are farther away: id -1 and an infinite distance in their places")
      ->type_name("X")
      ->default_str("")
      ->group(kSearchGroup);
}

void add_limits(CLI::App& command, SearchSettings& settings) {
  add_max_distance(command, settings);
  command
      .add_option("--epsilon", settings.epsilon,
                  "Distances may be up to 1 + X times the true ones, where that makes method tree faster")
      ->type_name("X")
      ->group(kSearchGroup);
}

void add_period(CLI::App& command, SearchSettings& settings) {
  command
      .add_option("--period", settings.period,
                  "Axes whose ends meet: a period for each dimension, 0 for an axis without, as 1,1,0 (method tree)")
      ->type_name("X,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kSearchGroup);
}

void add_select_method(CLI::App& command, Context& context, SelectMethod& method) {
  add_choice(command, context, "--method", method, all_of(select_methods, selecting_backends()), parse_select_method,
             "How values are selected")
      ->group(kSearchGroup);
}

void add_k(CLI::App& command, std::int64_t& k, const std::string& description) {
  add_integer(command, "-k", k, description)->required()->group(kSearchGroup);
}

CLI::Option* add_dtype(CLI::App& command, Context& context, std::string& dtype, const std::vector<std::string>& names,
                       const std::string& description) {
  return add_choice(
      command, context, "--dtype", dtype, names, [=](const std::string& name) { require_name("dtype", name, names); },
      description);
}

void add_report_options(CLI::App& command, ReportSettings& settings) {
  command.add_flag("--explain", settings.explain, "Print the plan on stderr (with --json: in the object), then run it")
      ->group("General");
  command
      .add_flag("--stats", settings.stats,
                "Print what was done on stderr: time, rate, finalists, what method triangle left out, how good\n"
                "an approximate answer is")
      ->group("General");
}

io::LoadOptions InputSettings::load_options(std::string array, std::vector<std::string> default_arrays) const {
  io::LoadOptions options;
  options.format = io::parse_format(format);
  options.array = std::move(array);
  options.default_arrays = std::move(default_arrays);
  options.columns = columns;
  options.header = parse_header(header);
  return options;
}

CLI::Option* add_format(CLI::App& command, Context& context, const std::string& option_name, std::string& format,
                        const std::string& description) {
  // The names are many and three options have them: the help points to where they are listed.
  return add_choice(
             command, context, option_name, format, formats_with_auto(),
             [](const std::string& name) { io::parse_format(name); }, "")
      ->description(description + "; 'kith info' lists the formats")
      ->group(kInputGroup);
}

void add_input_options(CLI::App& command, Context& context, InputSettings& settings) {
  add_format(command, context, "--format", settings.format, "Format of the input, default by extension or content");
  command.add_option("--columns", settings.columns, "csv and ply: the columns to read, by name or number, as a,b,c")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kInputGroup);
  add_choice(
      command, context, "--header", settings.header, kHeaderNames, [](const std::string& name) { parse_header(name); },
      "csv: whether the first row names the columns")
      ->group(kInputGroup);
}

io::Output OutputSettings::with(io::NamedArrays arrays) const {
  return with(to_stdout() ? "-" : output, std::move(arrays));
}

io::Output OutputSettings::with(const std::string& path, io::NamedArrays arrays) const {
  io::SaveOptions options;
  options.format = io::parse_format(format);
  options.compress = compress;
  return {path, std::move(arrays), std::move(options)};
}

void add_output_options(CLI::App& command, Context& context, OutputSettings& settings, const std::string& formats) {
  add_file(command, "-o,--output", settings.output, "Where the answer goes: " + formats + "; - or none: stdout")
      ->group(kOutputGroup);
  add_format(command, context, "--output-format", settings.format, "Format of the output, default by extension")
      ->group(kOutputGroup);
  command.add_flag("--compress", settings.compress, "npz and hdf5: deflate")->group(kOutputGroup);
}

}  // namespace kith::cli
