// contract.hpp: what the library calls of the backends for devices. Plain C++: it is included where there is no CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/facts.hpp"
#include "core/radius_query.hpp"
#include "core/reduction.hpp"
#include "core/sizes.hpp"
#include "kith/search.hpp"
#include "kith/topk.hpp"

namespace kith {

// A matrix on a device and where its answer goes: rows × k values and ids (rows × 1 for kth_only; null for no ids).
template <class T>
struct DeviceTopk {
  const T* values = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t k = 0;
  T* values_out = nullptr;
  std::int64_t* ids_out = nullptr;
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

// Of a field of core::DeviceProfile.
struct MeasuredCost {
  std::string name;
  double seconds = 0;
};

// Whether warps reduce the neighbors that they find for a plan of a device, without lists.
inline bool reduces_in_search(const Plan& plan) {
  return plan.method == Method::shifted_sort && plan.shifted_sort.merge == "warp";
}

// A base on a device, or streamed through it. Thread-safe; the base must outlive it.
template <Element T>
class DeviceIndex {
 public:
  virtual ~DeviceIndex() = default;
  // As the plan says. Queries were checked. Fills in the report but for plan and time.
  virtual void search(const MatrixView<T>& queries, const Plan& plan, const ProgressCallback& progress,
                      std::int64_t* ids, DistanceOf<T>* distances, SearchReport& report) const = 0;
  // All points within reach, by a plan of a radius search. Queries were checked; where the reach leaves a point itself
  // out, they are the base.
  virtual core::RadiusResult<DistanceOf<T>> search_radius(const MatrixView<T>& queries, const Plan& plan,
                                                          const core::RadiusQuery<DistanceOf<T>>& reach,
                                                          const ProgressCallback& progress) const = 0;
  // A row of core::reduced_columns() values a query, for plans that reduces_in_search() knows. `values` where the
  // operation has some.
  virtual void reduce(const MatrixView<T>& /*queries*/, const Plan& /*plan*/, const ProgressCallback& /*progress*/,
                      const core::Reduction& /*reduction*/, const MatrixView<DistanceOf<T>>& /*values*/,
                      DistanceOf<T>* /*out*/) const {}
  // The share of distances, from 0 to 1, that a plan of method triangle would compute, from a sample of both; 1 where
  // that is not known.
  virtual double surviving_fraction(const MatrixView<T>& queries, const Plan& plan) const = 0;
  // Whether a few of the queries can be answered as the plan, which has no method triangle, begins; if not, later
  // searches know.
  virtual bool holds(const MatrixView<T>& queries, const Plan& plan) const = 0;
};

// A base that lies on a device, searched on the caller's stream (a cudaStream_t). Thread-safe; the base must outlive
// it. Matrices are of the device: col_stride is 1 and row_stride at least cols.
template <class F>
class PointerIndex {
 public:
  virtual ~PointerIndex() = default;
  // As the plan says. Waits for the stream where the ladder must know who failed, and where queries are refused.
  virtual void search(const MatrixView<F>& queries, const Plan& plan, F* distances, std::int64_t* ids, void* stream,
                      SearchReport& report) const = 0;
  // The same, with a row of core::reduced_columns() values a query instead of neighbors; `values` where the operation
  // has some. Unless the plan reduces_in_search(), the neighbors of all these queries are in memory meanwhile.
  virtual void reduce(const MatrixView<F>& queries, const Plan& plan, const core::Reduction& reduction,
                      const MatrixView<F>& values, F* out, void* stream, SearchReport& report) const = 0;
  // As DeviceIndex has it. Waits for the stream.
  virtual double surviving_fraction(const MatrixView<F>& queries, const Plan& plan, void* stream) const = 0;
  virtual bool holds(const MatrixView<F>& queries, const Plan& plan, void* stream) const = 0;
};

}  // namespace kith

// device_count        devices that can be used; 0 where there is none or no driver
// device_list         what they are
// select_method_names "auto" first
// device_facts        of the current one; its profile is left to the caller
// measure_costs       what is in a profile and can be measured on the current device
// make_index          of a base that was checked; kept on the device, or streamed through it by every search
// distances           queries × base, as the host search returns them
// make_pointer_index  of a base of the device, float or double, which is checked here; waits for the stream
// topk                of a matrix of the host, on the current device; `out` has its sizes
// enqueue_topk        of a matrix of the device, on the caller's stream (a cudaStream_t), without waiting for it
#define KITH_DECLARE_BACKEND(backend)                                                                         \
  namespace kith::backend {                                                                                   \
  int device_count();                                                                                         \
  std::vector<Device> device_list();                                                                          \
  std::vector<std::string> select_method_names();                                                             \
  core::DeviceFacts device_facts();                                                                           \
  std::vector<MeasuredCost> measure_costs(const TuneSize& size);                                              \
  template <Element T>                                                                                        \
  std::unique_ptr<DeviceIndex<T>> make_index(const MatrixView<T>& base, const Metric& metric, bool resident); \
  template <Element T>                                                                                        \
  void distances(const MatrixView<T>& base, const MatrixView<T>& queries, const Metric& metric,               \
                 const ProgressCallback& progress, DistanceOf<T>* out);                                       \
  template <Element T>                                                                                        \
  void topk(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, Topk<T>& out);           \
  template <class F>                                                                                          \
  std::unique_ptr<PointerIndex<F>> make_pointer_index(const MatrixView<F>& base, const Metric& metric,        \
                                                      bool check_finite, void* stream);                       \
  template <class T>                                                                                          \
  void enqueue_topk(const DeviceTopk<T>& work, const TopkOptions& options, void* stream);                     \
  }

KITH_DECLARE_BACKEND(cuda)
KITH_DECLARE_BACKEND(emulated)

#undef KITH_DECLARE_BACKEND
