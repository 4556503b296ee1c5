// The k first values of each row of a matrix of the host: rows in tiles, tiles in turn in two slots. A slot has a
// stream of its own, on which a tile arrives, is selected from and leaves, so that one tile is copied while another is
// worked on; the host waits only for the tile whose answer it takes. How much a method needs beside a tile only the
// method knows: where it does not fit the budget, tiles get smaller.
#include <array>
#include <optional>
#include <string>

#include "core/instantiate.hpp"
#include "cuda/host_data/host_link.hpp"
#include "cuda/runtime/properties.hpp"
#include "cuda/topk_work.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {
namespace {

struct TopkTuning {
  std::int64_t budget_divisor = 4;     // of the free memory, where no budget is given
  std::int64_t workspace_divisor = 2;  // of the budget, kept for the methods at first
};
constexpr TopkTuning kTuning;
constexpr int kSlots = 2;

// How the rows are cut, and into how many slots they go.
struct Tiling {
  std::int64_t rows = 1;
  int slots = kSlots;

  // False where it cannot get smaller.
  bool shrink() {
    if (rows > 1) {
      rows /= 2;
    } else if (slots > 1) {
      slots = 1;
    } else {
      return false;
    }
    return true;
  }
};

template <class F>
Tiling first_tiling(const Sizes<F>& sizes, std::int64_t budget) {
  const std::int64_t bytes = std::min(device_policy().topk_tile_bytes, budget / kTuning.workspace_divisor / kSlots);
  Tiling tiling;
  tiling.rows = std::clamp<std::int64_t>(bytes / sizes.row_bytes(), 1, sizes.rows);
  if (tiling.rows == sizes.rows) tiling.slots = 1;
  return tiling;
}

std::int64_t budget_of(const TopkOptions& options) {
  if (options.memory_budget > 0) return options.memory_budget;
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  KITH_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
  return static_cast<std::int64_t>(free_bytes) / kTuning.budget_divisor;
}

// What is left of a slot's share of the budget beside its tile and the tile's answer.
template <class F>
std::size_t workspace_budget(const Sizes<F>& sizes, const Tiling& tiling, std::int64_t budget) {
  const std::int64_t tiles = tiling.slots * tiling.rows * sizes.row_bytes();
  if (tiles >= budget)
    throw Error(ErrorCode::out_of_memory,
                std::to_string(tiles) + " bytes and a workspace are needed; the budget is " + std::to_string(budget));
  return as_size((budget - tiles) / tiling.slots);
}

template <Element T>
class Slot {
  using F = DistanceOf<T>;

 public:
  Slot(const Sizes<F>& sizes, const Tiling& tiling, std::int64_t budget)
      : sizes_(sizes),
        workspace_(stream_, std::max<std::size_t>(1, workspace_budget(sizes, tiling, budget))),
        link_(stream_, tiling.rows * sizes.row_bytes()),
        tile_(as_size(tiling.rows * sizes.cols), stream_),
        values_(as_size(tiling.rows * sizes.values_out), stream_),
        ids_(as_size(tiling.rows * sizes.ids_out), stream_) {}
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  // The slot's work comes behind the caller's so far, and the caller's goes on behind it.
  void follow(cudaStream_t caller) {
    turn_.record(caller);
    turn_.wait_on(stream_);
  }
  void lead(cudaStream_t caller) {
    turn_.record(stream_);
    turn_.wait_on(caller);
  }

  // Reads the rows and enqueues the rest.
  void start(const MatrixView<T>& matrix, std::int64_t first, std::int64_t count, const TopkOptions& options) {
    first_ = first;
    count_ = count;
    link_.bring(matrix.rows_from(first, count), tile_.data());
    select_topk<F>({tile_.data(), count, sizes_.cols, sizes_.cols, sizes_.k, values_.data(), ids_.data()}, options,
                   workspace_);
  }

  // Takes the answer where it belongs, and waits for it where that is the host; says which row comes next.
  std::int64_t finish(const TopkView<T>& out) {
    link_.take(values_.data(), count_ * sizes_.values_out, out.memory, out.values + first_ * sizes_.values_out);
    if (sizes_.ids_out > 0)
      link_.take(ids_.data(), count_ * sizes_.ids_out, out.memory, out.ids + first_ * sizes_.ids_out);
    return first_ + count_;
  }

 private:
  Sizes<F> sizes_;
  Stream stream_;
  Event turn_;
  Workspace workspace_;
  host_data::HostLink link_;
  DeviceBuffer<F> tile_;
  DeviceBuffer<F> values_;
  DeviceBuffer<std::int64_t> ids_;
  std::int64_t first_ = 0;
  std::int64_t count_ = 0;
};

template <Element T>
class Pipeline {
  using F = DistanceOf<T>;

 public:
  // For the rows from `first` on.
  Pipeline(const MatrixView<T>& matrix, const Sizes<F>& sizes, const Tiling& tiling, std::int64_t budget,
           const TopkOptions& options, std::int64_t first)
      : matrix_(matrix), tiling_(tiling), options_(options), next_row_(first) {
    for (int i = 0; i < tiling.slots; ++i) slots_[as_size(i)].emplace(sizes, tiling, budget);
  }

  void follow(cudaStream_t caller) {
    for (auto& each : slots_)
      if (each) each->follow(caller);
  }
  void lead(cudaStream_t caller) {
    for (auto& each : slots_)
      if (each) each->lead(caller);
  }

  // Keeps all slots busy and takes the answer of one tile: all rows before what it returns are done.
  std::int64_t advance(const TopkView<T>& out) {
    while (next_row_ < matrix_.rows && started_ < finished_ + tiling_.slots) {
      const std::int64_t count = std::min(tiling_.rows, matrix_.rows - next_row_);
      slot(started_).start(matrix_, next_row_, count, options_);
      next_row_ += count;
      ++started_;
    }
    return slot(finished_++).finish(out);
  }

 private:
  Slot<T>& slot(std::int64_t tile) { return *slots_[as_size(tile % tiling_.slots)]; }

  const MatrixView<T>& matrix_;
  Tiling tiling_;
  const TopkOptions& options_;
  std::int64_t next_row_;
  std::int64_t started_ = 0;   // tiles
  std::int64_t finished_ = 0;  // tiles
  std::array<std::optional<Slot<T>>, kSlots> slots_;
};

}  // namespace

template <Element T>
void topk_of_host(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, const TopkView<T>& out,
                  cudaStream_t stream) {
  const Sizes<DistanceOf<T>> sizes(matrix.rows, matrix.cols, k, options.output);
  const std::int64_t budget = budget_of(options);
  Tiling tiling = first_tiling(sizes, budget);
  std::optional<Pipeline<T>> pipeline;
  for (std::int64_t done = 0; done < matrix.rows;) {
    try {
      if (!pipeline) {
        pipeline.emplace(matrix, sizes, tiling, budget, options, done);
        if (out.memory == Memory::device) pipeline->follow(stream);
      }
      done = pipeline->advance(out);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      pipeline.reset();
      if (!tiling.shrink())
        throw Error(ErrorCode::out_of_memory, "a memory budget of " + std::to_string(budget) +
                                                  " bytes is too small for one row of " + std::to_string(matrix.cols) +
                                                  " columns with k = " + std::to_string(k) + ": " + error.what());
      continue;
    }
    if (options.progress && !options.progress({done * matrix.cols, matrix.rows * matrix.cols}))
      throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
  }
  if (out.memory == Memory::device) pipeline->lead(stream);
}

#define KITH_INSTANTIATE(T) \
  template void topk_of_host(const MatrixView<T>&, std::int64_t, const TopkOptions&, const TopkView<T>&, cudaStream_t);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
