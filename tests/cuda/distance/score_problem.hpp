// score_problem.hpp: two sets of points on the device, the scores that a distance stage computes of them, and what they
// must be: sums in long double, within the errors of core/score_bounds.hpp.
#pragma once

#include <cmath>
#include <functional>

#include "core/bounds.hpp"
#include "cuda/distance/scores.hpp"
#include "device_test.hpp"
#include "point_set.hpp"
#include "support/random.hpp"

namespace kith::test {

constexpr double kPower = 2.5;

struct FormCase {
  const char* name;
  core::Form form;
  bool expanded = false;
};
constexpr FormCase kForms[] = {{"squared", core::Form::squared},   {"expanded", core::Form::squared, true},
                               {"absolute", core::Form::absolute}, {"maximum", core::Form::maximum},
                               {"power", core::Form::power},       {"mismatch", core::Form::mismatch},
                               {"ratio", core::Form::ratio},       {"dot", core::Form::dot}};

// Some coordinates agree.
template <class F>
PointSet<F> score_points(std::int64_t rows, std::int64_t dims, RowLayout layout, Random& random) {
  PointSet<F> points(rows, dims, layout);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t c = 0; c < dims; ++c) {
      const double value = 2 * random.gaussian();
      points.at(row, c) = static_cast<F>(random.below(2) == 0 ? std::round(value) : value);
    }
  }
  return points;
}

inline long double score_term(core::Form form, long double x, long double y) {
  switch (form) {
    case core::Form::squared: return (x - y) * (x - y);
    case core::Form::absolute:
    case core::Form::maximum: return std::abs(x - y);
    case core::Form::power: return std::pow(std::abs(x - y), static_cast<long double>(kPower));
    case core::Form::mismatch: return x != y ? 1 : 0;
    case core::Form::ratio: return x == y ? 0 : std::abs(x - y) / (std::abs(x) + std::abs(y));
    case core::Form::dot: return -x * y;
  }
  return 0;
}

struct Score {
  long double value = 0;
  long double magnitude = 0;  // the sum of the terms' magnitudes
};

template <class F>
Score expected_score(const FormCase& form, const F* x, const F* y, std::int64_t dims, F bias) {
  Score score;
  for (std::int64_t c = 0; c < dims; ++c) {
    const long double part =
        form.expanded ? 2 * score_term(core::Form::dot, x[c], y[c]) : score_term(form.form, x[c], y[c]);
    score.value = form.form == core::Form::maximum ? std::max(score.value, part) : score.value + part;
    score.magnitude += std::abs(part);
  }
  return form.expanded ? Score{score.value + bias, score.magnitude + std::abs(bias)} : score;
}

// The relative error that core/score_bounds.hpp allows; of powers it allows several times more.
template <class F>
double score_tolerance(core::Form form, std::int64_t dims) {
  if (form == core::Form::mismatch) return 0;
  if (form == core::Form::power) return sizeof(F) == sizeof(float) ? 1e-5 : 1e-13;
  return core::gamma<F>(dims + 4);
}

template <class F>
using ScoreStage = std::function<void(const device::distance::ScoreCall<F>&)>;

template <class F>
struct ScoreProblem {
  static constexpr F kGuard = 12345;  // not a score

  PointSet<F> queries;
  PointSet<F> base;
  std::vector<F> norms;  // ‖y‖² of every base point, rounded
  device::Stream stream;
  device::Workspace workspace;
  DeviceArray<F> query_array;
  DeviceArray<F> base_array;
  DeviceArray<F> norm_array;

  ScoreProblem(PointSet<F> queries_in, PointSet<F> base_in, std::size_t budget = 0)
      : queries(std::move(queries_in)),
        base(std::move(base_in)),
        norms(square_norms(base)),
        workspace(stream, budget),
        query_array(queries.values, stream),
        base_array(base.values, stream),
        norm_array(norms, stream) {}

  device::PointRows<F> query_rows() const {
    return {query_array.data() + queries.offset, queries.rows, queries.stride};
  }
  device::PointRows<F> base_rows() const { return {base_array.data() + base.offset, base.rows, base.stride}; }
  const F* bias(const FormCase& form) const { return form.expanded ? norm_array.data() : nullptr; }

  // Computes rows of scores in a layout; elements between them must keep their guard.
  std::vector<F> scores(const ScoreStage<F>& stage, const FormCase& form, RowLayout layout = {}) {
    const std::int64_t stride = base.rows + layout.gap;
    DeviceArray<F> array(std::vector<F>(static_cast<std::size_t>(layout.offset + queries.rows * stride), kGuard),
                         stream);
    workspace.reset();
    stage({.queries = query_rows(),
           .base = base_rows(),
           .dims = queries.dims,
           .form = form.form,
           .p = kPower,
           .bias = bias(form),
           .scores = array.data() + layout.offset,
           .score_stride = stride,
           .workspace = workspace});
    const std::vector<F> written = array.values();
    std::vector<F> result;
    for (std::size_t i = 0; i < written.size(); ++i) {
      const std::int64_t slot = static_cast<std::int64_t>(i) - layout.offset;
      if (slot >= 0 && slot % stride < base.rows)
        result.push_back(written[i]);
      else if (written[i] != kGuard)
        ADD_FAILURE() << "written beside the scores, at " << slot;
    }
    return result;
  }

  void check(const ScoreStage<F>& stage, const FormCase& form, RowLayout layout) {
    SCOPED_TRACE(testing::Message() << form.name << ", " << queries.rows << " × " << base.rows << " × " << queries.dims
                                    << ", strides " << queries.stride << " and " << base.stride << ", offsets "
                                    << queries.offset << " and " << base.offset << ", " << sizeof(F) << " bytes");
    const std::vector<F> found = scores(stage, form, layout);
    const double tolerance = score_tolerance<F>(form.form, queries.dims);
    for (std::int64_t q = 0; q < queries.rows; ++q) {
      for (std::int64_t b = 0; b < base.rows; ++b) {
        const Score wanted =
            expected_score(form, queries.row(q), base.row(b), queries.dims, norms[static_cast<std::size_t>(b)]);
        const F score = found[static_cast<std::size_t>(q * base.rows + b)];
        ASSERT_LE(std::abs(score - wanted.value), tolerance * wanted.magnitude)
            << "query " << q << ", base point " << b << ": " << score << " instead of " << wanted.value;
      }
    }
  }

 private:
  static std::vector<F> square_norms(const PointSet<F>& points) {
    std::vector<F> all;
    for (std::int64_t row = 0; row < points.rows; ++row) {
      long double sum = 0;
      for (std::int64_t c = 0; c < points.dims; ++c)
        sum += static_cast<long double>(points.at(row, c)) * points.at(row, c);
      all.push_back(static_cast<F>(sum));
    }
    return all;
  }
};

}  // namespace kith::test
