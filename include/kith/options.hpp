// How a search is to be done. The defaults are right for most uses.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"
#include "kith/metric.hpp"

namespace kith {

// Where the work runs. `automatic` is the fastest that is there, never `emulated`: the code of cuda run by the CPU,
// slow and for development.
enum class Backend { automatic, cpu, cuda, emulated };

// How neighbors are found. `automatic` lets the planner choose; `brute` looks at every point; `tree` is for few
// dimensions; `shifted_sort` is the one whose neighbors are approximate, and never chosen unless asked for.
enum class Method { automatic, brute, two_stage, fused, triangle, shifted_sort, tree };

// How scores of all pairs of a query and a point are computed, by which candidates are chosen. `exact` computes the
// distances themselves, in double; `fp16` is a matrix product of rounded points, `split_fp16` of rounded points and of
// what rounding left, `int8` of 8-bit integers, signed or not, `bf16` of points rounded to bfloat16, on the CPU.
// distance_stages() has those of a backend.
enum class DistanceStage { automatic, exact, direct, tiled, register_tiled, gemm, fp16, split_fp16, int8, bf16 };

// How the k smallest values of a row are found; select_methods() has those of a backend. `radius` and `curve` occur in
// plans only: radius searches and method shifted-sort have their own selection.
enum class SelectMethod {
  automatic,
  insertion_queue,
  heap_queue,
  merge_queue,
  warp_select,
  partial_bitonic,
  block_select,
  merge_path,
  bits,
  bits_global,
  bits_single_row,
  quick_multi_select,
  sample_select,
  radix_select,
  sort,
  threshold_filter,
  radius,
  curve,
};

// Names as people type them: "auto" for automatic, else the enumerator with "-" for "_". Parsing ignores case, takes
// "_" for "-" and throws Error(invalid_argument), which lists the names.
KITH_API const char* to_string(Backend backend) noexcept;
KITH_API const char* to_string(Method method) noexcept;
KITH_API const char* to_string(DistanceStage stage) noexcept;
KITH_API const char* to_string(SelectMethod method) noexcept;
KITH_API Backend parse_backend(std::string_view name);
KITH_API Method parse_method(std::string_view name);
KITH_API DistanceStage parse_distance_stage(std::string_view name);
KITH_API SelectMethod parse_select_method(std::string_view name);

// The backends this build has and this machine can run, the fastest first, without `automatic`.
KITH_API std::vector<Backend> available_backends();

// Why a backend is not among them, in words; empty where it is. Devices that this build has no code for are named, with
// what would help.
KITH_API std::string why_unavailable(Backend backend);

// A number that kernels and the planner go by on a device (docs/tuning.md).
struct DeviceLimit {
  std::string name;
  std::int64_t value = 0;
  std::string meaning;
};

struct Device {
  int id = 0;
  std::string name;
  int compute_major = 0;  // compute capability
  int compute_minor = 0;
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t free_bytes = 0;
  std::vector<DeviceLimit> policy;
  std::string problem;  // why this build cannot use it; empty where it can
};
// The devices of a backend, usable or not; none of the CPU, and where the backend is not in this build.
KITH_API std::vector<Device> devices(Backend backend);

// In Options::devices: all devices that this build can use.
inline constexpr int kAllDevices = -1;

// Options::devices as people type them: "0,1,2" or "all", which is kAllDevices. Error(invalid_argument) for other text.
KITH_API std::vector<int> parse_devices(std::string_view text);
KITH_API std::string format_devices(const std::vector<int>& devices);

// The instruction sets the CPU backend can use here, the best first, as Highway calls them: AVX3 is AVX-512.
KITH_API std::vector<std::string> simd_targets();
// The search methods, distance stages and selection methods of a backend, `automatic` first; of selection methods none
// where the backend is not in this build. Backend `automatic` has the selection methods of the one that topk() takes.
KITH_API std::vector<Method> search_methods(Backend backend);
KITH_API std::vector<DistanceStage> distance_stages(Backend backend);
KITH_API std::vector<SelectMethod> select_methods(Backend backend);

struct Progress {
  std::int64_t done = 0;   // distances computed so far
  std::int64_t total = 0;  // of this many
  double fraction() const { return total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1.0; }
};

// Called on the calling thread between tiles; false stops the work with Error(cancelled).
using ProgressCallback = std::function<bool(const Progress&)>;

// How method `triangle` takes a query through the points of the clusters that its bound leaves. `interval_scan`: a
// warp, or several, scans intervals of sorted clusters. `sweet_knn`, on a device and as its paper has it (Chen, Ding
// and Shen): a thread, or several, go from point to point.
enum class TriangleForm { automatic, interval_scan, sweet_knn };
// Form sweet_knn: whether bounds tighten as neighbors are found, or stay.
enum class TriangleFilter { automatic, full, partial };
// Form sweet_knn: the memory of a thread's neighbors; and the layout of those in memory: interleaved among threads, or
// contiguous for each.
enum class TrianglePlacement { automatic, registers, shared, global };
enum class TriangleLayout { interleaved, contiguous };

// What is zero or `automatic` is decided by the shape of the problem.
struct TriangleTuning {
  // Clusters of the queries, and of the base; 0 = 3 √rows (2 √rows on the CPU, up to 6 √rows on a device with many
  // dimensions), fewer where the budget says so.
  std::int64_t query_landmarks = 0;
  std::int64_t base_landmarks = 0;
  TriangleForm form = TriangleForm::automatic;
  TriangleFilter filter = TriangleFilter::automatic;
  TrianglePlacement placement = TrianglePlacement::automatic;
  TriangleLayout layout = TriangleLayout::interleaved;
  bool remapped = true;       // form sweet_knn: threads of a warp have queries of one cluster
  int threads_per_query = 0;  // on a device; 0 lets the number of queries decide
};

// The space-filling curve of method `shifted-sort`. On a device automatic is Hilbert's, whose codes cost nothing there
// beside the sorting; on the CPU Morton's.
enum class Curve { automatic, morton, hilbert };
// On a device: a list of neighbors stays with the warp of its query; or, as the paper has it, lists go through memory
// after every shift, with k candidates on either side and k ≤ 512.
enum class CurveMerge { automatic, warp, global_memory };
// How a query's position in an order is found: by binary search in orders that an index makes once; or, on a device and
// as the paper has it, queries and points are sorted together, the points again for every batch of queries. The
// positions, and so the answer, are the same.
enum class CurvePositions { automatic, search, sort };

// How method `shifted-sort` works (Li et al., kANN on the GPU with Shifted Sorting). Its neighbors are approximate:
// points that are near each other in one of several orders along a space-filling curve. 1 to 16 dimensions, k ≤ 1024 on
// a device, metrics euclidean, sqeuclidean, manhattan and chebyshev.
struct ShiftedSortTuning {
  int shifts = 5;  // orders, each of points shifted once more; 1 to 32
  // From one order to the next, where the cube that the curve fills has side 1; 0 = 0.05, less where they are many. The
  // points are scaled to leave room for all shifts.
  double shift = 0;
  // Shifts of which the theory says that they find neighbors within a constant factor: 2⌈d/2⌉ + 1 of them, each a step
  // on the points' side. `shifts` and `shift` then follow from the dimensions.
  bool guaranteed = false;
  std::int64_t window = 0;  // candidates on either side of a query in each order; 0 = k, or a few more for free
  Curve curve = Curve::automatic;
  CurveMerge merge = CurveMerge::automatic;
  CurvePositions positions = CurvePositions::automatic;
  // Searches say which rows are proven to be those of an exact search (Neighbors::certified): queries for which the
  // windows of some orders together held every point that could be as near as the k-th neighbor. Wider windows prove
  // more. Not for graphs, reductions and batches.
  bool certify = false;
};

KITH_API const char* to_string(TriangleForm form) noexcept;
KITH_API const char* to_string(TriangleFilter filter) noexcept;
KITH_API const char* to_string(TrianglePlacement placement) noexcept;
KITH_API const char* to_string(TriangleLayout layout) noexcept;
KITH_API const char* to_string(Curve curve) noexcept;
KITH_API const char* to_string(CurveMerge merge) noexcept;
KITH_API const char* to_string(CurvePositions positions) noexcept;
KITH_API TriangleForm parse_triangle_form(std::string_view name);
KITH_API TriangleFilter parse_triangle_filter(std::string_view name);
KITH_API TrianglePlacement parse_triangle_placement(std::string_view name);
KITH_API TriangleLayout parse_triangle_layout(std::string_view name);
KITH_API Curve parse_curve(std::string_view name);
KITH_API CurveMerge parse_curve_merge(std::string_view name);
KITH_API CurvePositions parse_curve_positions(std::string_view name);

// What one search of an index may have otherwise than its options say.
struct SearchLimits {
  double max_distance = std::numeric_limits<double>::infinity();  // Options::max_distance
  double epsilon = 0;                                             // Options::epsilon
};

struct Options {
  Metric metric = MetricKind::euclidean;
  Backend backend = Backend::automatic;
  Method method = Method::automatic;
  DistanceStage distance = DistanceStage::automatic;
  SelectMethod select = SelectMethod::automatic;
  // Neighbors whose returned distance is larger are left out: where fewer than k remain, the last places of a row have
  // id −1 and an infinite distance, and a graph has fewer edges. 0 or more; not for inner_product, whose nearest are
  // the largest, nor for searches by radius and reductions. Method tree gets faster by it.
  double max_distance = std::numeric_limits<double>::infinity();
  // What a search of the k nearest may be off by: the i-th distance that it returns, a square under sqeuclidean, is at
  // most (1 + epsilon) times the true i-th. Method tree passes over more points by it; other methods are exact all the
  // same, but for shifted-sort, which promises nothing.
  double epsilon = 0;
  // Axes whose ends meet: their periods, one for each dimension, 0 for an axis without; empty for none at all. Along a
  // periodic axis the difference of two coordinates is that to the nearest image: |x − y| modulo the period L, or L
  // minus that where it is less. Coordinates may lie anywhere. Of method tree, which `automatic` then means.
  std::vector<double> period{};
  // CPU threads; 0 = as many as the work is worth, at most host_limits().threads (kith/machine.hpp). A number is taken
  // as it is; fewer do the work where the system grants no more.
  int threads = 0;
  // Bytes of workspace beyond inputs and outputs; 0 = a quarter of what is free, on a device half of it. Each of
  // several devices has as much.
  std::int64_t memory_budget = 0;
  // The devices that work on a search together, by their ids (kith::devices()): each has a stripe of the base and a
  // thread. Empty: the one that is current; kAllDevices by itself: all of the backend. A device may be named several
  // times, and then shares its budget. What is searched, and answers, are of the host. Not for backend cpu, which
  // `automatic` never means here, nor for method shifted-sort.
  std::vector<int> devices{};
  // More neighbors may be asked for than there are points: the last places of a row then have id −1 and an infinite
  // distance (inner_product: −∞). Not for reductions and batches, nor for answers that lie on a device.
  bool pad_missing = false;
  bool check_finite = true;  // off: NaN or Inf in the input give an unspecified answer, never a crash
  bool statistics = false;   // method triangle counts what it does, approximate ones judge a sample; costs time
  TriangleTuning triangle;
  ShiftedSortTuning shifted_sort;
  ProgressCallback progress;
};

}  // namespace kith
