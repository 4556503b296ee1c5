// The k first values of each row of a matrix of the host: rows in tiles, tiles in turn in two slots. A slot has a
// stream of its own, on which a tile arrives, is selected from and leaves, so that one tile is copied while another is
// worked on; the host waits only for the tile whose answer it takes. How much a method needs beside a tile only the
// method knows: where it does not fit the budget, tiles get smaller.
#include <array>
#include <optional>

#include "backend/contract.hpp"
#include "cuda/host_data/staging.hpp"
#include "cuda/select/select.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {
namespace {

struct TopkTuning {
  std::int64_t tile_bytes = 64 << 20;  // more would not copy faster
  std::int64_t budget_divisor = 4;     // of the free memory, where no budget is given
  std::int64_t workspace_divisor = 2;  // of the budget, kept for the methods at first
};
constexpr TopkTuning kTuning;
constexpr int kSlots = 2;

// Sizes of a call in working precision F.
template <class F>
struct Sizes {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t k;
  std::int64_t values_out;  // a row
  std::int64_t ids_out;     // a row

  Sizes(std::int64_t rows_, std::int64_t cols_, std::int64_t k_, TopkOutput form)
      : rows(rows_),
        cols(cols_),
        k(k_),
        values_out(form == TopkOutput::kth_only ? 1 : k_),
        ids_out(form == TopkOutput::sorted || form == TopkOutput::unsorted ? k_ : 0) {}

  // Of device memory: the row and its answer.
  std::int64_t row_bytes() const {
    constexpr auto kValue = static_cast<std::int64_t>(sizeof(F));
    return (cols + values_out) * kValue + ids_out * static_cast<std::int64_t>(sizeof(std::int64_t));
  }
};

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
  const std::int64_t bytes = std::min(kTuning.tile_bytes, budget / kTuning.workspace_divisor / kSlots);
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

template <class F>
void select_on_device(const DeviceTopk<F>& work, const TopkOptions& options, Workspace& workspace) {
  select::Rows<F> rows;
  rows.values = work.values;
  rows.rows = work.rows;
  rows.length = static_cast<unsigned>(work.cols);
  rows.stride = work.row_stride;
  rows.largest = options.largest;
  const select::Output<F> output{work.values_out, work.ids_out, static_cast<unsigned>(work.k), options.output, rows};
  workspace.reset();
  select::select_rows(select::SelectCall<F>{rows, output, options.tuning, workspace}, options.method);
}

// What is left of a slot's share of the budget beside its tile and the tile's answer.
template <class F>
std::size_t workspace_budget(const Sizes<F>& sizes, const Tiling& tiling, std::int64_t budget) {
  const std::int64_t tiles = tiling.slots * tiling.rows * sizes.row_bytes();
  if (tiles >= budget)
    throw Error(ErrorCode::out_of_memory,
                std::to_string(tiles) + " bytes and a workspace are needed; the budget is " + std::to_string(budget));
  return static_cast<std::size_t>((budget - tiles) / tiling.slots);
}

template <Element T>
class Slot {
  using F = DistanceOf<T>;

 public:
  Slot(const Sizes<F>& sizes, const Tiling& tiling, std::int64_t budget)
      : sizes_(sizes),
        workspace_(stream_, std::max<std::size_t>(1, workspace_budget(sizes, tiling, budget))),
        staging_(host_data::staging_shape(tiling.rows * sizes.row_bytes()), stream_),
        tile_(static_cast<std::size_t>(tiling.rows * sizes.cols), stream_),
        values_(static_cast<std::size_t>(tiling.rows * sizes.values_out), stream_),
        ids_(static_cast<std::size_t>(tiling.rows * sizes.ids_out), stream_) {}
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  // Reads the rows and enqueues the rest.
  void start(const MatrixView<T>& matrix, std::int64_t first, std::int64_t count, const TopkOptions& options) {
    first_ = first;
    count_ = count;
    staging_.upload(matrix.rows_from(first, count), tile_.data());
    select_on_device<F>({tile_.data(), count, sizes_.cols, sizes_.cols, sizes_.k, values_.data(), ids_.data()}, options,
                        workspace_);
  }

  // Waits for the answer and puts it where it belongs; says which row comes next.
  std::int64_t finish(Topk<T>& out) {
    staging_.download(values_.data(), count_ * sizes_.values_out, out.values.data() + first_ * sizes_.values_out);
    staging_.download(ids_.data(), count_ * sizes_.ids_out, out.ids.data() + first_ * sizes_.ids_out);
    return first_ + count_;
  }

 private:
  Sizes<F> sizes_;
  Stream stream_;
  Workspace workspace_;
  host_data::Staging staging_;
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
    for (int i = 0; i < tiling.slots; ++i) slots_[static_cast<std::size_t>(i)].emplace(sizes, tiling, budget);
  }

  // Keeps all slots busy and takes the answer of one tile: all rows before what it returns are done.
  std::int64_t advance(Topk<T>& out) {
    while (next_row_ < matrix_.rows && started_ < finished_ + tiling_.slots) {
      const std::int64_t count = std::min(tiling_.rows, matrix_.rows - next_row_);
      slot(started_).start(matrix_, next_row_, count, options_);
      next_row_ += count;
      ++started_;
    }
    return slot(finished_++).finish(out);
  }

 private:
  Slot<T>& slot(std::int64_t tile) { return *slots_[static_cast<std::size_t>(tile % tiling_.slots)]; }

  const MatrixView<T>& matrix_;
  Tiling tiling_;
  const TopkOptions& options_;
  std::int64_t next_row_;
  std::int64_t started_ = 0;   // tiles
  std::int64_t finished_ = 0;  // tiles
  std::array<std::optional<Slot<T>>, kSlots> slots_;
};

void report(const ProgressCallback& progress, std::int64_t done, std::int64_t total) {
  if (progress && !progress({done, total})) throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
}

}  // namespace

template <Element T>
void topk(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, Topk<T>& out) {
  const Sizes<DistanceOf<T>> sizes(matrix.rows, matrix.cols, k, options.output);
  const std::int64_t budget = budget_of(options);
  Tiling tiling = first_tiling(sizes, budget);
  std::optional<Pipeline<T>> pipeline;
  for (std::int64_t done = 0; done < matrix.rows;) {
    try {
      if (!pipeline) pipeline.emplace(matrix, sizes, tiling, budget, options, done);
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
    report(options.progress, done * matrix.cols, matrix.rows * matrix.cols);
  }
}

template <class T>
void enqueue_topk(const DeviceTopk<T>& work, const TopkOptions& options, void* stream) {
  const Sizes<T> sizes(work.rows, work.cols, work.k, options.output);
  Workspace workspace(static_cast<cudaStream_t>(stream), static_cast<std::size_t>(options.memory_budget));
  constexpr std::int64_t kMostRows = 1 << 30;  // what a grid has room for
  for (std::int64_t first = 0, tile = std::min(work.rows, kMostRows); first < work.rows;) {
    DeviceTopk<T> part = work;
    part.rows = std::min(tile, work.rows - first);
    part.values += first * work.row_stride;
    part.values_out += first * sizes.values_out;
    if (part.ids_out != nullptr) part.ids_out += first * sizes.ids_out;
    try {
      select_on_device(part, options, workspace);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || part.rows == 1) throw;
      tile = part.rows / 2;
      workspace.clear();
      continue;
    }
    first += part.rows;
  }
}

#define KITH_INSTANTIATE(T) template void topk(const MatrixView<T>&, std::int64_t, const TopkOptions&, Topk<T>&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

template void enqueue_topk(const DeviceTopk<float>&, const TopkOptions&, void*);
template void enqueue_topk(const DeviceTopk<double>&, const TopkOptions&, void*);

}  // namespace kith::KITH_BACKEND
