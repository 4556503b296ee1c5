// memory.cpp: what a search takes of the device's memory at its peak, beside what its plan says. Plans leave out what
// an index makes once, so the second search is judged; what the first took is shown.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "device/harness/peak_memory.hpp"
#include "device/search/host_points.hpp"
#include "device/search/point_set.hpp"
#include "kith/index.hpp"

namespace kith::bench::device::search {
namespace {

// A search takes what its plan says, within this.
constexpr double kPeakBound = 0.10;

struct MemoryRow {
  const char* name;
  Problem problem;
  Method method = Method::automatic;
  DistanceStage distance = DistanceStage::automatic;
  bool host = false;  // base, queries and answers
};

const MemoryRow kMemoryRows[] = {
    {"auto-d128-k10", {10000, 1000000, 128, 10}},
    {"auto-d128-k1024", {10000, 1000000, 128, 1024}},
    {"auto-d768", {10000, 1000000, 768, 10}},
    {"auto-q1", {1, 1000000, 128, 10}},
    {"auto-self", {100000, 100000, 96, 32, kL2, 0, true}},
    {"auto-copies", {10000, 1000000, 128, 10, kL2, 0, false, Data::copies}},
    {"auto-bytes", {10000, 1000000, 128, 10, kL2, 0, false, Data::bytes}},
    {"auto-cosine", {10000, 490000, 384, 10, MetricKind::cosine}},
    {"auto-host", {10000, 1000000, 128, 10}, Method::automatic, DistanceStage::automatic, true},
    {"two-stage-gemm", {10000, 100000, 128, 10}, Method::two_stage, DistanceStage::gemm},
    {"two-stage-fp16", {10000, 1000000, 128, 10}, Method::two_stage, DistanceStage::fp16},
    {"fused-tiled", {10000, 1000000, 32, 10}, Method::fused, DistanceStage::register_tiled},
    {"exact", {100, 1000000, 64, 10}, Method::two_stage, DistanceStage::exact},
    {"triangle", {100000, 1000000, 3, 10}, Method::triangle},
};

constexpr double kMebi = 1024.0 * 1024.0;

class MemoryRun {
 public:
  MemoryRun(const MemoryRow& wanted, Harness& harness) : wanted_(wanted), harness_(harness) {}

  template <class T>
  Row measure(const MatrixView<T>& base, const MatrixView<T>& queries, const NeighborsView<float>& out) const {
    const Problem& problem = wanted_.problem;
    Row row;
    row.problem = describe(problem);
    row.contender = wanted_.name;
    row.status = Status::counted;
    try {
      const Index<T> index(base, options(), harness_.stream());
      const auto search = [&] {
        const PeakMemory peak;
        const SearchReport report = problem.self ? index.search_self_into(problem.k, out, harness_.stream())
                                                 : index.search_into(queries, problem.k, out, harness_.stream());
        return std::pair(report.plan, peak.bytes());
      };
      const auto [first_plan, first] = search();
      const auto [plan, later] = search();
      conclude(plan, first, later, row);
    } catch (const Error& error) {
      refuse(error, row);
    }
    return row;
  }

 private:
  Options options() const {
    Options options;
    options.metric = wanted_.problem.metric;
    options.backend = kBackend;
    options.method = wanted_.method;
    options.distance = wanted_.distance;
    return options;
  }

  void conclude(const Plan& plan, const PeakMemory::Bytes& first, const PeakMemory::Bytes& later, Row& row) const {
    const auto total = static_cast<double>(later.pools + later.outside);
    const double ratio = plan.peak_bytes > 0 ? total / static_cast<double>(plan.peak_bytes) : 0;
    row.facts = {{"planned_bytes", plan.peak_bytes},
                 {"pool_bytes", later.pools},
                 {"outside_bytes", later.outside},
                 {"first_pool_bytes", first.pools},
                 {"first_outside_bytes", first.outside},
                 {"ratio", ratio},
                 {"plan", {{"method", kith::to_string(plan.method)}, {"distance", kith::to_string(plan.distance)}}}};
    row.note =
        fmt::format("{:9.1f} MiB of {:9.1f} planned ({:.1f} outside pools; first search {:.1f}), {}", total / kMebi,
                    static_cast<double>(plan.peak_bytes) / kMebi, static_cast<double>(later.outside) / kMebi,
                    static_cast<double>(first.pools + first.outside) / kMebi, describe(plan));
    if (!harness_.quick())
      row.bar = Bar{fmt::format("within {:.0f} % of the plan", 100 * kPeakBound), fmt::format("{:.3f}", ratio),
                    std::abs(ratio - 1) <= kPeakBound};
  }

  MemoryRow wanted_;
  Harness& harness_;
};

std::vector<Row> measure_on_device(const MemoryRow& wanted, Harness& harness) {
  const cuda::Stream& stream = harness.stream();
  const Problem& problem = wanted.problem;
  const PointSet points(problem, stream);
  cuda::DeviceBuffer<std::int64_t> ids(static_cast<std::size_t>(problem.queries * problem.k), stream);
  cuda::DeviceBuffer<float> distances(ids.size(), stream);
  const NeighborsView<float> out{ids.data(), distances.data(), Memory::device};
  const MemoryRun run(wanted, harness);
  if (problem.data == Data::bytes)
    return {run.measure(points.base<std::uint8_t>(), points.queries<std::uint8_t>(problem.queries), out)};
  return {run.measure(points.base(), points.queries(problem.queries), out)};
}

std::vector<Row> measure_on_host(const MemoryRow& wanted, Harness& harness) {
  const Problem& problem = wanted.problem;
  const HostPoints points((problem.base_rows + problem.queries) * problem.dims * 4 + 4096);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(problem.queries * problem.k));
  std::vector<float> distances(ids.size());
  return {MemoryRun(wanted, harness)
              .measure(points.rows(0, problem.base_rows, problem.dims),
                       points.rows(problem.base_rows, problem.queries, problem.dims),
                       {ids.data(), distances.data(), Memory::host})};
}

}  // namespace

Suite memory_suite(const Settings& settings) {
  Suite suite{
      "search/memory", "the device's memory that a search takes beside what its plan says", "", {}, nullptr, {}};
  for (MemoryRow row : kMemoryRows) {
    if (settings.quick) {
      row.problem.base_rows = 600;
      row.problem.queries = row.problem.self ? 600 : std::min<std::int64_t>(row.problem.queries, 20);
      row.problem.k = std::min<std::int64_t>(row.problem.k, 100);
    }
    suite.cases.push_back({row.name, describe(row.problem), fmt::format("at most {:.2f} of the plan", kPeakBound),
                           [row](Harness& harness) {
                             return row.host ? measure_on_host(row, harness) : measure_on_device(row, harness);
                           }});
  }
  return suite;
}

}  // namespace kith::bench::device::search
