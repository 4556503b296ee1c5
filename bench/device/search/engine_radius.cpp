// engine_radius.cpp: radius search of points on the device into memory of the device.
#include <fmt/format.h>

#include <algorithm>

#include "device/search/check.hpp"
#include "device/search/engine.hpp"
#include "device/search/point_set.hpp"
#include "kith/index.hpp"

namespace kith::bench::device::search {
namespace {

class EngineRadius {
 public:
  EngineRadius(const Problem& problem, std::int64_t wanted, Harness& harness)
      : problem_(problem),
        harness_(harness),
        stream_(harness.stream()),
        points_(problem, stream_),
        queries_(points_.queries(problem.queries)),
        index_(points_.base(), options(), stream_),
        checker_(problem.metric.kind, points_.base(), queries_, harness.limits().samples, stream_),
        offsets_(static_cast<std::size_t>(problem.queries + 1), stream_),
        radius_(radius_of(wanted)) {}

  std::vector<Row> rows() {
    std::vector<Contender> contenders;
    contenders.push_back(contender());
    std::vector<Row> rows = harness_.race(std::move(contenders), {.both_clocks = true});
    Row& row = rows.front();
    row.facts["neighbors"] = count_;
    row.facts["plan"] = {{"method", kith::to_string(report_.plan.method)},
                         {"distance", kith::to_string(report_.plan.distance)}};
    row.note = fmt::format("{}, {:.1f} neighbors a query", describe(report_.plan),
                           static_cast<double>(count_) / static_cast<double>(problem_.queries));
    if (row.timed()) add_shares(harness_, report_.plan.distance == DistanceStage::fp16 ? 2 : 4, row);
    if (problem_.bar_ms > 0) row.bar = bar_ms(problem_.bar_ms, row.wall);
    return rows;
  }

 private:
  Options options() const {
    Options options;
    options.metric = problem_.metric;
    options.backend = kBackend;
    return options;
  }

  // Halves an interval by the number of neighbors that some of the queries have.
  float radius_of(std::int64_t wanted) const {
    constexpr int kSteps = 30;
    constexpr std::int64_t kSome = 500;
    const MatrixView<float> some = queries_.rows_from(0, std::min(kSome, queries_.rows));
    float low = 0;
    float high = 8 * static_cast<float>(problem_.dims);
    for (int step = 0; step < kSteps; ++step) {
      const float middle = (low + high) / 2;
      const auto found = index_.search_radius(some, std::span<const float>(&middle, 1), RadiusOutput::count_only);
      (found.offsets.back() < wanted * some.rows ? low : high) = middle;
    }
    return high;
  }

  Contender contender() {
    Contender contender;
    contender.row.problem = fmt::format("{} × {} × {}, radius, {}", problem_.queries, problem_.base_rows, problem_.dims,
                                        to_string(problem_.data));
    contender.row.contender = "auto";
    contender.row.facts = {{"queries", problem_.queries},
                           {"base_rows", problem_.base_rows},
                           {"dims", problem_.dims},
                           {"radius", radius_},
                           {"metric", kith::to_string(problem_.metric)},
                           {"data", to_string(problem_.data)}};
    contender.run = [this] {
      report_ = index_.search_radius_into(
          queries_, std::span<const float>(&radius_, 1),
          {offsets_.data(), [this](std::int64_t count) { return room(count); }, Memory::device}, stream_);
    };
    contender.check = [this](bool first) -> std::string {
      const DeviceAnswer answer{distances_.data(), ids_.data(), 0, offsets_.data(), radius_};
      const unsigned long long fingerprint = checker_.fingerprint(answer, count_);
      if (!first) return fingerprint == fingerprint_ ? "" : "another answer than in the first run";
      fingerprint_ = fingerprint;
      return checker_.fault(answer);
    };
    return contender;
  }

  // Memory of the first run serves the others, as that of an application would.
  NeighborsView<float> room(std::int64_t count) {
    count_ = count;
    if (static_cast<std::size_t>(count) > ids_.size()) {
      ids_ = cuda::DeviceBuffer<std::int64_t>(static_cast<std::size_t>(count), stream_);
      distances_ = cuda::DeviceBuffer<float>(ids_.size(), stream_);
    }
    return {ids_.data(), distances_.data(), Memory::device};
  }

  Problem problem_;
  Harness& harness_;
  const cuda::Stream& stream_;
  PointSet points_;
  MatrixView<float> queries_;
  Index<float> index_;
  Checker checker_;
  cuda::DeviceBuffer<std::int64_t> offsets_;
  cuda::DeviceBuffer<std::int64_t> ids_;
  cuda::DeviceBuffer<float> distances_;
  float radius_;
  std::int64_t count_ = 0;
  unsigned long long fingerprint_ = 0;
  SearchReport report_;
};

}  // namespace

Case engine_radius_case(const std::string& name, const Problem& wanted, std::int64_t neighbors,
                        const Settings& settings) {
  Problem problem = wanted;
  if (settings.quick) problem = {std::min<std::int64_t>(problem.queries, 20), 500, 16, 0};
  if (settings.quick) neighbors = 20;
  return {name,
          fmt::format("{} × {} × {}, about {} neighbors", problem.queries, problem.base_rows, problem.dims, neighbors),
          problem.bar_ms > 0 ? fmt::format("at most {:g} ms", problem.bar_ms) : "",
          [=](Harness& harness) { return EngineRadius(problem, neighbors, harness).rows(); }};
}

}  // namespace kith::bench::device::search
