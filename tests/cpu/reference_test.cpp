// The library's own reference against the independent oracle of the tests: two obvious programs that must agree.
#include "cpu/reference.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

template <Element T>
void expect_agreement(const Case& c) {
  using D = DistanceOf<T>;
  const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
  const Points<T> base(sample.base, c.base_layout);
  const Points<T> queries(sample.queries, c.query_layout);
  const Agreement agreement = agreement_for(c);
  Neighbors<D> got{c.shape.queries, c.k, {}, {}, {}};
  for (std::int64_t i = 0; i < c.shape.queries; ++i) {
    for (const core::Hit<D>& hit : cpu::reference_search(c.metric, base.view(), queries.view(), i, c.k)) {
      got.ids.push_back(hit.id);
      got.distances.push_back(core::returned_value(c.metric, hit.key));
    }
  }
  EXPECT_TRUE(matches_truth(got, truth_for(sample, c), c.k, agreement)) << c;
}

TEST(Reference, AgreesWithTheOracle) {
  std::uint64_t turn = 0;
  for (const Metric& metric : all_metrics()) {
    for (const DType dtype : all_dtypes()) {
      for (const Kind kind : all_kinds()) {
        Case c;
        c.metric = metric;
        c.dtype = dtype;
        c.kind = kind;
        c.shape = turn % 2 == 0 ? Shape{60, 4, 19} : Shape{25, 6, 80};
        c.k = turn % 3 == 0 ? c.shape.base_rows : 8;
        c.base_layout = all_layouts()[turn % 4];
        c.query_layout = all_layouts()[turn / 4 % 4];
        c.seed = ++turn;
        with_dtype(dtype, [&]<class T>() { expect_agreement<T>(c); });
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
