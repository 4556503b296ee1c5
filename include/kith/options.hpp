// How a search is to be done. The defaults are right for most uses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"
#include "kith/metric.hpp"

namespace kith {

// Where the work runs. `automatic` is the fastest that is there, never `emulated`: the code of cuda run by the CPU,
// slow and for development.
enum class Backend { automatic, cpu, cuda, emulated };

// How neighbors are found. `automatic` lets the planner choose; `brute` looks at every point; `shifted_sort` is the
// one whose neighbors are approximate, and never chosen unless asked for.
enum class Method { automatic, brute, two_stage, fused, triangle, shifted_sort };

KITH_API const char* to_string(Backend backend) noexcept;  // "auto", "cpu", "cuda", "emulated"
KITH_API const char* to_string(Method method) noexcept;    // "auto", "brute", "two-stage", "fused", ...
KITH_API Backend parse_backend(std::string_view name);
KITH_API Method parse_method(std::string_view name);

// The backends this build has and this machine can run, the fastest first, without `automatic`.
KITH_API std::vector<Backend> available_backends();

struct Device {
  int id = 0;
  std::string name;
  int compute_major = 0;  // compute capability
  int compute_minor = 0;
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t free_bytes = 0;
};
// What backend cuda can run on; empty where it is not available.
KITH_API std::vector<Device> cuda_devices();

// The instruction sets the CPU backend can use here, the best first, as Highway calls them: AVX3 is AVX-512.
KITH_API std::vector<std::string> simd_targets();
// The search methods, distance stages and selection stages a backend has, `auto` first. Selection stages are what
// topk() calls methods; `automatic` has those of the backend that topk() takes.
KITH_API std::vector<std::string> method_names(Backend backend);
KITH_API std::vector<std::string> distance_names(Backend backend);
KITH_API std::vector<std::string> select_names(Backend backend);

struct Progress {
  std::int64_t done = 0;   // distances computed so far
  std::int64_t total = 0;  // of this many
  double fraction() const { return total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1.0; }
};

// Called on the calling thread between tiles; false stops the work with Error(cancelled).
using ProgressCallback = std::function<bool(const Progress&)>;

// How method `triangle` works. What is zero or "auto" is decided by the shape of the problem. The paper is Sweet KNN
// (Chen, Ding and Shen).
struct TriangleTuning {
  // Clusters of the queries, and of the base; 0 = 3 √rows (2 √rows on the CPU, up to 6 √rows on a device with many
  // dimensions), fewer where the budget says so.
  std::int64_t query_landmarks = 0;
  std::int64_t base_landmarks = 0;
  // "interval-scan": a warp, or several, takes a query through the stretches of sorted clusters that its bound leaves.
  // "paper": a thread, or several, takes a query from point to point. Backend cpu has windows only.
  std::string form = "auto";
  // What follows is of form paper.
  std::string filter = "auto";         // "full": bounds tighten as neighbors are found; "partial": they stay
  std::string placement = "auto";      // of a thread's neighbors: "registers", "shared" or "global" memory
  std::string layout = "interleaved";  // of those in memory: "interleaved" among threads, or "contiguous" for each
  bool remapped = true;                // threads of a warp have queries of one cluster
  // Of both forms on a device: 0 lets the number of queries decide.
  int threads_per_query = 0;
};

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
  // "morton" or "hilbert"; auto: the latter on a device, where its codes cost nothing beside the sorting
  std::string curve = "auto";
  // On a device. "warp": a list stays with the warp of its query; "paper": lists go through memory after every shift,
  // with k candidates on either side and k ≤ 512.
  std::string merge = "auto";
  // How a query's place in an order is found. "search": by binary search in orders that an index makes once. "sort", on
  // a device and as the paper does it: queries and points are sorted together, the points again for every batch of
  // queries. The places, and so the answer, are the same.
  std::string places = "auto";
};

struct Options {
  Metric metric = MetricKind::euclidean;
  Backend backend = Backend::automatic;
  Method method = Method::automatic;
  std::string distance = "auto";  // a name of distance_names()
  std::string select = "auto";    // a name of select_names()
  int threads = 0;                // CPU threads; 0 = all that this process may use
  // Bytes of workspace beyond inputs and outputs; 0 = a quarter of what is free, on a device half of it.
  std::int64_t memory_budget = 0;
  bool check_finite = true;  // off: NaN or Inf in the input give an unspecified answer, never a crash
  bool statistics = false;   // method triangle counts what it does, shifted-sort judges a sample; costs time
  TriangleTuning triangle;
  ShiftedSortTuning shifted_sort;
  ProgressCallback progress;
};

}  // namespace kith
