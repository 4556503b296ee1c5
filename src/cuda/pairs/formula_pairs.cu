// formula_pairs.cu: the kernels of a formula, in memory as long as somebody uses them or they are among the last.
#include "cuda/pairs/formula_pairs.hpp"

#include <mutex>
#include <vector>

#include "cuda/pairs/formula_source.hpp"
#include "cuda/pairs/nvrtc.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/shared.cuh"
#include "cuda/runtime/stream.hpp"
#include "kith/cuda_pair_kernel.cuh"
#include "kith/error.hpp"
#if defined(KITH_IS_EMULATED)
#include "cuda/pairs/interpreted_formula.cuh"
#endif

namespace kith::KITH_BACKEND::pairs {
namespace {

#if defined(KITH_IS_EMULATED)

template <PairWork kWork, class E, class F, class Metric>
__global__ void __launch_bounds__(kPairThreads) formula_kernel(const __grid_constant__ PairTile tile, Metric metric) {
  if constexpr (kWork == PairWork::candidates) {
    pair_kernel::fill_candidates<E>(metric, tile);
  } else {
    KITH_SHARED(unsigned char, memory, (pair_kernel::Shape<Metric, E, F>::kShared));
    if constexpr (kWork == PairWork::filter) {
      pair_kernel::fill_tile<pair_kernel::FilterOutput, E, F>(metric, tile, memory);
    } else {
      pair_kernel::fill_tile<pair_kernel::MatrixOutput, E, F>(metric, tile, memory);
    }
  }
}

class FormulaKernels final : public DevicePairs {
 public:
  FormulaKernels(const core::Expression& formula, FormulaTypes types)
      : types_(types),
        steps_(formula),
        nodes_(brought(steps_.nodes)),
        list_(brought(steps_.steps)),
        begins_(brought(steps_.begins)) {}

  void launch(PairWork work, int /*bytes*/, const PairTile& tile, void* stream) const override {
    auto* const on = static_cast<cudaStream_t>(stream);
    if (types_.points == 8) return with_type<double, double>(work, tile, on);
    if (types_.scores == 8) return with_type<float, double>(work, tile, on);
    with_type<float, float>(work, tile, on);
  }

 private:
  template <class V>
  DeviceBuffer<V> brought(const std::vector<V>& values) {
    DeviceBuffer<V> made(values.size(), stream_);
    KITH_CUDA(cudaMemcpyAsync(made.data(), values.data(), values.size() * sizeof(V), cudaMemcpyHostToDevice, stream_));
    stream_.synchronize();
    return made;
  }

  template <class E, class S>
  void with_type(PairWork work, const PairTile& tile, cudaStream_t stream) const {
    switch (work) {
      case PairWork::keys: return with_slots<PairWork::keys, E, double>(tile, stream);
      case PairWork::candidates: return with_slots<PairWork::candidates, E, double>(tile, stream);
      case PairWork::scores: return with_slots<PairWork::scores, E, S>(tile, stream);
      case PairWork::filter: return with_slots<PairWork::filter, E, S>(tile, stream);
    }
  }
  template <PairWork kWork, class E, class F>
  void with_slots(const PairTile& tile, cudaStream_t stream) const {
    if (steps_.slots <= 1) return start<kWork, E, F, 1>(tile, stream);
    if (steps_.slots <= 2) return start<kWork, E, F, 2>(tile, stream);
    if (steps_.slots <= 8) return start<kWork, E, F, 8>(tile, stream);
    start<kWork, E, F, core::ExpressionLimits::kNodes>(tile, stream);
  }
  template <PairWork kWork, class E, class F, unsigned kSlots>
  void start(const PairTile& tile, cudaStream_t stream) const {
    using Metric = InterpretedFormula<F, kSlots>;
    const Metric metric{nodes_.data(), list_.data(), begins_.data(), steps_.passes, steps_.root};
    const LaunchShape shape{.blocks = pair_kernel::blocks_of(kWork, tile, pair_kernel::Shape<Metric, E, F>::kPoints),
                            .threads = kPairThreads};
    runtime::launch("formula", formula_kernel<kWork, E, F, Metric>, shape, stream, tile, metric);
  }

  FormulaTypes types_;
  Stream stream_;
  FormulaSteps steps_;
  DeviceBuffer<FormulaNode> nodes_;
  DeviceBuffer<int> list_;
  DeviceBuffer<int> begins_;
};

#else

#if CUDART_VERSION >= 12080

class FormulaKernels final : public DevicePairs {
 public:
  FormulaKernels(const core::Expression& formula, FormulaTypes types) : slots_(state_of(formula)), types_(types) {
    const auto name = [](int bytes) { return bytes == 8 ? "double" : "float"; };
    const std::vector<char> code =
        compile_program(formula_source(formula, name(types.points), name(types.scores)), capability());
    KITH_CUDA(cudaLibraryLoadData(&library_, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    constexpr const char* kNames[] = {"kith_keys", "kith_candidates", "kith_scores", "kith_filter"};
    for (int i = 0; i < 4; ++i) KITH_CUDA(cudaLibraryGetKernel(&kernels_[i], library_, kNames[i]));
  }
  FormulaKernels(const FormulaKernels&) = delete;
  FormulaKernels& operator=(const FormulaKernels&) = delete;
  ~FormulaKernels() override { cudaLibraryUnload(library_); }

  void launch(PairWork work, int /*bytes*/, const PairTile& tile, void* stream) const override {
    const bool is_score = work == PairWork::scores || work == PairWork::filter;
    const unsigned points = pair_kernel::kSide * pair_kernel::each_of(slots_, is_score ? types_.scores : 8);
    const long long blocks = pair_kernel::blocks_of(work, tile, points);
    if (blocks == 0) return;
    PairTile argument = tile;
    void* arguments[] = {&argument};
    KITH_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(kernels_[static_cast<int>(work)]),
                               dim3(static_cast<unsigned>(blocks)), dim3(kPairThreads), arguments, 0,
                               static_cast<cudaStream_t>(stream)));
  }

 private:
  static int capability() {
    int device = 0;
    int major = 0;
    int minor = 0;
    KITH_CUDA(cudaGetDevice(&device));
    KITH_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    KITH_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return major * 10 + minor;
  }

  unsigned slots_;
  FormulaTypes types_;
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernels_[4] = {};
};

#else

class FormulaKernels final : public DevicePairs {
 public:
  FormulaKernels(const core::Expression&, FormulaTypes) {
    throw Error(ErrorCode::no_device, "formulas on devices need a Kith that was built with CUDA 12.8 or later");
  }
  void launch(PairWork, int, const PairTile&, void*) const override {}
};

#endif

// Formulas that were used last. What is compiled depends on the device's architecture only by way of the device.
class Recent {
 public:
  std::shared_ptr<const DevicePairs> find(const core::Expression& formula, FormulaTypes types) {
    int device = 0;
    KITH_CUDA(cudaGetDevice(&device));
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_)
      if (entry.text == formula.text && entry.types == types && entry.device == device) return entry.kernels;
    auto made = std::make_shared<const FormulaKernels>(formula, types);
    constexpr std::size_t kMost = 32;
    if (entries_.size() == kMost) entries_.erase(entries_.begin());
    entries_.push_back({formula.text, types, device, made});
    return made;
  }

 private:
  struct Entry {
    std::string text;
    FormulaTypes types;
    int device;
    std::shared_ptr<const DevicePairs> kernels;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

#endif

}  // namespace

std::shared_ptr<const DevicePairs> formula_pairs(const core::Expression& formula, FormulaTypes types) {
#if defined(KITH_IS_EMULATED)
  // Nothing is compiled, and memory of an emulated device does not outlive its reset.
  return std::make_shared<const FormulaKernels>(formula, types);
#else
  // Kernels of a process that ends are left to the driver.
  static Recent& recent = *new Recent;
  return recent.find(formula, types);
#endif
}

}  // namespace kith::KITH_BACKEND::pairs
