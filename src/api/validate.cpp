#include "api/validate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "backend/machine.hpp"
#include "backend/registry.hpp"
#include "core/periodic.hpp"
#include "core/sizes.hpp"
#include "core/triangle_bounds.hpp"

namespace kith::api {
namespace {

template <class Value>
std::string joined(const std::vector<Value>& values) {
  std::string text;
  for (const Value value : values) text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(value));
  return text;
}

template <class Value>
void check_known(const char* what, Value value, const std::vector<Value>& known, Backend backend) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("{} '{}' is not one of backend {}; it has {}", what,
                                                       to_string(value), to_string(backend), joined(known)));
}

// The fastest is first and the CPU always there, so `automatic` never comes to the emulator, which is behind it.
Backend resolve(Backend backend, Memory memory) {
  if (memory == Memory::device) {
    if (backend == Backend::cpu)
      throw Error(ErrorCode::invalid_argument, "backend cpu for values on a device; it takes host memory only");
    if (backend == Backend::automatic) backend = Backend::cuda;
  }
  const std::vector<Backend> available = available_backends();
  if (backend == Backend::automatic) return available.front();
  if (std::find(available.begin(), available.end(), backend) != available.end()) return backend;
  throw Error(ErrorCode::no_device, fmt::format("{}; this build and machine have {}",
                                                backend::unavailable_reason(backend), joined(available)));
}

void check_resources(int threads, std::int64_t budget) {
  // Past this, threads only cost.
  static const int most_threads = std::max(256, 4 * static_cast<int>(std::thread::hardware_concurrency()));
  if (threads < 0 || threads > most_threads)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("threads = {}; 0 (all) to {} are allowed", threads, most_threads));
  if (budget < 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("memory budget = {}; it must be 0 (the default) or positive", budget));
}

struct TuningValue {
  const char* name;
  int value;
};

void check_tuning(const SelectTuning& tuning) {
  for (const TuningValue& each : {TuningValue{"hierarchical", tuning.hierarchical},
                                  {"merge_size", tuning.merge_size},
                                  {"buffer_size", tuning.buffer_size},
                                  {"thread_queue", tuning.thread_queue},
                                  {"stages", tuning.stages},
                                  {"partitions", tuning.partitions}})
    if (each.value < 0)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("tuning.{} = {}; 0 (the method's choice) or more is allowed", each.name, each.value));
  const int group = tuning.hierarchical;
  if (group != 0 && group != 2 && group != 4 && group != 8)
    throw Error(ErrorCode::invalid_argument, fmt::format("tuning.hierarchical = {}; groups are of 2, 4 or 8", group));
  if (tuning.stages > 2)
    throw Error(ErrorCode::invalid_argument, fmt::format("tuning.stages = {}; 1 and 2 are known", tuning.stages));
  if (tuning.merge_size > 0 && !std::has_single_bit(static_cast<unsigned>(tuning.merge_size)))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("tuning.merge_size = {}; it must be a power of two", tuning.merge_size));
}

void check_triangle_values(const TriangleTuning& tuning) {
  struct Count {
    const char* name;
    std::int64_t value;
  };
  for (const Count& each : {Count{"query_landmarks", tuning.query_landmarks},
                            {"base_landmarks", tuning.base_landmarks},
                            {"threads_per_query", tuning.threads_per_query}})
    if (each.value < 0)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("triangle.{} = {}; 0 (the method's choice) or more is allowed", each.name, each.value));
}

// What only devices have is refused on the CPU, not passed over.
void check_triangle(const Options& options, Backend backend) {
  const TriangleTuning& tuning = options.triangle;
  check_triangle_values(tuning);
  if (options.method != Method::triangle) return;
  if (!core::has_triangle_inequality(options.metric))
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("method triangle cannot search by {}: it has no triangle inequality", to_string(options.metric)));
  if (options.distance != DistanceStage::automatic || options.select != SelectMethod::automatic)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("method triangle has no stages to choose; distance '{}' and selection '{}' were asked for",
                            to_string(options.distance), to_string(options.select)));
  if (backend != Backend::cpu) return;
  const TriangleTuning usual;
  if (tuning.form == TriangleForm::sweet_knn || tuning.filter != usual.filter || tuning.placement != usual.placement ||
      tuning.layout != usual.layout || tuning.remapped != usual.remapped || tuning.threads_per_query != 0)
    throw Error(ErrorCode::invalid_argument,
                "backend cpu has form interval-scan of method triangle; form sweet-knn, filter, placement, layout, "
                "remapped and "
                "threads_per_query are for devices");
}

void check_tree(const Options& options) {
  if (options.method != Method::tree) return;
  if (!core::has_box_bounds(options.metric))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("method tree cannot search by {}: it takes sqeuclidean, euclidean, manhattan, chebyshev "
                            "and minkowski",
                            to_string(options.metric)));
  if (options.distance != DistanceStage::automatic || options.select != SelectMethod::automatic)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("method tree has no stages to choose; distance '{}' and selection '{}' were asked for",
                            to_string(options.distance), to_string(options.select)));
}

// Periodic axes are those of method tree.
void check_periodic(const Options& options) {
  if (!core::is_periodic(options.period)) return;
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "a period requires method tree; " + what);
  };
  if (options.method != Method::automatic && options.method != Method::tree)
    refuse(fmt::format("method {} was asked for", to_string(options.method)));
  if (options.distance != DistanceStage::automatic || options.select != SelectMethod::automatic)
    refuse(fmt::format("it has no stages to choose, but distance '{}' and selection '{}' were asked for",
                       to_string(options.distance), to_string(options.select)));
  if (!core::has_box_bounds(options.metric))
    refuse(fmt::format("metric {} was asked for; it takes sqeuclidean, euclidean, manhattan, chebyshev and minkowski",
                       to_string(options.metric)));
}

// Several devices share out the points, which are of the host.
void check_devices(const Options& options, Memory memory) {
  if (options.devices.empty()) return;
  const std::string devices = format_devices(options.devices);
  if (options.backend == Backend::cpu)
    throw Error(ErrorCode::invalid_argument, fmt::format("devices = {} but backend cpu, which has none", devices));
  if (options.method == Method::shifted_sort)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("devices = {} but method shifted-sort, which works on the current device alone: its "
                            "neighbors depend on all points together, and each device would have some of them",
                            devices));
  if (memory == Memory::device) refuse_device_memory(options, "values");
}

// What no backend has a say in.
void check_values(const Options& options) {
  if (options.metric.kind == MetricKind::minkowski && !(options.metric.p >= 1))
    throw Error(ErrorCode::invalid_argument, fmt::format("minkowski p = {}; p must be at least 1", options.metric.p));
  check_limits({options.max_distance, options.epsilon}, options.metric);
  check_resources(options.threads, options.memory_budget);
}

// Methods and stages that the backend has. One that is not in this build lists no selection methods.
void check_names(const Options& options, Backend backend) {
  check_periodic(options);
  check_tree(options);
  check_known("method", options.method, search_methods(backend), backend);
  check_known("distance stage", options.distance, distance_stages(backend), backend);
  if (backend == Backend::cpu && options.select == SelectMethod::sort)
    throw Error(ErrorCode::invalid_argument, "selection 'sort' is for topk; search has auto, threshold-filter");
  const std::vector<SelectMethod> selections = select_methods(backend);
  if (!selections.empty()) check_known("selection", options.select, selections, backend);
  check_triangle(options, backend);
}

}  // namespace

void refuse_devices(const Options& options, const char* what) {
  if (!options.devices.empty())
    throw Error(ErrorCode::invalid_argument, fmt::format("devices = {} for {}, which work on the current device alone",
                                                         format_devices(options.devices), what));
}

void refuse_device_memory(const Options& options, const char* role) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("devices = {} for {} in device memory; they share out what is in host memory",
                          format_devices(options.devices), role));
}

Backend check_options(const Options& options, Memory memory) {
  check_values(options);
  check_devices(options, memory);
  // Devices have no periodic axes of so many dimensions.
  const bool is_cpu = options.backend == Backend::automatic && memory == Memory::host && options.devices.empty() &&
                      core::is_periodic(options.period) &&
                      std::ssize(options.period) > core::TreeLimits::kMostPeriodicDims;
  const bool is_cuda = options.backend == Backend::automatic && !options.devices.empty();
  const Backend backend = resolve(is_cpu ? Backend::cpu : is_cuda ? Backend::cuda : options.backend, memory);
  check_names(options, backend);
  return backend;
}

void check_device_options(const Options& options) {
  check_values(options);
  refuse_devices(options, "plans for a device by name");
  if (options.backend != Backend::automatic && options.backend != Backend::cuda)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("backend {} for a device by name; these are of backend cuda", to_string(options.backend)));
  check_names(options, Backend::cuda);
}

Backend check_options(const TopkOptions& options, Memory memory) {
  check_resources(options.threads, options.memory_budget);
  const Backend backend = resolve(options.backend, memory);
  check_known("selection method", options.method, select_methods(backend), backend);
  check_tuning(options.tuning);
  return backend;
}

void check_limits(const SearchLimits& limits, const Metric& metric) {
  if (!(limits.max_distance >= 0))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("max_distance = {}; it must be 0 or more", limits.max_distance));
  if (std::isfinite(limits.max_distance) && metric.kind == MetricKind::inner_product)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("max_distance = {} under inner_product, whose nearest have the largest products; a radius "
                            "search has a least product",
                            limits.max_distance));
  if (!(limits.epsilon >= 0) || std::isinf(limits.epsilon))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("epsilon = {}; it must be 0 or more, and finite", limits.epsilon));
}

void check_period(const std::vector<double>& period, std::int64_t dims) {
  if (!period.empty() && static_cast<std::int64_t>(period.size()) != dims)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} periods for points of {} dimensions; one for each is needed, 0 for an axis without",
                            period.size(), dims));
  for (std::size_t c = 0; c < period.size(); ++c)
    if (!(period[c] >= 0) || std::isinf(period[c]))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("period = {} of axis {}; it must be 0 (none) or more, and finite", period[c], c));
}

void check_certified(const Options& options, const std::uint8_t* certified) {
  if (certifies(options) && certified == nullptr)
    throw Error(ErrorCode::invalid_argument,
                "shifted_sort.certify is set: certified must point to a flag for each query (null pointer)");
  if (!certifies(options) && certified != nullptr)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("certified flags were asked of method {}{}; method shifted-sort with shifted_sort.certify "
                            "sets them",
                            to_string(options.method),
                            options.method == Method::shifted_sort ? " without shifted_sort.certify" : ""));
}

void refuse_certify(const Options& options, const char* what) {
  if (certifies(options))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("shifted_sort.certify is not supported for {}; search() certifies rows", what));
}

void check_k(std::int64_t k, std::int64_t limit, const char* why) {
  if (k < 1) throw Error(ErrorCode::invalid_argument, fmt::format("k = {}; it must be at least 1", k));
  if (k > limit) throw Error(ErrorCode::invalid_argument, fmt::format("k = {} but {} {}", k, why, limit));
}

void check_device_row(std::int64_t cols) {
  if (cols > core::kLongestDeviceRow)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("rows of {} values; a device takes at most {}", cols, core::kLongestDeviceRow));
}

void check_sizes(std::int64_t queries, std::int64_t rows, std::int64_t k) {
  constexpr std::int64_t kMostRows = std::int64_t{1} << 56;  // more than any address space
  std::int64_t product = 0;
  std::int64_t row_bytes = 0;
  if (rows > kMostRows || queries > kMostRows || __builtin_mul_overflow(queries, rows, &product) ||
      __builtin_mul_overflow(k, 16, &row_bytes) || __builtin_mul_overflow(queries, row_bytes, &product))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} queries × {} points with k = {} exceed what memory can address", queries, rows, k));
}

void check_output(std::int64_t rows, std::int64_t cols, std::int64_t element_bytes) {
  const double bytes = static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(element_bytes);
  constexpr double kSmall = 1 << 20;  // not worth to ask the system for
  if (bytes <= kSmall) return;
  const auto memory = static_cast<double>(backend::largest_memory());
  if (bytes > memory)
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("a result of {} × {} takes {:.0f} bytes; this process can have {:.0f}", rows, cols, bytes, memory));
}

void check_problem(const Problem& problem) {
  if (problem.base_rows < 1 || problem.queries < 1 || problem.dims < 1)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a problem of {} points, {} queries and {} dimensions; each must be at least 1",
                            problem.base_rows, problem.queries, problem.dims));
  check_dims(problem.dims);
  check_k(problem.k, problem.base_rows, "the number of base points is");
  check_sizes(problem.queries, problem.base_rows, problem.k);
}

void check_dims(std::int64_t dims) {
  constexpr std::int64_t kMostDims = std::numeric_limits<std::int32_t>::max();  // BLAS counts in 32 bits
  if (dims > kMostDims)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} dimensions; at most {} are allowed", dims, kMostDims));
}

void check_same_dims(std::int64_t base_cols, std::int64_t query_cols) {
  check_dims(base_cols);
  if (base_cols != query_cols)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the base has {} dimensions but the queries have {}", base_cols, query_cols));
}

}  // namespace kith::api
