// contract.hpp: what a backend does: an index of points, its searches, and a table of functions. cpu, cuda and emulated
// fulfil it; registry.hpp finds them. Plain C++: it is included where there is no CUDA.
//
// A search is planned between two calls: begin() takes the queries, the planner asks samples() of them where the answer
// decides, and one of the functions of BackendSearch follows the plan. Views say where values lie; a backend brings
// what lies elsewhere. Arguments were checked, but for the values of points, which are refused with Error(bad_data).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "backend/parts.hpp"
#include "core/batches.hpp"
#include "core/facts.hpp"
#include "core/radius_query.hpp"
#include "core/reduction.hpp"
#include "kith/error.hpp"
#include "kith/graph.hpp"
#include "kith/radius.hpp"
#include "kith/search.hpp"
#include "kith/shards.hpp"
#include "kith/topk.hpp"
#include "plan/choose.hpp"

namespace kith::backend {

// What a search is of.
template <Element T>
struct Queries {
  MatrixView<T> points;
  // The queries are the base and no point is its own neighbor. A search for k neighbors has a plan for k + 1.
  bool exclude_self = false;
  const ProgressCallback& progress;
  // Something of the call lies on a device: work is enqueued on the caller's stream, a cudaStream_t. Else a backend has
  // its own.
  bool on_stream = false;
  void* stream = nullptr;
  // A bit for each base point, of host memory: points without one need not be found, where leaving them out costs less
  // than finding them does, and may be. Null: all are wanted.
  const std::uint64_t* wanted = nullptr;
  // For each query the largest distance of points that are wanted, of host memory; empty: however far. Those that are
  // farther away may be missing, as core/max_distance.hpp marks them, where that saves time.
  std::span<const DistanceOf<T>> limits{};
  // True once nobody wants the answer any more: a device then stops at its next tile with Error(cancelled); or null.
  const std::atomic<bool>* stop = nullptr;
};

// One search: begun with its queries, followed by one of these functions. Each fills in the report but for plan and
// time, and may note in report.plan what it found already there.
template <Element T>
class BackendSearch {
 public:
  using D = DistanceOf<T>;

  virtual ~BackendSearch() = default;
  // What the planner may ask of the data, as long as this lives.
  virtual plan::DataSamples samples() = 0;
  // plan.problem.k neighbors a query, or one less where queries exclude themselves. Those beyond plan.max_distance are
  // left out as core/max_distance.hpp has it.
  virtual void search(const Plan& plan, const NeighborsView<D>& out, SearchReport& report) = 0;
  // Each query of the listed batches among the base points of its batch, by a plan of choose_batches(). Answers have k
  // places a query, on the host, with ids of the whole base; those that a batch has no points for are marked. Batches
  // are listed where plan::choose_small_batch() says so; others are searched by an index of their own.
  virtual void search_batches(const Plan& plan, const core::Batches& batches, std::span<const std::int64_t> listed,
                              std::int64_t k, const NeighborsView<D>& out, SearchReport& report) = 0;
  // All points within the radii, by a plan of a radius search.
  virtual void search_radius(const Plan& plan, const core::RadiusQuery<D>& radii, const RadiusLists<D>& out,
                             SearchReport& report) = 0;
  // The graph of all points, of queries that exclude themselves. With a largest distance, which
  // leaves fewer edges, it goes to the host.
  virtual void graph(const Plan& plan, Symmetrize symmetrize, const GraphLists<D>& out, SearchReport& report) = 0;
  // core::reduced_columns() values a query; `values` where the operation has some. The plan is one of batches: of
  // plan.problem.queries queries, whose neighbors are in memory at a time. The report is of the last batch.
  virtual void reduce(const Plan& plan, const core::Reduction& reduction, const MatrixView<D>& values,
                      const ReducedView<D>& out, SearchReport& report) = 0;
};

// Copies of some rows of an index, for a search of them alone. They must outlive it.
template <Element T>
struct RowCopies {
  MatrixView<T> rows;
  void* stream = nullptr;  // on which they are ready
};

// Points that are searched. Thread-safe once it is prepared; the points must outlive it.
template <Element T>
class BackendIndex {
 public:
  virtual ~BackendIndex() = default;
  // For a search of this problem.
  virtual plan::IndexFacts facts(const Problem& problem) const = 0;
  // Checks the points and makes what searches need. An index that serves one search only may leave this to it, which
  // then makes no more than its plan needs. `plan`: of method triangle or tree on the CPU, whose clusters or boxes are
  // made now.
  virtual void prepare(const Plan* plan) = 0;
  virtual std::unique_ptr<BackendSearch<T>> begin(const Queries<T>& queries) const = 0;
  // What has been made, in memory of the index, for IndexRequest::parts of another one.
  virtual Parts parts() const { return {}; }
  // Whether a search by this plan leaves out most points that are not wanted.
  virtual bool leaves_out(const Plan& /*plan*/) const { return false; }
  // Whether copy_rows() copies rows on the device, where that takes less time than on the host.
  virtual bool copies_rows() const { return false; }
  // Null where it copies none.
  virtual std::shared_ptr<const RowCopies<T>> copy_rows(std::span<const std::int64_t> /*rows*/) const {
    return nullptr;
  }
};

template <Element T>
struct IndexRequest {
  MatrixView<T> base;
  const Options& options;
  plan::IndexFacts facts;  // what it should have
  void* stream = nullptr;  // on which a base of a device is ready
  // Refuses host points: for those that never are on a device as a whole, which could not check them.
  void (*check_on_host)(const MatrixView<T>& base, const Options& options) = nullptr;
  int threads = 1;  // that the CPU may use
  // What an earlier index of the same points and options had made, in memory that outlives this one; null without. The
  // points were checked then.
  const Parts* parts = nullptr;
};

// Sizes of what is measured: distances of so many queries and points in two numbers of dimensions, and a read of so
// many values.
struct TuneSize {
  std::int64_t queries = 0;
  std::int64_t points = 0;
  std::int64_t few_dims = 0;
  std::int64_t many_dims = 0;
  std::int64_t read_values = 0;
  int rounds = 1;
};

inline constexpr TuneSize kWholeTune{4096, 65536, 128, 512, std::int64_t{1} << 28, 7};
inline constexpr TuneSize kQuickTune{2048, 32768, 128, 256, std::int64_t{1} << 26, 3};

// A field of core::DeviceProfile.
struct MeasuredCost {
  std::string name;
  double seconds = 0;
};

// What a backend does with points and values of one type.
template <Element T>
struct TypedTable {
  std::unique_ptr<BackendIndex<T>> (*make_index)(const IndexRequest<T>& request);
  // Into host memory. Points are checked.
  void (*distances)(const MatrixView<T>& base, const MatrixView<T>& queries, const Options& options, void* stream,
                    DistanceOf<T>* out);
  void (*topk)(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, const TopkView<T>& out,
               void* stream);
  // Brings an answer of so many places from the host to the device, and waits for the stream. Null where there is none.
  void (*bring_answer)(const NeighborsView<DistanceOf<T>>& answer, std::int64_t count,
                       const NeighborsView<DistanceOf<T>>& out, void* stream);
  // Lists on the device become one there (kith/shards.hpp). Null where there is no device.
  void (*merge)(std::span<const NeighborLists<DistanceOf<T>>> lists, std::int64_t queries, std::int64_t k,
                const Metric& metric, const NeighborsView<DistanceOf<T>>& out, void* stream);
};

struct BackendTable {
  Backend id;
  bool (*is_available)();                         // a device is there that this build has code for
  std::string (*obstacle)();                      // to using one that is there; empty without. Null of backend cpu
  std::vector<Device> (*devices)();               // none of backend cpu
  std::vector<int> (*usable_devices)();           // the ids of those that this build has code for; none are woken
  void (*set_device)(int id);                     // makes it the calling thread's current one; null of backend cpu
  plan::Machine (*facts)();                       // of the current device, its profile the one that is built in
  std::vector<SelectMethod> (*select_methods)();  // `automatic` first
  std::vector<MeasuredCost> (*measure_costs)(const TuneSize& size);  // null where there is no profile
  std::tuple<TypedTable<float>, TypedTable<double>, TypedTable<std::uint8_t>, TypedTable<std::int8_t>,
             TypedTable<Float16>, TypedTable<BFloat16>>
      typed;

  template <Element T>
  const TypedTable<T>& of() const {
    return std::get<TypedTable<T>>(typed);
  }
};

// Whether warps reduce the neighbors that they find for a plan of a device, without lists.
inline bool reduces_in_search(const Plan& plan) {
  return plan.method == Method::shifted_sort && plan.shifted_sort.merge == CurveMerge::warp;
}
// Whether plans by these options, whose backend is resolved, are such.
inline bool reduces_in_search(const Options& options) {
  return options.method == Method::shifted_sort && options.shifted_sort.merge != CurveMerge::global_memory &&
         options.backend != Backend::cpu;
}

}  // namespace kith::backend

namespace kith::cpu {
const backend::BackendTable& backend_table();
}
namespace kith::cuda {
const backend::BackendTable& backend_table();
}
namespace kith::emulated {
const backend::BackendTable& backend_table();
}
