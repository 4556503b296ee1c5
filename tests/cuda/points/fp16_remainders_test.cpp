// Points in fp16 with remainders: norms are those of what is stored, and scores of three products, summed as tensor
// cores may sum them, lie within Fp16Bounds; a base makes its remainders once, when they are first asked for.
#include <cmath>
#include <functional>
#include <limits>

#include "cuda/host_data/streamed_base.hpp"
#include "cuda/points/base_source.hpp"
#include "cuda/tensor/tensor_rows.hpp"
#include "device_test.hpp"
#include "support/random.hpp"

namespace kith::test::fp16_remainders {
namespace {

using core::Fp16Bounds;
using core::Fp16Norms;
using device::Fp16;
using device::PointRows;

using Fp16Remainders = DeviceTest;
using Row = std::vector<long double>;
using Draw = std::function<double(std::int64_t row, std::int64_t column)>;

struct Shape {
  std::int64_t queries = 6;
  std::int64_t base = 50;
  std::int64_t dims = 20;
  bool centered = true;
  double zoom = 1;  // of the frame: a power of two
};

std::vector<float> values_of(std::int64_t rows, std::int64_t dims, const Draw& draw) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * dims; ++i) values.push_back(static_cast<float>(draw(i / dims, i % dims)));
  return values;
}

long double product(const Row& x, const Row& y) {
  long double sum = 0;
  for (std::size_t c = 0; c < x.size(); ++c) sum += x[c] * y[c];
  return sum;
}

// A set of points, exact and as they are stored, in units of the points.
struct Points {
  Points(const std::vector<float>& values, const Shape& shape, const std::vector<float>& center,
         const device::Fp16Rows& stored, cudaStream_t stream)
      : norms(there(stored.norms, stored.count, stream)) {
    const std::vector<Fp16> data = there(stored.data, stored.count * stored.stride, stream);
    const std::vector<Fp16> rest = there(stored.remainders, stored.count * stored.stride, stream);
    for (std::int64_t i = 0; i < stored.count; ++i) {
      Row x, x_rounded, x_rest;
      for (std::int64_t c = 0; c < stored.stride; ++c) {
        const auto at = static_cast<std::size_t>(i * stored.stride + c);
        const auto from = static_cast<std::size_t>(i * shape.dims + c);
        const auto column = static_cast<std::size_t>(c);
        const bool there_is = c < shape.dims;
        const auto subtracted = static_cast<long double>(there_is && !center.empty() ? center[column] : 0);
        x.push_back(there_is ? static_cast<long double>(values[from]) - subtracted : 0);
        x_rounded.push_back(static_cast<long double>(device::float_of(data[at])) / stored.scale);
        x_rest.push_back(static_cast<long double>(device::float_of(rest[at])) / stored.scale);
      }
      exact.push_back(x);
      rounded.push_back(x_rounded);
      remainders.push_back(x_rest);
    }
  }

  template <class T>
  static std::vector<T> there(const T* data, std::int64_t count, cudaStream_t stream) {
    std::vector<T> values(static_cast<std::size_t>(count));
    KITH_CUDA(cudaMemcpyAsync(values.data(), data, values.size() * sizeof(T), cudaMemcpyDeviceToHost, stream));
    KITH_CUDA(cudaStreamSynchronize(stream));
    return values;
  }

  std::vector<Fp16Norms> norms;
  std::vector<Row> exact, rounded, remainders;
};

// What a tensor core has after it added `at_once` products at a time to its sum: terms are cut off at 24 bits below the
// largest, and so is their sum. Values have no exponent limits here.
class TensorCoreSum {
 public:
  explicit TensorCoreSum(std::size_t at_once) : at_once_(at_once) {}

  void add(const Row& x, const Row& y) {
    for (std::size_t first = 0; first < x.size(); first += at_once_) {
      Row terms = {sum_};
      for (std::size_t c = first; c < std::min(first + at_once_, x.size()); ++c) terms.push_back(x[c] * y[c]);
      long double largest = 0;
      for (const long double term : terms) largest = std::max(largest, std::abs(term));
      if (largest == 0) continue;
      sum_ = 0;
      for (const long double term : terms) sum_ += cut(term, largest);
      if (sum_ != 0) sum_ = cut(sum_, sum_);
    }
  }
  long double value() const { return sum_; }

 private:
  static long double cut(long double value, long double largest) {
    const int exponent = std::ilogb(largest) - 23;
    return std::ldexp(std::trunc(std::ldexp(value, -exponent)), exponent);
  }

  std::size_t at_once_;
  long double sum_ = 0;
};

long double tensor_core_product(const Points& x, std::size_t i, const Points& y, std::size_t j, std::size_t at_once) {
  TensorCoreSum sum(at_once);
  sum.add(x.rounded[i], y.remainders[j]);
  sum.add(x.remainders[i], y.rounded[j]);
  sum.add(x.rounded[i], y.rounded[j]);
  return sum.value();
}

void expect_norms(const Points& points) {
  for (std::size_t i = 0; i < points.exact.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "row " << i);
    Row lost = points.exact[i];
    for (std::size_t c = 0; c < lost.size(); ++c) lost[c] -= points.rounded[i][c];
    Row split_lost = lost;
    for (std::size_t c = 0; c < lost.size(); ++c) split_lost[c] -= points.remainders[i][c];
    const long double whole = std::sqrt(product(points.exact[i], points.exact[i]));
    const auto expect_above = [&](double found, const Row& row, const char* name) {
      const long double norm = std::sqrt(product(row, row));
      EXPECT_GE(found, norm) << name;
      EXPECT_LE(found, norm * (1 + 1e-12L) + whole * 1e-15L) << name;
    };
    expect_above(points.norms[i].exact, points.exact[i], "exact");
    expect_above(points.norms[i].rounded, points.rounded[i], "rounded");
    expect_above(points.norms[i].remainder, points.remainders[i], "remainder");
    expect_above(points.norms[i].lost, lost, "lost");
    expect_above(points.norms[i].split_lost, split_lost, "lost with remainders");
  }
}

class Problem {
 public:
  Problem(const Shape& shape, const Draw& queries, const Draw& base)
      : shape_(shape),
        query_values_(values_of(shape.queries, shape.dims, queries)),
        base_values_(values_of(shape.base, shape.dims, base)),
        queries_(query_values_, stream_),
        base_(base_values_, stream_),
        frame_(device::make_fp16_frame(base_rows(), shape.dims, shape.centered, stream_)),
        x_(shape.queries, shape.dims, false, stream_, nullptr, true),
        y_(shape.base, shape.dims, true, stream_, nullptr, true) {
    frame_.scale *= shape.zoom;
    x_.prepare({queries_.data(), shape.queries, shape.dims}, frame_);
    y_.prepare(base_rows(), frame_);
  }

  struct Seen {
    double error = 0;
    double bound = 0;
    double bound_without = 0;  // remainders
  };

  // Expects every score to be within its bound, whatever the number of products that are added at once.
  Seen expect_scores(bool expanded) {
    SCOPED_TRACE(expanded ? "expanded" : "dot");
    const Points x = read(query_values_, x_, shape_.queries);
    const Points y = read(base_values_, y_, shape_.base);
    expect_norms(x);
    expect_norms(y);
    const std::vector<float> bias = Points::there(y_.bias(0), shape_.base, stream_);
    const std::vector<float> by_engine = engine_scores(expanded);
    const Fp16Bounds bounds(device::fp16_stride(shape_.dims), expanded, true);
    const Fp16Bounds without(device::fp16_stride(shape_.dims), expanded);
    Fp16Norms all;
    for (const Fp16Norms& norms : y.norms) all = core::largest(all, norms);
    Seen seen;
    for (std::size_t i = 0; i < x.exact.size(); ++i)
      for (std::size_t j = 0; j < y.exact.size(); ++j) {
        SCOPED_TRACE(testing::Message() << "query " << i << ", base " << j);
        const double bound = bounds.error(x.norms[i], y.norms[j]);
        EXPECT_LE(bound, bounds.error(x.norms[i], all));
        if (std::isinf(bound)) continue;
        const long double exact = product(x.exact[i], y.exact[j]);
        const long double truth = expanded ? product(y.exact[j], y.exact[j]) - 2 * exact : -exact;
        const auto expect_within = [&](float score) {
          const long double error = std::abs(static_cast<long double>(score) - truth);
          EXPECT_LE(error, bound);
          seen.error = std::max(seen.error, static_cast<double>(error));
        };
        for (const std::size_t at_once : {2, 4, 8, 16}) {
          const auto sum = static_cast<float>(tensor_core_product(x, i, y, j, at_once));
          expect_within(expanded ? bias[j] - 2 * sum : -sum);
        }
        if (!by_engine.empty()) expect_within(by_engine[i * y.exact.size() + j]);
        seen.bound = std::max(seen.bound, bound);
        seen.bound_without = std::max(seen.bound_without, without.error(x.norms[i], y.norms[j]));
      }
    return seen;
  }

 private:
  PointRows<float> base_rows() { return {base_.data(), shape_.base, shape_.dims}; }

  Points read(const std::vector<float>& values, const device::Fp16Store& store, std::int64_t count) {
    const std::vector<float> center =
        shape_.centered ? Points::there(frame_.center.data(), shape_.dims, stream_) : std::vector<float>();
    return Points(values, shape_, center, store.rows(0, count), stream_);
  }

  // Of all pairs: in a part of so few points each is a group of its own. Empty where the device has no wgmma.
  std::vector<float> engine_scores(bool expanded) {
    constexpr std::int64_t kGroups = device::tensor::TensorSampleCall::kGroups;
    if (!device::tensor::has_tensor_filter(device::tensor::Element::fp16, shape_.dims)) return {};
    DeviceArray<float> best(std::vector<float>(static_cast<std::size_t>(shape_.queries * kGroups)), stream_);
    device::tensor::tensor_sample(
        {.product = device::tensor::fp16_product(x_.rows(0, shape_.queries), y_.rows(0, shape_.base),
                                                 expanded ? y_.bias(0) : nullptr),
         .parts = 1,
         .best = best.data(),
         .stream = stream_});
    const std::vector<float> all = best.values();
    std::vector<float> scores;
    for (std::int64_t i = 0; i < shape_.queries; ++i)
      scores.insert(scores.end(), all.begin() + i * kGroups, all.begin() + i * kGroups + shape_.base);
    return scores;
  }

  Shape shape_;
  device::Stream stream_;
  std::vector<float> query_values_, base_values_;
  DeviceArray<float> queries_, base_;
  device::Fp16Frame frame_;
  device::Fp16Store x_, y_;
};

Draw gaussian(std::uint64_t seed, double scale = 1, double offset = 0) {
  return [random = Random(seed), scale, offset](std::int64_t, std::int64_t) mutable {
    return scale * random.gaussian() + offset;
  };
}

void expect_bounds(const Shape& shape, const Draw& queries, const Draw& base) {
  Problem problem(shape, queries, base);
  for (const bool expanded : {false, true}) problem.expect_scores(expanded);
}

TEST_F(Fp16Remainders, BoundScores) {
  for_each_schedule([] { expect_bounds({}, gaussian(1), gaussian(2)); });
  expect_bounds({.centered = false}, gaussian(3, 1, 1e4), gaussian(4, 1, 1e4));
  expect_bounds({.dims = 33}, gaussian(5, 1e-3, -1e6), gaussian(6, 1e-3, -1e6));
  expect_bounds({.base = 20, .dims = 131}, gaussian(7), gaussian(8));
}

TEST_F(Fp16Remainders, BoundAllScales) {
  for (const double scale : {1e-44, 1e-30, 1e-12, 1e-5, 1e5, 1e12, 1e17, 1e19, 1e30, 1e37}) {
    SCOPED_TRACE(scale);
    for (const bool centered : {false, true})
      expect_bounds({.base = 20, .centered = centered}, gaussian(9, scale), gaussian(10, scale));
  }
}

// Queries whose fp16 saturate, whose remainders do too, and those that vanish beside the base.
TEST_F(Fp16Remainders, BoundFarQueries) {
  for (const double farther : {1e-9, 1e-5, 10.0, 20.0, 40.0, 1e3, 1e6}) {
    SCOPED_TRACE(farther);
    expect_bounds({.base = 20}, gaussian(11, farther), gaussian(12));
  }
}

// As in a streamed base whose first tile has other points than the rest: remainders are as large as what they are of,
// and so is the product that is left out.
TEST_F(Fp16Remainders, BoundPointsBeyondTheFrame) {
  for (const double zoom : {0x1p-20, 16.0, 32.0, 64.0, 1024.0}) {
    SCOPED_TRACE(zoom);
    expect_bounds({.base = 20, .zoom = zoom}, gaussian(22), gaussian(23));
  }
}

// Coordinates of all magnitudes, for which fp16 has few digits or none.
TEST_F(Fp16Remainders, BoundRowsOfAllMagnitudes) {
  const auto draw = [](std::uint64_t seed) -> Draw {
    return [random = Random(seed)](std::int64_t, std::int64_t column) mutable {
      return std::ldexp(random.gaussian(), -static_cast<int>(2 * column));
    };
  };
  expect_bounds({}, draw(13), draw(14));
  expect_bounds({.centered = false}, draw(15), draw(16));
}

// All products are positive and have all their digits: whatever is cut off is missing. Sums lose the most, and the
// bound is not far above it.
TEST_F(Fp16Remainders, BoundSumsThatAreCutOff) {
  const auto positive = [](std::uint64_t seed) -> Draw {
    return [random = Random(seed)](std::int64_t, std::int64_t) mutable {
      return 0x1p23 + static_cast<double>(random.below(1 << 23));
    };
  };
  Problem problem({.queries = 2, .base = 5, .dims = 512, .centered = false}, positive(20), positive(21));
  const Problem::Seen seen = problem.expect_scores(false);
  EXPECT_LT(seen.bound, 16 * seen.error);
}

// Only the summing is left of what scores without remainders lose.
TEST_F(Fp16Remainders, TightenBounds) {
  Problem problem({}, gaussian(17), gaussian(18));
  for (const bool expanded : {false, true}) {
    const Problem::Seen seen = problem.expect_scores(expanded);
    EXPECT_LT(seen.bound * 20, seen.bound_without);
  }
}

// Points on the device as an index keeps them.
class Stored {
 public:
  Stored(std::int64_t rows, std::int64_t dims)
      : values_(values_of(rows, dims, gaussian(19))), store_(rows, dims, MetricKind::sqeuclidean, true, stream_) {
    KITH_CUDA(cudaMemcpyAsync(store_.rows(), values_.data(), values_.size() * sizeof(float), cudaMemcpyHostToDevice,
                              stream_));
    store_.prepare(rows);
    stream_.synchronize();
  }

  const device::PointStore<float>& store() const { return store_; }
  const std::vector<float>& values() const { return values_; }
  cudaStream_t stream() const { return stream_; }

 private:
  device::Stream stream_;
  std::vector<float> values_;
  device::PointStore<float> store_;
};

struct Kept {
  std::vector<std::uint16_t> data, remainders;
  std::vector<float> bias;

  bool operator==(const Kept&) const = default;
};

template <class T>
std::vector<T> bits(const void* data, std::int64_t count, cudaStream_t stream) {
  return data == nullptr ? std::vector<T>() : Points::there(static_cast<const T*>(data), count, stream);
}

// All tiles of a base after one another.
Kept kept(device::BaseSource<float>& base, std::int64_t tile, cudaStream_t stream) {
  Kept all;
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  base.for_each_tile(tile, [&](const device::BaseTile<float>& part) {
    const device::Fp16Rows rows = part.fp16->rows(part.first, part.count);
    append(all.data, bits<std::uint16_t>(rows.data, rows.count * rows.stride, stream));
    append(all.remainders, bits<std::uint16_t>(rows.remainders, rows.count * rows.stride, stream));
    append(all.bias, bits<float>(part.fp16->bias(part.first), rows.count, stream));
  });
  return all;
}

// The five of Fp16MaxNorms.
std::vector<double> max_norms(const device::BaseSource<float>& base, cudaStream_t stream) {
  static_assert(sizeof(device::Fp16MaxNorms) == 5 * sizeof(double));
  return bits<double>(base.fp16_max_norms(), 5, stream);
}

TEST_F(Fp16Remainders, OfABaseAreMadeWhenAskedFor) {
  for_each_schedule([] {
    const Stored points(70, 12);
    device::CachedFp16 cached;
    device::ResidentBase<float> base(points.store(), cached);
    const double scale = base.fp16_frame(false).scale;
    const Kept rounded = kept(base, 33, points.stream());
    const std::vector<double> norms = max_norms(base, points.stream());
    EXPECT_TRUE(rounded.remainders.empty());
    EXPECT_EQ(base.fp16_frame(true).scale, scale);
    const Kept split = kept(base, 33, points.stream());
    EXPECT_EQ(split.data, rounded.data);
    EXPECT_EQ(split.bias, rounded.bias);
    EXPECT_EQ(split.remainders.size(), rounded.data.size());
    EXPECT_EQ(max_norms(base, points.stream()), norms);
    // Searches without remainders are not touched by those with them.
    base.fp16_frame(false);
    EXPECT_EQ(kept(base, 33, points.stream()), rounded);
  });
}

// A streamed base in tiles has what a resident one has, if its first tile gives the same frame.
TEST_F(Fp16Remainders, OfAStreamedBase) {
  constexpr std::int64_t kRows = 70;
  constexpr std::int64_t kDims = 12;
  const Stored points(kRows, kDims);
  const MatrixView<float> view(points.values().data(), kRows, kDims, kDims, 1);
  for (const std::int64_t tile : {kRows, std::int64_t{30}}) {
    device::host_data::StreamedBase<float> base(view, MetricKind::sqeuclidean, true, tile, points.stream());
    base.fp16_frame(false);
    const Kept rounded = kept(base, tile, points.stream());
    const std::vector<double> norms = max_norms(base, points.stream());
    base.fp16_frame(true);
    const Kept split = kept(base, tile, points.stream());
    EXPECT_EQ(split.data, rounded.data);
    EXPECT_EQ(split.bias, rounded.bias);
    EXPECT_EQ(split.remainders.size(), rounded.data.size());
    EXPECT_EQ(max_norms(base, points.stream()), norms);
    base.fp16_frame(false);
    EXPECT_EQ(kept(base, tile, points.stream()), rounded);
    if (tile < kRows) continue;
    device::CachedFp16 cached;
    device::ResidentBase<float> resident(points.store(), cached);
    resident.fp16_frame(true);
    EXPECT_EQ(kept(resident, tile, points.stream()), split);
  }
}

}  // namespace
}  // namespace kith::test::fp16_remainders
