// What a plan says that a search takes of the device's memory is what it takes, by the emulator's count.
#include "cuda/functions.hpp"
#include "device_index.hpp"
#include "plan/choose.hpp"
#include "point_set.hpp"

#if defined(KITH_IS_EMULATED)

namespace kith::test {
namespace {

using PeakBytes = DeviceTest;

struct Shape {
  const char* name;
  std::int64_t rows, queries, dims, k;
  Method method = Method::automatic;
  DistanceStage distance = DistanceStage::automatic;
  Metric metric = MetricKind::sqeuclidean;
  std::int64_t budget = 0;
  CurvePositions positions = CurvePositions::automatic;
  bool certify = false;
};

Plan plan_of(const Shape& shape, DType dtype, Options& options) {
  options.metric = shape.metric;
  options.method = shape.method;
  options.distance = shape.distance;
  options.memory_budget = shape.budget;
  options.shifted_sort.positions = shape.positions;
  options.shifted_sort.certify = shape.certify;
  const Problem problem{shape.rows, shape.queries, shape.dims, shape.k, dtype};
  const core::DeviceFacts facts = device::device_facts();
  return shape.k > 0 ? plan::choose(problem, options, facts) : plan::choose_radius(problem, options, facts);
}

template <class T>
void search(const DeviceIndex<T>& index, const MatrixView<T>& queries, const Plan& plan) {
  using F = DistanceOf<T>;
  std::vector<std::int64_t> ids(static_cast<std::size_t>(queries.rows * plan.problem.k));
  std::vector<F> distances(ids.size());
  SearchReport report;
  report.plan = plan;
  if (plan.problem.k > 0) {
    std::vector<std::uint8_t> certified(static_cast<std::size_t>(queries.rows));
    std::uint8_t* const flags = plan.shifted_sort.certify ? certified.data() : nullptr;
    index.begin(queries, nullptr)->search(plan, {ids.data(), distances.data(), Memory::host, flags}, report);
    return;
  }
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(queries.rows) + 1);
  const RadiusLists<F> lists{offsets.data(), [&](std::int64_t count) {
                               ids.resize(static_cast<std::size_t>(count));
                               distances.resize(ids.size());
                               return NeighborsView<F>{ids.data(), distances.data()};
                             }};
  index.begin(queries, nullptr)->search_radius(plan, {.keys = {F{4}}, .max_hits = 1 << 20}, lists, report);
}

// Beside what is there when the index has searched once, and so made what it makes once.
template <class T>
std::int64_t measured_peak(const Shape& shape, const Plan& plan, bool resident) {
  const PointSet<T> base = cloud<T>(Cloud::gaussian, shape.rows, shape.dims, 1);
  const PointSet<T> queries = cloud<T>(Cloud::gaussian, shape.queries, shape.dims, 2);
  const DeviceIndex<T> index(base.view(), shape.metric, nullptr, {.resident = resident});
  search(index, queries.view(), plan);
  const std::size_t before = ::emulator::live_device_bytes();
  ::emulator::restart_peak();
  search(index, queries.view(), plan);
  return static_cast<std::int64_t>(::emulator::peak_device_bytes() - before);
}

template <class T>
void expect_planned(const Shape& shape) {
  SCOPED_TRACE(shape.name);
  Options options;
  const Plan plan = plan_of(shape, dtype_of<T>(), options);
  const bool resident = plan::choose_index(plan.problem, options, device::device_facts()).resident;
  const std::int64_t measured = measured_peak<T>(shape, plan, resident);
  constexpr std::int64_t kSlack = 16 << 10;  // counters and the like
  EXPECT_NEAR(static_cast<double>(measured), static_cast<double>(plan.peak_bytes),
              0.1 * static_cast<double>(measured) + kSlack)
      << to_string(plan);
}

constexpr auto kTiled = DistanceStage::register_tiled;
constexpr auto kFp16 = DistanceStage::fp16;

TEST_F(PeakBytes, AreWhatThePlanSays) {
  for (const Shape& shape : std::initializer_list<Shape>{
           {"exact", 3000, 20, 24, 10, Method::automatic, DistanceStage::exact},
           {"direct", 3000, 40, 24, 10, Method::automatic, DistanceStage::direct},
           {"matrix product", 3000, 200, 24, 10, Method::two_stage, DistanceStage::gemm},
           {"fp16", 3000, 200, 32, 10, Method::two_stage, kFp16},
           {"turned points", 2000, 500, 20, 20, Method::two_stage, kTiled},
           {"cosine", 2000, 100, 24, 10, Method::two_stage, kTiled, MetricKind::cosine},
           {"tiles of queries", 3000, 600, 8, 10, Method::two_stage, kTiled, MetricKind::manhattan, 4 << 20},
           {"streamed base", 3000, 60, 8, 10, Method::two_stage, kTiled, MetricKind::manhattan, 256 << 10},
           {"fused", 5000, 300, 20, 10, Method::fused, kTiled},
           {"fused fp16", 5000, 300, 32, 10, Method::fused, kFp16},
           {"large k", 3000, 30, 16, 500, Method::two_stage, kTiled},
           {"triangle", 3000, 2000, 3, 10, Method::triangle},
           {"triangle, stored scores", 2000, 1000, 20, 10, Method::triangle},
           {"tree", 3000, 2000, 3, 10, Method::tree},
           {"tree, sorted queries", 3000, 2500, 3, 10, Method::tree},
           {"shifted-sort", 3000, 2000, 3, 10, Method::shifted_sort},
           {"sorted together", 3000, 2000, 3, 10, Method::shifted_sort, DistanceStage::automatic,
            MetricKind::sqeuclidean, 0, CurvePositions::sort},
           {"certified", 300, 20000, 3, 1, Method::shifted_sort, DistanceStage::automatic, MetricKind::sqeuclidean, 0,
            CurvePositions::search, true},
           {"radius", 3000, 500, 20, 0}})
    expect_planned<float>(shape);
  expect_planned<double>({"double", 2000, 100, 12, 10, Method::two_stage, kTiled});
}

}  // namespace
}  // namespace kith::test

#endif
