// triangle_points.hpp: points for the tests of method triangle, the right answer, and an index that is compared with
// it.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/key.hpp"
#include "device_index.hpp"
#include "kith/error.hpp"

namespace kith::test::triangle {

enum class Kind {
  gaussian,
  clustered,   // a few tight groups far apart
  ties,        // small integers: many distances are shared
  duplicates,  // few different points: clusters of radius 0
  line,        // all on one line
  equal,       // all the same point
  offset,      // close together, far from the origin
  huge,        // squares overflow in float
  tiny,        // squares vanish in float
};
constexpr Kind kKinds[] = {Kind::gaussian, Kind::clustered, Kind::ties, Kind::duplicates, Kind::line,
                           Kind::equal,    Kind::offset,    Kind::huge, Kind::tiny};

template <class T>
struct Points {
  std::int64_t rows = 0, dims = 0;
  std::vector<T> values;
  const T* row(std::int64_t i) const { return values.data() + i * dims; }
};

template <class T>
Points<T> make_points(Kind kind, std::int64_t rows, std::int64_t dims, unsigned seed) {
  Points<T> made{rows, dims, std::vector<T>(static_cast<std::size_t>(rows * dims))};
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto group = static_cast<double>(random() % 5);
    const double along = normal(random);
    for (std::int64_t c = 0; c < dims; ++c) {
      double value = normal(random);
      const auto axis = static_cast<double>(c % 7);
      switch (kind) {
        case Kind::gaussian: break;
        case Kind::clustered: value = 20 * group * (axis - 2) + 0.1 * value + axis; break;
        case Kind::ties: value = std::round(value) + (c == 0 ? 9 : 1); break;
        case Kind::duplicates: value = group + axis; break;
        case Kind::line: value = along * (axis + 1) + axis; break;
        case Kind::equal: value = 1 + axis; break;
        case Kind::offset: value = 1e3 * (axis + 1) + 1e-2 * value; break;
        case Kind::huge: value *= 1e30; break;
        case Kind::tiny: value *= 1e-30; break;
      }
      made.values[static_cast<std::size_t>(i * dims + c)] = static_cast<T>(value);
    }
  }
  return made;
}

template <class T>
struct Found {
  T distance;
  std::int64_t id;
};

// All base points in the order of the answer to query q, by core/key.hpp.
template <class T>
std::vector<Found<T>> in_order(const Metric& metric, const Points<T>& base, const Points<T>& queries, std::int64_t q) {
  const core::RowFacts x = core::row_facts(metric.kind, queries.row(q), 1, base.dims);
  std::vector<Found<T>> all;
  for (std::int64_t i = 0; i < base.rows; ++i) {
    const core::RowFacts y = core::row_facts(metric.kind, base.row(i), 1, base.dims);
    const double raw = core::raw_sum(core::form_of(metric), metric.p, queries.row(q), 1,
                                     metric.kind == MetricKind::correlation ? x.mean : 0.0, base.row(i), 1,
                                     metric.kind == MetricKind::correlation ? y.mean : 0.0, base.dims);
    all.push_back({static_cast<T>(core::finish(metric, raw, x, y, base.dims)), i});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; });
  return all;
}

struct Wanted {
  Metric metric;
  std::int64_t k = 1;
  TriangleTuning tuning;
  std::int64_t workspace_bytes = 0;
  bool statistics = false;
};

template <class T>
class Searched {
 public:
  Searched(const Points<T>& base, const Metric& metric, bool check_finite = true)
      : base_(base),
        metric_(metric),
        points_(base.values, stream_),
        index_(view(base, points_.data()), metric, stream_, {check_finite}) {}

  SearchReport search(const Points<T>& queries, const Wanted& wanted) {
    DeviceArray<T> there(queries.values, stream_);
    return run(view(queries, there.data()), queries, wanted);
  }
  SearchReport search_self(const Wanted& wanted) { return run(view(base_, points_.data()), base_, wanted); }

  // The report of a search whose answer is not checked.
  std::vector<std::int64_t> ids(const Points<T>& queries, const Wanted& wanted) {
    DeviceArray<T> there(queries.values, stream_);
    SearchReport report;
    return answer_to(view(queries, there.data()), wanted, report).ids;
  }

  double surviving_fraction(const Points<T>& queries, std::int64_t k) {
    DeviceArray<T> there(queries.values, stream_);
    return index_.begin(view(queries, there.data()), stream_)->samples().surviving_fractions(plan_of(k)).points;
  }
  double share_of_self(std::int64_t k) {
    return index_.begin(view(base_, points_.data()), stream_)->samples().surviving_fractions(plan_of(k)).points;
  }

 private:
  // The parts of a plan that a surviving fraction depends on.
  Plan plan_of(std::int64_t k) const {
    Plan plan;
    plan.problem.k = k;
    plan.metric = metric_;
    plan.triangle.base_landmarks = static_cast<std::int64_t>(3 * std::sqrt(static_cast<double>(base_.rows)));
    return plan;
  }

  static MatrixView<T> view(const Points<T>& points, const T* data) {
    return MatrixView<T>::on_device(data, points.rows, points.dims);
  }

  SearchReport run(const MatrixView<T>& queries, const Points<T>& same, const Wanted& wanted) {
    SearchReport report;
    const Answer answer = answer_to(queries, wanted, report);
    expect_right(same, wanted, answer.distances, answer.ids);
    return report;
  }

  struct Answer {
    std::vector<T> distances;
    std::vector<std::int64_t> ids;
  };

  Answer answer_to(const MatrixView<T>& queries, const Wanted& wanted, SearchReport& report) {
    const auto count = static_cast<std::size_t>(queries.rows * wanted.k);
    const Answer none{std::vector<T>(count, T{-2}), std::vector<std::int64_t>(count, -2)};
    DeviceArray<T> distances(none.distances, stream_);
    DeviceArray<std::int64_t> ids(none.ids, stream_);
    Plan plan;
    plan.problem = {base_.rows, queries.rows, base_.dims, wanted.k, dtype_of<T>()};
    plan.metric = wanted.metric;
    plan.method = Method::triangle;
    plan.select = SelectMethod::automatic;
    plan.triangle = wanted.tuning;
    plan.statistics = wanted.statistics;
    plan.workspace_bytes = wanted.workspace_bytes;
    try {
      index_.begin(queries, stream_)->search(plan, {ids.data(), distances.data(), Memory::device}, report);
    } catch (const Error&) {
      EXPECT_EQ(distances.values(), none.distances);
      EXPECT_EQ(ids.values(), none.ids);
      throw;
    }
    return {distances.values(), ids.values()};
  }

  // Powers may be rounded differently on the device.
  void expect_right(const Points<T>& queries, const Wanted& wanted, const std::vector<T>& distances,
                    const std::vector<std::int64_t>& ids) const {
    const double relative = wanted.metric.kind == MetricKind::minkowski && !kEmulated ? 1e-6 : 0;
    for (std::int64_t q = 0; q < queries.rows; ++q) {
      const std::vector<Found<T>> truth = in_order(wanted.metric, base_, queries, q);
      for (std::int64_t i = 0; i < wanted.k; ++i) {
        const auto at = static_cast<std::size_t>(q * wanted.k + i);
        const Found<T>& right = truth[static_cast<std::size_t>(i)];
        ASSERT_EQ(ids[at], right.id) << "query " << q << ", rank " << i << ", " << distances[at] << " instead of "
                                     << right.distance;
        if (relative == 0) {
          ASSERT_EQ(distances[at], right.distance) << "query " << q << ", rank " << i;
        } else {
          ASSERT_NEAR(distances[at], right.distance, relative * static_cast<double>(right.distance));
        }
      }
    }
  }

  Points<T> base_;
  Metric metric_;
  device::Stream stream_;
  DeviceArray<T> points_;
  DeviceIndex<T> index_;
};

}  // namespace kith::test::triangle
