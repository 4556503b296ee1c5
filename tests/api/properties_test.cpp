// Properties: random problems of the generator against the oracle. A failure shrinks to a small case and prints it.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "kith/index.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"

namespace kith::test {
namespace {

Case random_case(std::int64_t most_rows) {
  Case c;
  c.metric = *rc::gen::elementOf(all_metrics());
  c.dtype = *rc::gen::elementOf(all_dtypes());
  c.kind = *rc::gen::elementOf(all_kinds());
  c.shape.base_rows = *rc::gen::inRange<std::int64_t>(1, most_rows + 1);
  c.shape.queries = *rc::gen::inRange<std::int64_t>(1, 41);
  c.shape.dims = *rc::gen::inRange<std::int64_t>(c.metric.kind == MetricKind::correlation ? 2 : 1, 201);
  c.k = *rc::gen::inRange<std::int64_t>(1, c.shape.base_rows + 1);
  c.base_layout = *rc::gen::elementOf(all_layouts());
  c.query_layout = *rc::gen::elementOf(all_layouts());
  c.distance = *rc::gen::elementOf(distance_stages(Backend::cpu));
  c.threads = *rc::gen::inRange(0, 5);
  c.budget = *rc::gen::element<std::int64_t>(0, std::int64_t{4} << 20);
  c.seed = *rc::gen::inRange<std::uint64_t>(1, 1000000);
  return c;
}

// As one value, so that a failure prints it whole.
Case any_case(std::int64_t most_rows) {
  return *rc::gen::exec([most_rows] { return random_case(most_rows); });
}

void require(const testing::AssertionResult& result, const Case& c) {
  if (result) return;
  RC_LOG() << c << '\n' << result.message() << '\n';
  RC_FAIL("the answer is not the oracle's");
}

void check_search(DType dtype) {
  Case c = any_case(400);
  c.dtype = dtype;
  try {
    explain({c.shape.base_rows, c.shape.queries, c.shape.dims, c.k, c.dtype}, c.options());
  } catch (const Error& error) {
    RC_ASSERT(error.code() == ErrorCode::invalid_argument);  // a stage that does not take this problem
    RC_ASSERT(c.distance != DistanceStage::automatic);
    c.distance = DistanceStage::automatic;
  }
  require(search_matches(c), c);
}

RC_GTEST_PROP(Properties, Float32SearchIsTheOracle, ()) {
  check_search(DType::float32);
}
RC_GTEST_PROP(Properties, Float64SearchIsTheOracle, ()) {
  check_search(DType::float64);
}
RC_GTEST_PROP(Properties, Uint8SearchIsTheOracle, ()) {
  check_search(DType::uint8);
}
RC_GTEST_PROP(Properties, Int8SearchIsTheOracle, ()) {
  check_search(DType::int8);
}

RC_GTEST_PROP(Properties, TriangleIsBruteForceWhateverTheLandmarks, ()) {
  Case c = any_case(400);
  if (c.metric.kind == MetricKind::inner_product) c.metric = MetricKind::euclidean;
  c.distance = DistanceStage::automatic;
  c.budget = 0;
  c.base_landmarks = *rc::gen::inRange<std::int64_t>(0, 402);
  c.query_landmarks = *rc::gen::inRange<std::int64_t>(0, 42);
  with_dtype(c.dtype, [&]<class T>() {
    const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
    c.method = Method::brute;
    const auto want = search(sample, c.k, c.options());
    c.method = Method::triangle;
    require(same_answer(search(sample, c.k, c.options()), want), c);
  });
}

RC_GTEST_PROP(Properties, SearchSelfIsTheOracleWithoutThePoint, ()) {
  Case c = any_case(150);
  c.shape.base_rows = std::max<std::int64_t>(c.shape.base_rows, 2);
  c.k = std::clamp<std::int64_t>(c.k, 1, c.shape.base_rows - 1);
  c.distance = DistanceStage::automatic;
  with_dtype(c.dtype, [&]<class T>() {
    Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
    sample.queries = sample.base;
    const Points<T> base(sample.base, c.base_layout);
    const Index<T> index(base.view(), c.options());
    require(matches_truth(index.search_self(c.k), truth_for(sample, c), c.k, agreement_for(c), true), c);
  });
}

// Any two ways to ask for the same thing: stages, threads, batches.
RC_GTEST_PROP(Properties, HowItIsDoneDoesNotMatter, ()) {
  const Case c = any_case(400);
  with_dtype(c.dtype, [&]<class T>() {
    const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
    Options plain;
    plain.metric = c.metric;
    plain.backend = c.backend;  // minkowski's powers are those of the backend
    plain.threads = 1;
    const auto want = search(sample, c.k, plain);
    Options options = c.options();
    options.distance = DistanceStage::automatic;
    const Points<T> base(sample.base, c.base_layout);
    const Index<T> index(base.view(), options);
    const std::int64_t query = *rc::gen::inRange<std::int64_t>(0, c.shape.queries);
    const auto one = index.search(sample.queries.view().rows_from(query, 1), c.k);
    RC_ASSERT(std::equal(one.ids.begin(), one.ids.end(), want.ids_of(query).begin()));
    RC_ASSERT(std::equal(one.distances.begin(), one.distances.end(), want.distances_of(query).begin()));
  });
}

// The first j of k neighbors are the j neighbors.
RC_GTEST_PROP(Properties, SmallerKIsAPrefix, ()) {
  const Case c = any_case(400);
  const std::int64_t fewer = *rc::gen::inRange<std::int64_t>(1, c.k + 1);
  const Options options = options_for(c.metric);
  with_dtype(c.dtype, [&]<class T>() {
    const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
    const auto all = search(sample, c.k, options);
    const auto few = search(sample, fewer, options);
    for (std::int64_t i = 0; i < c.shape.queries; ++i) {
      RC_ASSERT(std::equal(few.ids_of(i).begin(), few.ids_of(i).end(), all.ids_of(i).begin()));
      RC_ASSERT(std::equal(few.distances_of(i).begin(), few.distances_of(i).end(), all.distances_of(i).begin()));
    }
  });
}

}  // namespace
}  // namespace kith::test
