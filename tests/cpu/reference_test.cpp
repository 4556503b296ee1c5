// The library's own reference against the independent oracle of the tests: two obvious programs that must agree.
#include "cpu/reference.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"

namespace kith::test {
namespace {

template <Element T>
void expect_agreement(const Case& c) {
  using D = DistanceOf<T>;
  const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
  const Points<T> base(sample.base, c.base_layout);
  const Points<T> queries(sample.queries, c.query_layout);
  Neighbors<D> got{c.shape.queries, c.k, {}, {}, {}};
  for (std::int64_t i = 0; i < c.shape.queries; ++i) {
    for (const core::Hit<D>& hit : cpu::reference_search(c.metric, base.view(), queries.view(), i, c.k)) {
      got.ids.push_back(hit.id);
      got.distances.push_back(core::returned_value(c.metric, hit.key));
    }
  }
  EXPECT_TRUE(matches_truth(got, truth_for(sample, c), c.k, agreement_for(c))) << c;
}

TEST(Reference, AgreesWithTheOracle) {
  for (const Case& c : every_metric_type_and_kind({{60, 4, 19}, {25, 6, 80}}))
    with_dtype(c.dtype, [&]<class T>() { expect_agreement<T>(c); });
}

}  // namespace
}  // namespace kith::test
