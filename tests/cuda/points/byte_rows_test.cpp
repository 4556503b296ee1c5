// Points as bytes: what is packed is what the rows have, resident and streamed, and its products give exact scores.
#include "cuda/points/byte_rows.hpp"

#include "cuda/host_data/streamed_base.hpp"
#include "cuda/points/base_source.hpp"
#include "cuda/tensor/tensor_rows.hpp"
#include "device_test.hpp"
#include "support/fails_with.hpp"
#include "support/random.hpp"

namespace kith::test::byte_rows {
namespace {

using device::ByteType;

using ByteRows = DeviceTest;

constexpr std::int64_t kDims = 258;  // the most whose sums are exact in float

// The whole range of T, its ends among them.
template <class T>
std::vector<T> drawn(std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(random.below(256)));
  values.front() = std::numeric_limits<T>::min();
  values.back() = std::numeric_limits<T>::max();
  return values;
}

template <class T>
class Points {
 public:
  Points(std::int64_t rows, std::int64_t dims, std::uint64_t seed)
      : rows_(rows),
        dims_(dims),
        values_(drawn<T>(rows * dims, seed)),
        store_(rows, dims, MetricKind::sqeuclidean, true, stream_) {
    const std::vector<float> floats(values_.begin(), values_.end());
    KITH_CUDA(
        cudaMemcpyAsync(store_.rows(), floats.data(), floats.size() * sizeof(float), cudaMemcpyHostToDevice, stream_));
    stream_.synchronize();
    store_.prepare(rows);
  }

  const device::PointStore<float>& store() const { return store_; }
  cudaStream_t stream() const { return stream_; }
  MatrixView<T> view() const { return MatrixView<T>(values_.data(), rows_, dims_, dims_, 1); }
  int at(std::int64_t row, std::int64_t c) const { return values_[static_cast<std::size_t>(row * dims_ + c)]; }

  std::vector<unsigned char> padded() const {
    const std::int64_t row_bytes = device::byte_row_bytes(dims_);
    std::vector<unsigned char> all(static_cast<std::size_t>(rows_ * row_bytes), 0);
    for (std::int64_t i = 0; i < rows_ * dims_; ++i)
      all[static_cast<std::size_t>(i / dims_ * row_bytes + i % dims_)] =
          static_cast<unsigned char>(values_[static_cast<std::size_t>(i)]);
    return all;
  }

 private:
  std::int64_t rows_, dims_;
  device::Stream stream_;
  std::vector<T> values_;
  device::PointStore<float> store_;
};

// The bytes of all tiles after one another.
std::vector<unsigned char> bytes_of(device::BaseSource<float>& base, std::int64_t tile, cudaStream_t stream) {
  std::vector<unsigned char> all;
  base.for_each_tile(tile, [&](const device::BaseTile<float>& part) {
    const device::ByteRows rows = part.bytes->rows(part.first, part.count);
    const std::size_t before = all.size();
    all.resize(before + static_cast<std::size_t>(rows.count * rows.row_bytes));
    KITH_CUDA(cudaMemcpyAsync(all.data() + before, rows.data, all.size() - before, cudaMemcpyDeviceToHost, stream));
    KITH_CUDA(cudaStreamSynchronize(stream));
  });
  return all;
}

template <class T>
void check_bytes(ByteType type) {
  for (const std::int64_t dims : {1, 15, 16, 33}) {
    SCOPED_TRACE(testing::Message() << dims << " dimensions");
    const Points<T> points(70, dims, 1);
    device::CachedFp16 fp16;
    device::CachedBytes cached(device::byte_type_of<T>());
    device::ResidentBase<float> resident(points.store(), fp16, &cached);
    EXPECT_EQ(resident.use_bytes(), type);
    EXPECT_EQ(bytes_of(resident, 30, points.stream()), points.padded());
    device::host_data::StreamedBase<T> streamed(points.view(), MetricKind::sqeuclidean, true, 30, points.stream());
    EXPECT_EQ(streamed.use_bytes(), type);
    EXPECT_EQ(bytes_of(streamed, 30, points.stream()), points.padded());
  }
}

TEST_F(ByteRows, HaveTheValuesOfThePoints) {
  for_each_schedule([] {
    check_bytes<std::uint8_t>(ByteType::uint8);
    check_bytes<std::int8_t>(ByteType::int8);
  });
}

TEST_F(ByteRows, AreNoneOfOtherPoints) {
  EXPECT_EQ(device::byte_type_of<float>(), ByteType::none);
  const Points<std::uint8_t> points(5, 3, 1);
  device::CachedFp16 fp16;
  device::CachedBytes none;
  for (device::CachedBytes* const cached : {&none, static_cast<device::CachedBytes*>(nullptr)})
    EXPECT_TRUE(fails_with(ErrorCode::internal, {"8-bit"},
                           [&] { device::ResidentBase<float>(points.store(), fp16, cached).use_bytes(); }));
}

// By the sample of a base so small that each point is a group of its own.
template <class T>
void check_scores() {
  constexpr std::int64_t kGroups = device::tensor::TensorSampleCall::kGroups;
  constexpr std::int64_t kQueries = 5;
  constexpr std::int64_t kBase = 60;
  const Points<T> x(kQueries, kDims, 3);
  const Points<T> y(kBase, kDims, 4);
  device::ByteStore queries(kQueries, kDims, device::byte_type_of<T>(), x.stream());
  device::ByteStore base(kBase, kDims, device::byte_type_of<T>(), x.stream());
  queries.prepare(x.store().working(0, kQueries));
  KITH_CUDA(cudaStreamSynchronize(y.stream()));
  base.prepare(y.store().working(0, kBase));
  for (const bool expanded : {true, false}) {
    DeviceArray<float> best(std::vector<float>(kQueries * kGroups), x.stream());
    device::tensor::tensor_sample(
        {.product = device::tensor::byte_product(queries.rows(0, kQueries), base.rows(0, kBase),
                                                 expanded ? y.store().bias(0) : nullptr),
         .parts = 1,
         .best = best.data(),
         .stream = x.stream()});
    const std::vector<float> found = best.values();
    for (std::int64_t i = 0; i < kQueries; ++i)
      for (std::int64_t j = 0; j < kBase; ++j) {
        int score = 0;
        for (std::int64_t c = 0; c < kDims; ++c)
          score += expanded ? y.at(j, c) * (y.at(j, c) - 2 * x.at(i, c)) : -x.at(i, c) * y.at(j, c);
        ASSERT_EQ(found[static_cast<std::size_t>(i * kGroups + j)], static_cast<float>(score))
            << "query " << i << ", base " << j << (expanded ? ", expanded" : "");
      }
  }
}

TEST_F(ByteRows, GiveExactScores) {
  if (!device::tensor::has_tensor_filter(device::tensor::Element::int8, kDims))
    GTEST_SKIP() << "this device has no wgmma";
  for_each_schedule([] {
    check_scores<std::uint8_t>();
    check_scores<std::int8_t>();
  });
}

}  // namespace
}  // namespace kith::test::byte_rows
