#include "support/cases.hpp"

#include <algorithm>

#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/pairwise.hpp"

namespace kith::test {
namespace {

std::int64_t k_of(std::int64_t count, std::int64_t rows) {
  if (count == kThird) count = rows / 3;
  if (count == kAllButOne) count = rows - 1;
  return std::clamp<std::int64_t>(count, 1, rows);
}

}  // namespace

std::vector<Shape> small_shapes() {
  return {{1, 1, 1}, {2, 3, 2}, {7, 5, 3}, {64, 8, 8}, {65, 9, 17}, {257, 1, 33}, {300, 33, 31}};
}

std::vector<Case> covering_cases(const Axes& axes, Backend backend) {
  std::vector<Case> cases;
  for (const std::vector<std::size_t>& row :
       pairwise({axes.metrics.size(), all_dtypes().size(), axes.kinds.size(), axes.shapes.size(), axes.counts.size(),
                 all_layouts().size(), all_layouts().size(), axes.stages.size(), axes.threads.size(),
                 axes.methods.size(), axes.budgets.size(), axes.landmarks.size(), axes.landmarks.size()},
                7)) {
    Case c;
    c.metric = axes.metrics[row[0]];
    c.dtype = all_dtypes()[row[1]];
    c.kind = axes.kinds[row[2]];
    c.shape = axes.shapes[row[3]];
    // One coordinate is always a constant vector.
    if (c.metric.kind == MetricKind::correlation) c.shape.dims = std::max<std::int64_t>(c.shape.dims, 2);
    c.k = k_of(axes.counts[row[4]], c.shape.base_rows);
    c.base_layout = all_layouts()[row[5]];
    c.query_layout = all_layouts()[row[6]];
    c.distance = axes.stages[row[7]];
    c.threads = axes.threads[row[8]];
    c.method = axes.methods[row[9]];
    c.budget = axes.budgets[row[10]];
    c.base_landmarks = axes.landmarks[row[11]];
    c.query_landmarks = axes.landmarks[row[12]];
    c.seed = cases.size() + 1;
    c.backend = backend;
    cases.push_back(c);
  }
  return cases;
}

std::vector<Case> every_metric_type_and_kind(const std::vector<Shape>& shapes,
                                             const std::vector<DistanceStage>& stages) {
  std::vector<Case> cases;
  for (const Metric& metric : all_metrics())
    for (const DType dtype : all_dtypes())
      for (const Kind kind : all_kinds()) {
        const std::size_t turn = cases.size();
        Case c{kind, dtype, metric, shapes[turn % shapes.size()]};
        c.k = k_of(turn % 3 == 0 ? kAll : 8, c.shape.base_rows);
        c.base_layout = all_layouts()[turn % 4];
        c.query_layout = all_layouts()[turn / 4 % 4];
        c.distance = stages[turn % stages.size()];
        c.threads = 1 + static_cast<int>(turn % 3);
        c.seed = turn + 1;
        cases.push_back(c);
      }
  return cases;
}

testing::AssertionResult search_matches(const Case& c) {
  return with_dtype(c.dtype, [&]<Element T>() -> testing::AssertionResult {
    const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
    const Points<T> base(sample.base, c.base_layout);
    const Points<T> queries(sample.queries, c.query_layout);
    const auto got = search(base.view(), queries.view(), c.k, c.options());
    if (got.report.plan.backend != c.backend) return testing::AssertionFailure() << "another backend was taken";
    if (c.method != Method::automatic && got.report.plan.method != c.method)
      return testing::AssertionFailure() << "another method was taken";
    return matches_truth(got, truth_for(sample, c), c.k, agreement_for(c));
  });
}

}  // namespace kith::test
