// The k first values of each row of a matrix: of one on the device where it lies, of one of the host in tiles.
#include <algorithm>

#include "core/instantiate.hpp"
#include "cuda/functions.hpp"
#include "cuda/host_data/host_link.hpp"
#include "cuda/select/select.hpp"
#include "cuda/topk_work.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {
namespace {

constexpr std::int64_t kMostRows = 1 << 30;         // of a grid
constexpr std::int64_t kConvertedBytes = 64 << 20;  // of rows that kernels cannot read where they lie

// Rows of the device as kernels read them, and where their answer goes: what lies otherwise is converted, tile by tile.
template <Element T>
class DeviceRowsOf {
  using F = DistanceOf<T>;

 public:
  DeviceRowsOf(const MatrixView<T>& matrix, const Sizes<F>& sizes, const TopkView<T>& out, host_data::HostLink& link)
      : matrix_(matrix),
        sizes_(sizes),
        out_(out),
        link_(link),
        converts_(!host_data::HostLink::can_borrow(matrix, host_data::RowGaps::allowed)) {
    if (!converts_) return;
    const auto bytes = matrix.cols * static_cast<std::int64_t>(sizeof(F));
    tile_ = std::clamp<std::int64_t>(kConvertedBytes / bytes, 1, matrix.rows);
    values_ = DeviceBuffer<F>(as_size(tile_ * matrix.cols), link.stream());
    values_out_ = DeviceBuffer<F>(as_size(tile_ * sizes.values_out), link.stream());
  }

  std::int64_t most_rows() const { return tile_; }

  void select(std::int64_t first, std::int64_t count, const TopkOptions& options, Workspace& workspace) {
    TopkWork<F> work{nullptr, count, sizes_.cols, sizes_.cols, sizes_.k, values_out_.data(), nullptr};
    if (sizes_.ids_out > 0) work.ids_out = out_.ids + first * sizes_.ids_out;
    T* const to = out_.values + first * sizes_.values_out;
    if (converts_) {
      link_.bring(matrix_.rows_from(first, count), values_.data());
      work.values = values_.data();
    }
    if constexpr (std::is_same_v<T, F>) {
      work.values_out = to;
      if (!converts_) {
        work.values = matrix_.row(first);
        work.row_stride = matrix_.row_stride;
      }
    }
    select_topk(work, options, workspace);
    if constexpr (!std::is_same_v<T, F>) link_.take(values_out_.data(), count * sizes_.values_out, Memory::device, to);
  }

 private:
  MatrixView<T> matrix_;
  Sizes<F> sizes_;
  TopkView<T> out_;
  host_data::HostLink& link_;
  bool converts_;
  std::int64_t tile_ = kMostRows;
  DeviceBuffer<F> values_;
  DeviceBuffer<F> values_out_;
};

// Matrix and answer are of the device: nothing is waited for.
template <Element T>
void enqueue_topk(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, const TopkView<T>& out,
                  cudaStream_t stream) {
  const Sizes<DistanceOf<T>> sizes(matrix.rows, matrix.cols, k, options.output);
  host_data::HostLink link(stream, 0);
  DeviceRowsOf<T> rows(matrix, sizes, out, link);
  Workspace workspace(stream, as_size(options.memory_budget));
  for (std::int64_t first = 0, tile = std::min(matrix.rows, rows.most_rows()); first < matrix.rows;) {
    const std::int64_t count = std::min(tile, matrix.rows - first);
    try {
      rows.select(first, count, options, workspace);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || count == 1) throw;
      tile = count / 2;
      workspace.clear();
      continue;
    }
    first += count;
  }
}

}  // namespace

template <class F>
void select_topk(const TopkWork<F>& work, const TopkOptions& options, Workspace& workspace) {
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

template void select_topk(const TopkWork<float>&, const TopkOptions&, Workspace&);
template void select_topk(const TopkWork<double>&, const TopkOptions&, Workspace&);

template <Element T>
void topk(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, const TopkView<T>& out,
          void* caller_stream) {
  auto* stream = static_cast<cudaStream_t>(caller_stream);
  if (matrix.memory == Memory::host) return topk_of_host(matrix, k, options, out, stream);
  if (out.memory == Memory::device) return enqueue_topk(matrix, k, options, out, stream);
  const Sizes<DistanceOf<T>> sizes(matrix.rows, matrix.cols, k, options.output);
  host_data::HostLink link(stream, matrix.rows * sizes.row_bytes());
  host_data::Answer<T> values(out.values, out.memory, matrix.rows * sizes.values_out, link);
  host_data::Answer<std::int64_t> ids(out.ids, out.memory, matrix.rows * sizes.ids_out, link);
  enqueue_topk<T>(matrix, k, options, {values.data(), ids.data(), Memory::device}, stream);
  values.deliver();
  if (sizes.ids_out > 0) ids.deliver();
  if (options.progress && !options.progress({matrix.rows * matrix.cols, matrix.rows * matrix.cols}))
    throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
}

#define KITH_INSTANTIATE(T) \
  template void topk(const MatrixView<T>&, std::int64_t, const TopkOptions&, const TopkView<T>&, void*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
