// Staging: what arrives is the matrix, whatever its strides, its type, the buffers and the threads; and searches of a
// base that is streamed from memory of any kind.
#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "cuda/host_data/staging.hpp"
#include "device_index.hpp"

namespace kith::test {
namespace {

using device::Stream;
using device::host_data::Staging;

using Uploads = DeviceTest;

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

enum class Layout { packed, apart, column_major, every_other };
constexpr Layout kLayouts[] = {Layout::packed, Layout::apart, Layout::column_major, Layout::every_other};

// A matrix in memory that is pinned or not, of exactly its size; its values are small integers.
template <class T>
class HostMatrix {
 public:
  HostMatrix(std::int64_t rows, std::int64_t cols, Layout layout, bool pinned) {
    view_ = {nullptr, rows, cols, cols, 1};
    if (layout == Layout::apart) view_.row_stride = cols + 3;
    if (layout == Layout::column_major) view_ = {nullptr, rows, cols, 1, rows + 1};
    if (layout == Layout::every_other) view_ = {nullptr, rows, cols, 2 * cols, 2};
    const std::size_t count = size((rows - 1) * view_.row_stride + (cols - 1) * view_.col_stride + 1);
    if (pinned) {
      pinned_ = device::PinnedBuffer<T>(count);
    } else {
      plain_.resize(count);
    }
    T* const values = pinned ? pinned_.data() : plain_.data();
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>((i * 7919 + i / 13) % 101);
    view_.data = values;
  }

  const MatrixView<T>& view() const { return view_; }

 private:
  MatrixView<T> view_;
  std::vector<T> plain_;
  device::PinnedBuffer<T> pinned_;
};

// What arrives, and back again.
template <class T>
std::vector<DistanceOf<T>> sent(const MatrixView<T>& matrix, const device::host_data::StagingShape& shape) {
  using F = DistanceOf<T>;
  const Stream stream;
  device::DeviceBuffer<F> there(size(matrix.rows * matrix.cols), stream);
  std::vector<F> back(there.size());
  Staging staging(shape, stream);
  staging.upload(matrix, there.data());
  staging.download(there.data(), static_cast<std::int64_t>(back.size()), back.data());
  return back;
}

template <class T>
void expect_all_arrive(const device::host_data::StagingShape& shape) {
  for (const Layout layout : kLayouts) {
    for (const bool pinned : {false, true}) {
      for (const std::int64_t cols : {1, 3, 70}) {
        const HostMatrix<T> matrix(53, cols, layout, pinned);
        const auto arrived = sent(matrix.view(), shape);
        std::int64_t wrong = 0;
        for (std::int64_t r = 0; r < 53; ++r)
          for (std::int64_t c = 0; c < cols; ++c)
            wrong += arrived[size(r * cols + c)] == static_cast<DistanceOf<T>>(matrix.view()(r, c)) ? 0 : 1;
        EXPECT_EQ(wrong, 0) << cols << " columns, layout " << static_cast<int>(layout) << (pinned ? ", pinned" : "")
                            << ", buffers of " << shape.buffer_bytes << ", " << shape.threads << " threads";
      }
    }
  }
}

TEST_F(Uploads, MatricesArriveAsTheyWere) {
  for (const device::host_data::StagingShape& shape :
       {device::host_data::StagingShape{8, 1}, {40, 1}, {1 << 20, 1}, {8, 4}, {1000, 4}}) {
    if (under_sanitizer() && shape.buffer_bytes < 40) continue;  // thousands of copies
    expect_all_arrive<float>(shape);
    expect_all_arrive<double>(shape);
    expect_all_arrive<std::uint8_t>(shape);
    expect_all_arrive<std::int8_t>(shape);
  }
}

TEST_F(Uploads, OnlyWhatIsPinnedAsAWholeIs) {
  std::vector<float> values(1 << 16);
  EXPECT_FALSE(device::host_data::is_pinned(values.data(), 4));
  const device::PinnedBuffer<float> pinned(100);
  EXPECT_TRUE(device::host_data::is_pinned(pinned.data(), 400));
  KITH_CUDA(cudaHostRegister(values.data(), 1 << 14, cudaHostRegisterDefault));
  EXPECT_TRUE(device::host_data::is_pinned(values.data(), 1 << 14));
  EXPECT_FALSE(device::host_data::is_pinned(values.data(), 1 << 18));
  KITH_CUDA(cudaHostUnregister(values.data()));
}

// Long answers go to pinned memory at once, others by way of buffers; both in one download, in turns.
TEST_F(Uploads, AnswersArriveInMemoryOfAnyKind) {
  const Stream stream;
  for (const std::int64_t count : {std::int64_t{5}, std::int64_t{30000}}) {
    std::vector<float> values(size(count));
    std::iota(values.begin(), values.end(), 1.0F);
    const DeviceArray<float> there(values, stream);
    device::PinnedBuffer<float> pinned(values.size());
    device::PinnedBuffer<double> wider(values.size());
    std::vector<float> plain(values.size());
    {
      Staging staging({16384, 1}, stream);
      std::vector<Staging::Download> parts;
      staging.add_downloads(there.data(), count, pinned.data(), parts);
      staging.add_downloads(there.data(), count, plain.data(), parts);
      staging.add_downloads(there.data(), count, wider.data(), parts);
      EXPECT_EQ(parts[0].write == nullptr, count == 30000);
      staging.download(parts);
    }
    EXPECT_EQ(plain, values);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), pinned.data()));
    EXPECT_TRUE(std::equal(values.begin(), values.end(), wider.data()));
  }
}

TEST_F(Uploads, LittleNeedsOneThreadAndASmallBuffer) {
  EXPECT_EQ(device::host_data::staging_shape(0).buffer_bytes, 8U);
  EXPECT_EQ(device::host_data::staging_shape(1001).buffer_bytes, 1008U);
  EXPECT_EQ(device::host_data::staging_shape(1'000'000).threads, 1);
  EXPECT_EQ(device::host_data::staging_shape(1'000'000).buffer_bytes, 500'000U);
  EXPECT_GE(device::host_data::staging_shape(std::int64_t{60} << 30).threads, 1);
  EXPECT_LE(device::host_data::staging_shape(std::int64_t{60} << 30).threads, 12);
}

TEST_F(Uploads, WorkIsSharedOut) {
  for (const int threads : {1, 3, 8}) {
    std::vector<std::atomic<int>> done(100);
    device::host_data::share_out(100, threads, [&](std::int64_t i, int worker) {
      EXPECT_LT(worker, threads);
      ++done[size(i)];
    });
    for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
  }
}

TEST_F(Uploads, AFaultOfAThreadIsTheCallers) {
  for (const int threads : {1, 4}) {
    std::atomic<std::int64_t> done = 0;
    const auto fails = [&](std::int64_t i, int) {
      ++done;
      if (i == 5) throw std::runtime_error("the fifth");
    };
    EXPECT_THROW(device::host_data::share_out(1'000'000, threads, fails), std::runtime_error);
    EXPECT_LT(done, 1'000'000);
  }
}

struct Streamed {
  std::int64_t rows = 0;
  std::int64_t dims = 0;
  std::int64_t tile = 0;
  DistanceStage stage = DistanceStage::register_tiled;
};

template <class T>
Plan plan_of(const Streamed& problem, std::int64_t queries, std::int64_t k) {
  const bool products = problem.stage == DistanceStage::gemm || problem.stage == DistanceStage::fp16;
  Plan plan = brute_plan({problem.rows, queries, problem.dims, k, dtype_of<T>()}, MetricKind::sqeuclidean,
                         {problem.stage, products});
  plan.base_tile = problem.tile;
  plan.workspace_bytes = 64 << 20;
  return plan;
}

// Sums of small integers are exact in any order.
template <class T>
std::vector<std::int64_t> nearest(const MatrixView<T>& base, const MatrixView<T>& queries, std::int64_t q,
                                  std::int64_t k) {
  std::vector<double> keys(size(base.rows), 0.0);
  for (std::int64_t i = 0; i < base.rows; ++i)
    for (std::int64_t c = 0; c < base.cols; ++c)
      keys[size(i)] += std::pow(static_cast<double>(base(i, c)) - static_cast<double>(queries(q, c)), 2);
  std::vector<std::int64_t> ids(keys.size());
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  std::stable_sort(ids.begin(), ids.end(), [&](auto a, auto b) { return keys[size(a)] < keys[size(b)]; });
  ids.resize(size(k));
  return ids;
}

template <class T>
void expect_found(const Streamed& problem, Layout layout, bool pinned) {
  constexpr std::int64_t kQueries = 5;
  const std::int64_t k = std::min<std::int64_t>(9, problem.rows);
  const HostMatrix<T> base(problem.rows, problem.dims, layout, pinned);
  const HostMatrix<T> queries(kQueries, problem.dims, Layout::apart, pinned);
  const DeviceIndex<T> index(base.view(), MetricKind::sqeuclidean, nullptr, {.resident = false});
  std::vector<std::int64_t> ids(size(kQueries * k));
  std::vector<DistanceOf<T>> distances(ids.size());
  SearchReport report;
  index.begin(queries.view(), nullptr)
      ->search(plan_of<T>(problem, kQueries, k), {ids.data(), distances.data()}, report);
  for (std::int64_t q = 0; q < kQueries; ++q) {
    const std::vector<std::int64_t> found(ids.begin() + q * k, ids.begin() + (q + 1) * k);
    EXPECT_EQ(found, nearest(base.view(), queries.view(), q, k))
        << problem.rows << " × " << problem.dims << " in tiles of " << problem.tile << ", " << to_string(problem.stage)
        << ", layout " << static_cast<int>(layout) << (pinned ? ", pinned" : "");
  }
}

TEST_F(Uploads, AStreamedBaseIsSearchedWhereverItLies) {
  for (const Layout layout : kLayouts) {
    for (const bool pinned : {false, true}) {
      expect_found<float>({101, 66, 43}, layout, pinned);
      expect_found<double>({40, 33, 17}, layout, pinned);
      expect_found<std::uint8_t>({57, 5, 19}, layout, pinned);
      expect_found<std::int8_t>({50, 3, 49}, layout, pinned);
    }
  }
}

TEST_F(Uploads, TilesOfOddSizes) {
  for_each_schedule([] {
    for (const bool pinned : {false, true}) {
      expect_found<float>({11, 8, 1}, Layout::packed, pinned);
      for (const std::int64_t tile : {13, 20, 39, 40}) {
        expect_found<float>({40, 8, tile}, Layout::packed, pinned);
        expect_found<float>({40, 8, tile, DistanceStage::fp16}, Layout::packed, pinned);
      }
    }
  });
}

}  // namespace
}  // namespace kith::test
