// Comparing answers: each function says what differs, where, and by how much.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kith/search.hpp"
#include "support/fails_with.hpp"
#include "support/oracle.hpp"

namespace kith::test {

// The answer is the oracle's: same shape, same ids, same distances, as closely as `agreement` asks. Where it allows an
// error, ids may differ among distances that lie within it, but must be distinct and sorted by what was returned.
template <class D>
testing::AssertionResult matches_truth(const Neighbors<D>& got, const Truth<D>& truth, std::int64_t k,
                                       Agreement agreement = {}, bool self_excluded = false);

// Bit for bit the same ids and distances.
template <class D>
testing::AssertionResult same_answer(const Neighbors<D>& got, const Neighbors<D>& want);

// The answer to the queries of a sample.
template <Element T>
Neighbors<DistanceOf<T>> search(const Sample<T>& sample, std::int64_t k, const Options& options = {}) {
  return kith::search(sample.base.view(), sample.queries.view(), k, options);
}

// It is the oracle's, bit for bit, and was found by the method that was asked for.
template <Element T>
testing::AssertionResult finds_the_truth(const Sample<T>& sample, std::int64_t k, const Options& options = {}) {
  const auto got = search(sample, k, options);
  if (options.method != Method::automatic && got.report.plan.method != options.method)
    return testing::AssertionFailure() << "method " << to_string(got.report.plan.method) << " was taken";
  return matches_truth(got, truth_of(sample, options.metric), k);
}

// The distance stages of the CPU that take points of this type, where the metric is a product.
std::vector<DistanceStage> stages_of(DType dtype);

// The distance stages of the CPU that take this problem. The others refuse it as an invalid argument; `auto` never
// does.
template <Element T>
std::vector<DistanceStage> usable_stages(const Sample<T>& sample, const Metric& metric, std::int64_t k) {
  std::vector<DistanceStage> usable;
  Options options = options_for(metric);
  for (const DistanceStage stage : distance_stages(Backend::cpu)) {
    options.distance = stage;
    try {
      explain({sample.base.rows(), sample.queries.rows(), sample.base.cols(), k, dtype_of<T>()}, options);
      usable.push_back(stage);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      EXPECT_NE(stage, DistanceStage::automatic) << error.what();
    }
  }
  return usable;
}

// |got − want| within the agreement; equal infinities agree, NaN never does.
bool agrees(double got, double want, Agreement agreement);

// Calls work(0), work(1), … in as many threads at once; each must succeed.
void expect_at_once(std::size_t threads, const std::function<testing::AssertionResult(std::size_t)>& work);

// What `work` wrote on stdout and stderr.
std::string printed_by(const std::function<void()>& work);

}  // namespace kith::test
