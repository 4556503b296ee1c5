// For CUDA C++: searches by a metric of your own that is compiled into the kernel that searches on the device. Include
// it in sources for nvcc, which then need C++20 and the library.
//
//   struct Canberra {
//     __host__ __device__ double combine(double x, double y) const {          // ⊗; combine(x, y, c) is told which
//       const double sum = fabs(x) + fabs(y);                                 //    coordinate it is
//       return sum == 0 ? 0 : fabs(x - y) / sum;
//     }
//     __host__ __device__ double accumulate(double a, double b) const {       // ⊕; a sum where there is none
//       return a + b;
//     }
//     static constexpr double identity = 0;                                   // 0 where there is none
//     __host__ __device__ double finish(double sum) const { return sum; }     // or finish(sum, dims); may be left out
//   };
//   kith::Options options;
//   options.backend = kith::Backend::cuda;
//   auto found = kith::search_by(kith::cuda_metric(Canberra{}), base, queries, 10, options);
//
// It is a functor of one sum for kith/custom_metric.hpp whose functions are also of the device; points lie in host
// memory. Everything is computed in double, coordinate by coordinate in their order. The bits are those of the CPU
// where the functor's operations are rounded alike on both: additions, products, quotients and roots are, compiled with
// -fmad=false and for the host with -ffp-contract=off; functions such as exp are not.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "kith/cuda_pair_kernel.cuh"
#include "kith/custom_metric.hpp"
#include "kith/error.hpp"

namespace kith {
namespace pair_kernel {

// A functor as a metric of the kernel.
template <class M>
struct FunctorMetric {
  static constexpr unsigned kState = 1;
  static constexpr bool kLong = false;
  M functor;

  __device__ __forceinline__ unsigned passes() const { return 1; }
  __device__ __forceinline__ void begin(double (&s)[1]) const {
    if constexpr (requires { functor.identity; }) {
      s[0] = functor.identity;
    } else {
      s[0] = 0;
    }
  }
  __device__ __forceinline__ void before(double (&)[1], unsigned, unsigned) const {}
  __device__ __forceinline__ void add(double (&s)[1], unsigned, double x, double y, unsigned c, unsigned) const {
    double term = 0;
    if constexpr (requires { functor.combine(x, y, static_cast<long>(c)); }) {
      term = functor.combine(x, y, static_cast<long>(c));
    } else {
      term = functor.combine(x, y);
    }
    if constexpr (requires { functor.accumulate(term, term); }) {
      s[0] = functor.accumulate(s[0], term);
    } else {
      s[0] = s[0] + term;
    }
  }
  __device__ __forceinline__ double finish(const double (&s)[1], unsigned dims) const {
    if constexpr (requires { functor.finish(s[0], static_cast<long>(dims)); }) {
      return functor.finish(s[0], static_cast<long>(dims));
    } else if constexpr (requires { functor.finish(s[0]); }) {
      return functor.finish(s[0]);
    } else {
      return s[0];
    }
  }
};

template <PairWork kWork, class E, class M>
__global__ void __launch_bounds__(kPairThreads)
    functor_kernel(const __grid_constant__ PairTile tile, const __grid_constant__ FunctorMetric<M> metric) {
  if constexpr (kWork == PairWork::candidates) {
    fill_candidates<E>(metric, tile);
  } else {
    __shared__ __align__(16) unsigned char memory[Shape<FunctorMetric<M>, E, double>::kShared];
    if constexpr (kWork == PairWork::filter) {
      fill_tile<FilterOutput, E, double>(metric, tile, memory);
    } else {
      fill_tile<MatrixOutput, E, double>(metric, tile, memory);
    }
  }
}

}  // namespace pair_kernel

template <class M>
class CudaMetric final : public TermMetric<M>, public DevicePairs {
  static_assert(std::tuple_size_v<metric_loops::SumsOf<M>> == 1, "a functor for devices has one sum");

 public:
  CudaMetric(M functor, std::string name) : TermMetric<M>(std::move(functor), std::move(name)) {}

  void launch(PairWork work, int bytes, const PairTile& tile, void* stream) const override {
    if (bytes == 8) return with_points<double>(work, tile, static_cast<cudaStream_t>(stream));
    with_points<float>(work, tile, static_cast<cudaStream_t>(stream));
  }

 private:
  template <class E>
  void with_points(PairWork work, const PairTile& tile, cudaStream_t stream) const {
    switch (work) {
      case PairWork::keys: return start<PairWork::keys, E>(tile, stream);
      case PairWork::candidates: return start<PairWork::candidates, E>(tile, stream);
      case PairWork::scores: return start<PairWork::scores, E>(tile, stream);
      case PairWork::filter: return start<PairWork::filter, E>(tile, stream);
    }
  }
  template <PairWork kWork, class E>
  void start(const PairTile& tile, cudaStream_t stream) const {
    using Metric = pair_kernel::FunctorMetric<M>;
    const long long blocks =
        pair_kernel::blocks_of(kWork, tile, pair_kernel::kSide * pair_kernel::each_of(1, sizeof(double)));
    if (blocks == 0) return;
    PairTile argument = tile;
    Metric metric{this->functor()};
    void* arguments[] = {&argument, &metric};
    const cudaError_t status =
        cudaLaunchKernel(reinterpret_cast<const void*>(pair_kernel::functor_kernel<kWork, E, M>),
                         dim3(static_cast<unsigned>(blocks)), dim3(kPairThreads), arguments, 0, stream);
    if (status == cudaSuccess) return;
    cudaGetLastError();  // the runtime remembers it otherwise
    throw Error(ErrorCode::internal, "kernel of metric '" + this->name() + "': " + cudaGetErrorString(status));
  }
};

// For search_by() and the other searches of kith/custom_metric.hpp. `name`: for reports and errors.
template <class M>
std::shared_ptr<const PairMetric> cuda_metric(M functor, std::string name = "a functor for devices") {
  return std::make_shared<const CudaMetric<M>>(std::move(functor), std::move(name));
}

}  // namespace kith
