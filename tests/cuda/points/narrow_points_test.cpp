// Points that stay as they are stored: what passes read of them is what floats of them would have, answers are those of
// an index of floats, bit for bit, and they take half of its memory.
#include "cuda/points/narrow_points.hpp"

#include <bit>

#include "core/radius_query.hpp"
#include "cuda/host_data/host_link.hpp"
#include "cuda/points/narrow_base.hpp"
#include "device_index.hpp"
#include "plan/choose.hpp"
#include "plan/product_stages.hpp"
#include "support/fails_with.hpp"
#include "support/random.hpp"

namespace kith::test::narrow_points {
namespace {

using NarrowPoints = DeviceTest;

// Values that all types hold, with some that bfloat16 rounds.
template <Element T>
std::vector<T> drawn(std::int64_t count, std::uint64_t seed, double offset = 0) {
  Random random(seed);
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (sizeof(T) == 1) {
      values.push_back(static_cast<T>(random.below(256)));
    } else {
      values.push_back(static_cast<T>(offset + static_cast<double>(random.below(4000)) / 1000 - 2));
    }
  }
  return values;
}

template <Element T>
struct Rows {
  std::int64_t count, dims;
  std::vector<T> values;

  Rows(std::int64_t count_, std::int64_t dims_, std::uint64_t seed, double offset = 0)
      : count(count_), dims(dims_), values(drawn<T>(count_ * dims_, seed, offset)) {}
  MatrixView<T> view() const { return MatrixView<T>(values.data(), count, dims); }
  std::vector<float> floats() const { return {values.begin(), values.end()}; }
};

template <class V>
std::vector<V> copied(const V* from, std::int64_t count, cudaStream_t stream) {
  std::vector<V> values(static_cast<std::size_t>(count));
  KITH_CUDA(cudaMemcpyAsync(values.data(), from, values.size() * sizeof(V), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return values;
}

template <Element T>
std::unique_ptr<device::NarrowPoints<T>> brought(const Rows<T>& rows, const Metric& metric, cudaStream_t stream) {
  device::host_data::HostLink link(stream, device::host_data::bytes_of(rows.view()));
  auto points = link.bring_narrow(rows.view(), metric, core::form_of(metric) == core::Form::squared);
  points->prepare([](const auto&, auto) {});
  return points;
}

template <class Check>
void for_each_type(Check check) {
  check.template operator()<Float16>();
  check.template operator()<BFloat16>();
  check.template operator()<std::uint8_t>();
  check.template operator()<std::int8_t>();
}

TEST_F(NarrowPoints, HaveTheValuesAndNormsOfFloats) {
  for_each_schedule([] {
    for_each_type([]<class T>() {
      for (const std::int64_t dims : {7, 16, 33}) {
        const device::Stream stream;
        const Rows<T> rows(50, dims, 1);
        const auto points = brought(rows, MetricKind::sqeuclidean, stream);
        device::PointStore<float> floats(rows.count, dims, MetricKind::sqeuclidean, true, stream);
        points->widen(0, rows.count, floats.rows(), stream);
        floats.prepare(rows.count);
        EXPECT_EQ(copied(floats.exact(0, rows.count).rows.data, rows.count * dims, stream), rows.floats());
        EXPECT_EQ(copied(points->store().square_norms(0), rows.count, stream),
                  copied(floats.square_norms(0), rows.count, stream));
        EXPECT_EQ(copied(points->store().bias(0), rows.count, stream), copied(floats.bias(0), rows.count, stream));
        EXPECT_EQ(copied(points->store().max_squared_norm(), 1, stream), copied(floats.max_squared_norm(), 1, stream));
        EXPECT_TRUE(fails_with(ErrorCode::internal, {"working rows"}, [&] { points->store().working(0, rows.count); }));
      }
    });
  });
}

// Half precision is what tensor cores multiply, where it lies, and loses nothing; far from the origin sums would.
TEST_F(NarrowPoints, AreMultipliedWhereTheyLie) {
  const device::Stream stream;
  for (const double offset : {0.0, 200.0}) {
    const Rows<Float16> rows(60, 19, 2, offset);
    const auto points = brought(rows, MetricKind::sqeuclidean, stream);
    const device::Fp16Base& base = points->fp16();
    const bool lent = static_cast<const void*>(base.store.rows(0, 1).data) == points->rows();
    EXPECT_EQ(lent, offset == 0);
    EXPECT_EQ(base.frame.center.size(), lent ? 0U : 19U);
    // What is left is the rounding of the norms themselves.
    EXPECT_EQ(std::bit_cast<double>(copied(base.store.max_norms(), 1, stream)[0].lost) < 1e-12, lent);
  }
  const Rows<BFloat16> others(60, 19, 2);
  const auto points = brought(others, MetricKind::sqeuclidean, stream);
  EXPECT_NE(static_cast<const void*>(points->fp16().store.rows(0, 1).data), points->rows());
  const Rows<std::int8_t> bytes(60, 19, 2);
  const auto of_bytes = brought(bytes, MetricKind::sqeuclidean, stream);
  EXPECT_EQ(static_cast<const void*>(of_bytes->bytes().rows(0, 1).data), of_bytes->rows());
  EXPECT_EQ(of_bytes->bytes().rows(0, 1).row_bytes, 32);
}

TEST_F(NarrowPoints, OfTheDeviceAreUsedWhereTheyLie) {
  const device::Stream stream;
  const Rows<Float16> rows(20, 16, 3);
  DeviceArray<Float16> there(rows.values, stream);
  const auto on_device = [&](std::int64_t first, std::int64_t dims, std::int64_t stride) {
    return MatrixView<Float16>::on_device(there.data() + first, 10, dims, stride);
  };
  EXPECT_TRUE(device::NarrowPoints<Float16>::can_borrow(on_device(0, 16, 16)));
  EXPECT_FALSE(device::NarrowPoints<Float16>::can_borrow(on_device(1, 16, 16)));  // no whole vectors
  EXPECT_FALSE(device::NarrowPoints<Float16>::can_borrow(on_device(0, 12, 12)));
  EXPECT_FALSE(device::NarrowPoints<Float16>::can_borrow(on_device(0, 8, 16)));  // what lies between is not zero
  EXPECT_FALSE(device::NarrowPoints<Float16>::can_borrow(rows.view()));
}

// Tiles for passes that read floats have them, and ids of their own.
TEST_F(NarrowPoints, AreWidenedForPassesThatReadFloats) {
  const device::Stream stream;
  const Rows<BFloat16> rows(70, 24, 4);
  const auto points = brought(rows, MetricKind::euclidean, stream);
  device::NarrowBase<BFloat16> base(*points, nullptr, MetricKind::euclidean, true, stream);
  for (const bool needed : {false, true, false}) {
    base.need_rows(needed);
    std::vector<float> all;
    std::int64_t next = 0;
    base.for_each_tile(30, [&](const device::BaseTile<float>& tile) {
      EXPECT_EQ(tile.first_id, next);
      next += tile.count;
      EXPECT_EQ(tile.store->exact(tile.first, tile.count).stored.data == nullptr, needed);
      if (!needed) return;
      const auto part = copied(tile.store->working(tile.first, tile.count).data, tile.count * rows.dims, stream);
      all.insert(all.end(), part.begin(), part.end());
    });
    EXPECT_EQ(next, rows.count);
    EXPECT_EQ(all, needed ? rows.floats() : std::vector<float>());
  }
}

struct Answer {
  std::vector<float> distances;
  std::vector<std::int64_t> ids;

  bool operator==(const Answer&) const = default;
};

template <Element T>
Answer answer_of(const DeviceIndex<T>& index, const Rows<T>& queries, const Plan& plan) {
  Answer answer{std::vector<float>(static_cast<std::size_t>(queries.count * plan.problem.k)), {}};
  answer.ids.resize(answer.distances.size());
  SearchReport report;
  report.plan = plan;
  index.begin(queries.view(), nullptr)
      ->search(plan, {answer.ids.data(), answer.distances.data(), Memory::host}, report);
  return answer;
}

std::vector<Plan::Pass> first_passes(const Metric& metric, DType dtype, std::int64_t dims) {
  const bool squares = core::form_of(metric) == core::Form::squared;
  std::vector<Plan::Pass> passes{{DistanceStage::fp16, squares, true},
                                 {DistanceStage::fp16, squares, false},
                                 {DistanceStage::direct, false, false},
                                 {DistanceStage::tiled, false, false},
                                 {DistanceStage::register_tiled, squares, true},
                                 {DistanceStage::gemm, squares, false},
                                 {DistanceStage::exact, false, false}};
  const Problem problem{100, 10, dims, 5, dtype};
  if (plan::why_not(DistanceStage::int8, problem, metric, device::device_policy().hardware).empty())
    passes.push_back({DistanceStage::int8, squares, true});
  return passes;
}

template <Element T>
void check_searches(const Metric& metric, std::int64_t dims, double offset) {
  const Rows<T> base(300, dims, 5, offset);
  Rows<T> queries(40, dims, 6, offset);
  std::copy_n(base.values.begin(), dims, queries.values.begin());
  const DeviceIndex<T> floats(base.view(), metric, nullptr);
  const DeviceIndex<T> narrow(base.view(), metric, nullptr, {.narrow = true});
  const DeviceIndex<T> tight(base.view(), metric, nullptr, {.narrow = true, .may_widen = false});
  for (const Plan::Pass& pass : first_passes(metric, dtype_of<T>(), dims)) {
    SCOPED_TRACE(testing::Message() << to_string(metric.kind) << ", " << to_string(pass.distance) << ", " << dims
                                    << " dimensions, " << to_string(dtype_of<T>()));
    for (const std::int64_t count : {std::int64_t{1}, queries.count}) {
      Rows<T> some = queries;
      some.count = count;
      some.values.resize(static_cast<std::size_t>(count * dims));
      Plan plan = brute_plan({base.count, count, dims, 7, dtype_of<T>()}, metric, pass);
      plan.base_tile = 120;
      const Answer expected = answer_of(floats, some, plan);
      EXPECT_EQ(answer_of(narrow, some, plan), expected);
      EXPECT_EQ(answer_of(tight, some, plan), expected);
    }
  }
}

TEST_F(NarrowPoints, HaveTheNeighborsOfFloats) {
  for (const MetricKind kind : {MetricKind::euclidean, MetricKind::inner_product, MetricKind::cosine})
    for_each_type([&]<class T>() { check_searches<T>(kind, kind == MetricKind::euclidean ? 19 : 32, 0); });
  check_searches<Float16>(MetricKind::sqeuclidean, 16, 300);
}

struct Within {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> ids;
  std::vector<float> distances;

  bool operator==(const Within&) const = default;
};

template <Element T>
Within within(const DeviceIndex<T>& index, const Rows<T>& queries, const Plan& plan, float radius) {
  core::RadiusQuery<float> request;
  request.keys = {radius};
  request.max_hits = std::int64_t{1} << 40;
  Within found;
  found.offsets.resize(static_cast<std::size_t>(queries.count + 1));
  const auto allocate = [&](std::int64_t count) {
    found.ids.resize(static_cast<std::size_t>(count));
    found.distances.resize(found.ids.size());
    return NeighborsView<float>{found.ids.data(), found.distances.data(), Memory::host};
  };
  SearchReport report;
  index.begin(queries.view(), nullptr)->search_radius(plan, request, {found.offsets.data(), allocate}, report);
  return found;
}

// By scores that read the points as they are stored, by those that do not, and where the former are given up midway:
// one point far away leaves the others few digits.
TEST_F(NarrowPoints, AreFoundWithinRadii) {
  Rows<Float16> base(300, 16, 11);
  const Rows<Float16> queries(60, 16, 12);
  for (const bool is_far : {false, true}) {
    if (is_far) base.values[299 * 16] = Float16(1000);
    const DeviceIndex<Float16> floats(base.view(), MetricKind::euclidean, nullptr);
    const DeviceIndex<Float16> narrow(base.view(), MetricKind::euclidean, nullptr, {.narrow = true});
    for (const DistanceStage stage : {DistanceStage::fp16, DistanceStage::register_tiled})
      for (const std::int64_t candidates : {40, 300}) {
        Plan plan = brute_plan({300, 60, 16, 0, DType::float16}, MetricKind::euclidean, {stage, true, true});
        plan.base_tile = 200;
        plan.candidates = candidates;
        const Within expected = within(floats, queries, plan, 5.5F);
        EXPECT_GT(expected.offsets.back(), 1000);
        EXPECT_LT(expected.offsets.back(), 300 * 60);
        EXPECT_EQ(within(narrow, queries, plan, 5.5F), expected) << is_far << ", " << to_string(stage);
      }
  }
}

// Queries that are the base want floats of all: those are made once, or not at all.
TEST_F(NarrowPoints, AreWidenedOnceForWhatNeedsFloatsOfAll) {
  const Rows<Float16> base(200, 20, 7);
  const Metric metric = MetricKind::euclidean;
  const DeviceIndex<Float16> floats(base.view(), metric, nullptr);
  const DeviceIndex<Float16> narrow(base.view(), metric, nullptr, {.narrow = true});
  const DeviceIndex<Float16> tight(base.view(), metric, nullptr, {.narrow = true, .may_widen = false});
  const Plan plan = brute_plan({base.count, base.count, base.dims, 6, DType::float16, true}, metric,
                               {DistanceStage::fp16, true, true});
  for (int round = 0; round < 2; ++round) {
    const Answer expected = answer_of(floats, base, plan);
    EXPECT_EQ(answer_of(narrow, base, plan), expected);
    EXPECT_EQ(answer_of(tight, base, plan), expected);
  }
  Plan triangle = plan;
  triangle.method = Method::triangle;
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"triangle", "no room"}, [&] { answer_of(tight, base, triangle); }));
}

// Of many rows, the first that is wrong, in whatever part of them it is.
TEST_F(NarrowPoints, NameTheRowThatIsWrong) {
  constexpr std::int64_t kDims = 1 << 17;
  constexpr std::int64_t kRows = 130;  // parts have 128
  Rows<BFloat16> base(kRows, kDims, 8);
  base.values[static_cast<std::size_t>(129 * kDims + 5)] = BFloat16(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"base row 129, column 5"}, [&] {
    const DeviceIndex<BFloat16> index(base.view(), MetricKind::sqeuclidean, nullptr, {.narrow = true});
  }));
}

#if defined(KITH_IS_EMULATED)

// What an index has once it has searched by products.
template <Element T>
std::size_t index_bytes(const Metric& metric, const IndexForm& form) {
  constexpr std::int64_t kRows = 3000;
  constexpr std::int64_t kDims = 128;
  const Rows<T> base(kRows, kDims, 9);
  const Rows<T> queries(20, kDims, 10);
  const std::size_t before = ::emulator::live_device_bytes();
  const DeviceIndex<T> index(base.view(), metric, nullptr, form);
  answer_of(index, queries,
            brute_plan({kRows, 20, kDims, 5, dtype_of<T>()}, metric,
                       {DistanceStage::fp16, core::form_of(metric) == core::Form::squared, true}));
  return ::emulator::live_device_bytes() - before;
}

TEST_F(NarrowPoints, TakeHalfOfTheMemoryOrLess) {
  for (const MetricKind kind : {MetricKind::euclidean, MetricKind::inner_product, MetricKind::cosine}) {
    const std::size_t floats = index_bytes<float>(kind, {});
    EXPECT_LE(2 * index_bytes<Float16>(kind, {.narrow = true}), floats) << to_string(kind);
    EXPECT_LE(3 * index_bytes<BFloat16>(kind, {.narrow = true}), 2 * floats + 3 * 3000 * 64) << to_string(kind);
  }
}

#endif

// The planner keeps those narrow that searches multiply, and counts their bytes.
TEST_F(NarrowPoints, StayWhereSearchesMultiplyThem) {
  core::DeviceFacts facts = device::device_facts();
  const auto index_of = [&](DType dtype, Metric metric, std::int64_t dims, Options options = {}) {
    options.metric = metric;
    return plan::choose_index({1'000'000, 1, dims, 1, dtype}, options, facts);
  };
  EXPECT_TRUE(index_of(DType::float16, MetricKind::euclidean, 128).narrow);
  EXPECT_TRUE(index_of(DType::bfloat16, MetricKind::cosine, 128).narrow);
  EXPECT_FALSE(index_of(DType::float32, MetricKind::euclidean, 128).narrow);
  EXPECT_FALSE(index_of(DType::float16, MetricKind::manhattan, 128).narrow);
  EXPECT_FALSE(index_of(DType::float16, MetricKind::euclidean, 3).narrow);
  Options by_name;
  by_name.distance = DistanceStage::direct;
  EXPECT_FALSE(index_of(DType::float16, MetricKind::euclidean, 128, by_name).narrow);
  // Half of the budget has room for the points as they are stored, but not for floats.
  Options tight;
  tight.memory_budget = 2 * 1'000'000 * (2 * 128 + 100);
  const plan::IndexFacts index = index_of(DType::float16, MetricKind::euclidean, 128, tight);
  EXPECT_TRUE(index.resident);
  EXPECT_FALSE(index.may_widen);
  EXPECT_FALSE(index_of(DType::float32, MetricKind::euclidean, 128, tight).resident);
}

}  // namespace
}  // namespace kith::test::narrow_points
