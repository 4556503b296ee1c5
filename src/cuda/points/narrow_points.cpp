#include "cuda/points/narrow_points.hpp"

#include <cmath>
#include <vector>

#include "core/key.hpp"
#include "cuda/points/pack_rows.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::inline points {
namespace {

constexpr std::int64_t kVectorBytes = 16;
// Of floats at a time: enough to keep a device busy, and little beside what is saved.
constexpr std::int64_t kPartBytes = std::int64_t{64} << 20;

// The mean of the squared norms of rows less a center.
double mean_square(const PointRows<float>& rows, std::int64_t dims, const float* center, cudaStream_t stream) {
  DeviceBuffer<float> squares(as_size(rows.count), stream);
  Fp16Rows none;
  none.stride = fp16_stride(dims);
  round_rows(rows, dims, center, none, squares.data(), stream);
  std::vector<float> found(squares.size());
  KITH_CUDA(
      cudaMemcpyAsync(found.data(), squares.data(), found.size() * sizeof(float), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  double sum = 0;
  for (const float square : found) sum += static_cast<double>(square);
  return sum / static_cast<double>(rows.count);
}

}  // namespace

template <Element T>
NarrowPoints<T>::NarrowPoints(std::int64_t count, std::int64_t dims, const Metric& metric, bool bias,
                              cudaStream_t stream)
    : count_(count),
      dims_(dims),
      stride_(ceil_div(dims * static_cast<std::int64_t>(sizeof(T)), kVectorBytes) * kVectorBytes /
              static_cast<std::int64_t>(sizeof(T))),
      metric_(metric),
      bias_(bias),
      stream_(stream),
      own_(as_size(count * stride_), stream) {
  if (stride_ != dims_) KITH_CUDA(cudaMemsetAsync(own_.data(), 0, own_.size() * sizeof(T), stream));
}

template <Element T>
NarrowPoints<T>::NarrowPoints(const MatrixView<T>& lent, const Metric& metric, bool bias, cudaStream_t stream)
    : count_(lent.rows),
      dims_(lent.cols),
      stride_(lent.row_stride),
      metric_(metric),
      bias_(bias),
      stream_(stream),
      lent_(lent.data) {}

// Kernels take rows without gaps: what lies between others need not be zeros.
template <Element T>
bool NarrowPoints<T>::can_borrow(const MatrixView<T>& points) {
  return points.memory == Memory::device && points.col_stride == 1 && points.row_stride == points.cols &&
         points.cols * static_cast<std::int64_t>(sizeof(T)) % kVectorBytes == 0 &&
         reinterpret_cast<std::uintptr_t>(points.data) % as_size(kVectorBytes) == 0;
}

template <Element T>
std::int64_t NarrowPoints<T>::part_rows() const {
  return std::clamp<std::int64_t>(kPartBytes / (dims_ * static_cast<std::int64_t>(sizeof(float))), 1, count_);
}

template <Element T>
void NarrowPoints<T>::prepare(const std::function<void(const PointStore<float>&, std::int64_t)>& see) {
  store_.emplace(StoredRows{data(), stride_, stored_type_of<T>()}, count_, dims_, metric_, bias_, stream_);
  for_each_part(stream_, store_->max_squared_norm(), [&](const PointStore<float>& part, std::int64_t first) {
    store_->adopt(first, part);
    see(part, first);
  });
}

template <Element T>
void NarrowPoints<T>::for_each_part(cudaStream_t stream, unsigned long long* max_squared_norm,
                                    const std::function<void(const PointStore<float>&, std::int64_t)>& use) const {
  const std::int64_t rows = part_rows();
  PointStore<float> part(rows, dims_, metric_, bias_, stream, max_squared_norm);
  for (std::int64_t first = 0; first < count_; first += rows) {
    const std::int64_t count = std::min(rows, count_ - first);
    widen(first, count, part.rows(), stream);
    part.prepare(count);
    use(part, first);
  }
  KITH_CUDA(cudaStreamSynchronize(stream));
}

template <Element T>
void NarrowPoints<T>::widen(std::int64_t first, std::int64_t count, float* to, cudaStream_t stream) const {
  pack_rows(MatrixView<T>(data() + first * stride_, count, dims_, stride_, 1), to, stream);
}

template <Element T>
void NarrowPoints<T>::widen_some(std::int64_t some, float* to, cudaStream_t stream) const {
  pack_rows(MatrixView<T>(data(), some, dims_, count_ / some * stride_, 1), to, stream);
}

template <Element T>
const Fp16Base& NarrowPoints<T>::fp16() const {
  return fp16_.get([&](std::optional<Fp16Base>& made) { make_fp16(made, making_); });
}

// A frame of a part of the points does for all of them. Rows that are fp16 lose nothing as they are, unless they lie so
// far from the origin that sums of their products lose more than rounding them around their center would.
template <Element T>
void NarrowPoints<T>::make_fp16(std::optional<Fp16Base>& made, cudaStream_t stream) const {
  constexpr double kFar = 16;
  const bool squares = core::form_of(metric_) == core::Form::squared;
  DeviceBuffer<core::Fp16Norms> norms(as_size(part_rows()), stream);
  for_each_part(stream, nullptr, [&](const PointStore<float>& part, std::int64_t first) {
    const PointRows<float> rows = part.working(0, part.count());
    if (first == 0) {
      Fp16Frame frame = make_fp16_frame(rows, dims_, squares, stream);
      Fp16* lent = nullptr;
      if constexpr (std::is_same_v<T, Float16>) {
        const bool is_near = !squares || !(mean_square(rows, dims_, nullptr, stream) >
                                           kFar * mean_square(rows, dims_, frame.center.data(), stream));
        if (!core::has_directions(metric_) && is_near) {
          frame = Fp16Frame{.center = {}, .scale = 1, .is_finite = frame.is_finite};
          // Nobody writes to rows that are lent.
          lent = reinterpret_cast<Fp16*>(const_cast<Float16*>(data()));
        }
      }
      made.emplace(std::move(frame), count_, dims_, squares, lent, stream);
    }
    made->store.prepare_part(rows, first, made->frame, norms.data());
  });
}

template <Element T>
const Fp16Store& NarrowPoints<T>::with_remainders() const {
  const Fp16Base& base = fp16();
  return split_.get([&](std::optional<Fp16Store>& made) {
    made.emplace(base.store, making_);
    for_each_part(making_, nullptr, [&](const PointStore<float>& part, std::int64_t first) {
      made->round_remainders(part.working(0, part.count()), first, base.frame);
    });
  });
}

template <Element T>
const ByteStore& NarrowPoints<T>::bytes() const {
  return bytes_.get([&](std::optional<ByteStore>& made) {
    if constexpr (byte_type_of<T>() == ByteType::none) {
      throw Error(ErrorCode::internal, "only points of 8-bit integers become bytes");
    } else {
      auto* const rows = reinterpret_cast<unsigned char*>(const_cast<T*>(data()));
      made.emplace(ByteRows{rows, byte_type_of<T>(), count_, stride_}, dims_, making_);
    }
  });
}

template class NarrowPoints<Float16>;
template class NarrowPoints<BFloat16>;
template class NarrowPoints<std::uint8_t>;
template class NarrowPoints<std::int8_t>;

}  // namespace kith::KITH_BACKEND::inline points
