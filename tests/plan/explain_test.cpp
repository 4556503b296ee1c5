// Promise 6, the plan can be read: explain() is a pure function whose plan is consistent, printable and what search()
// then does; a method or stage can be forced by name.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "kith/plan.hpp"
#include "kith/search.hpp"
#include "support/compare.hpp"
#include "support/on_backend.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

using Shapes = std::vector<Problem>;

const Shapes& shapes() {
  static const Shapes all = {
      {1, 1, 1, 1, DType::float32},
      {100, 7, 3, 100, DType::float64},
      {1000000, 1, 128, 10, DType::float32},
      {1000000, 10000, 128, 10, DType::float32},
      {100000, 1000, 16, 1000, DType::float32},
      {60000, 10000, 784, 10, DType::uint8},
      {5000, 5000, 300, 4999, DType::int8},
      {20000, 20000, 2, 8, DType::float64},
      {1000000000, 1000000, 960, 100, DType::float32},
  };
  return all;
}

// Nothing that depends on the moment: the default budget is a share of what is free.
Options settled() {
  Options options;
  options.backend = Backend::cpu;
  options.threads = 4;
  options.memory_budget = std::int64_t{1} << 34;
  return options;
}

template <class Value>
bool contains(const std::vector<Value>& values, Value value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

void expect_equal(const Plan& a, const Plan& b) {
  EXPECT_EQ(to_string(a), to_string(b));
  EXPECT_EQ(a.distance, b.distance);
  EXPECT_EQ(a.select, b.select);
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.query_block, b.query_block);
  EXPECT_EQ(a.base_tile, b.base_tile);
  EXPECT_EQ(a.base_splits, b.base_splits);
  EXPECT_EQ(a.candidates, b.candidates);
  EXPECT_EQ(a.workspace_bytes, b.workspace_bytes);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.alternatives.size(), b.alternatives.size());
}

TEST(Promise6ThePlanCanBeRead, IsTheSameForTheSameInput) {
  for (const Problem& problem : shapes()) expect_equal(explain(problem, settled()), explain(problem, settled()));
}

void expect_consistent(const Plan& plan, const Problem& problem, const Options& options) {
  EXPECT_EQ(plan.problem.base_rows, problem.base_rows);
  EXPECT_EQ(plan.problem.queries, problem.queries);
  EXPECT_EQ(plan.problem.dims, problem.dims);
  EXPECT_EQ(plan.problem.k, problem.k);
  EXPECT_EQ(plan.problem.dtype, problem.dtype);
  EXPECT_EQ(plan.metric, options.metric);
  EXPECT_EQ(plan.backend, Backend::cpu);
  EXPECT_NE(plan.method, Method::automatic);
  EXPECT_TRUE(contains(search_methods(Backend::cpu), plan.method));
  EXPECT_TRUE(contains(distance_stages(Backend::cpu), plan.distance)) << plan.distance;
  EXPECT_NE(plan.distance, DistanceStage::automatic);
  EXPECT_TRUE(contains(select_methods(Backend::cpu), plan.select)) << plan.select;
  EXPECT_NE(plan.select, SelectMethod::automatic);
  EXPECT_GE(plan.threads, 1);
  EXPECT_LE(plan.threads, options.threads);
  EXPECT_GE(plan.query_block, 1);
  EXPECT_LE(plan.query_block, problem.queries);
  EXPECT_GE(plan.base_tile, 1);
  EXPECT_LE(plan.base_tile, problem.base_rows);
  EXPECT_GE(plan.base_splits, 1);
  EXPECT_LE(plan.base_splits, problem.base_rows);
  EXPECT_GE(plan.candidates, problem.k);
  EXPECT_GE(plan.workspace_bytes, 0);
  EXPECT_LE(plan.workspace_bytes, plan.budget_bytes);
  EXPECT_EQ(plan.budget_bytes, options.memory_budget);
  EXPECT_TRUE(std::isfinite(plan.seconds));
  EXPECT_GT(plan.seconds, 0);
  EXPECT_FALSE(plan.reason.empty());
  double cheapest = 0;
  for (const Plan::Alternative& other : plan.alternatives) {
    EXPECT_TRUE(contains(distance_stages(Backend::cpu), other.distance)) << other.distance;
    EXPECT_TRUE(other.distance != plan.distance || plan.method == Method::tree) << other.distance;
    EXPECT_GE(other.seconds, cheapest) << "cheapest first";
    cheapest = other.seconds;
  }
  if (options.distance == DistanceStage::automatic && !plan.alternatives.empty()) {
    EXPECT_LE(plan.seconds, plan.alternatives[0].seconds);
  }
}

TEST(Promise6ThePlanCanBeRead, FieldsAreConsistent) {
  for (const Metric& metric : all_metrics()) {
    for (const Problem& problem : shapes()) {
      Options options = settled();
      options.metric = metric;
      SCOPED_TRACE(kith::to_string(metric) + " n=" + std::to_string(problem.base_rows));
      expect_consistent(explain(problem, options), problem, options);
    }
  }
}

TEST(Promise6ThePlanCanBeRead, PrintsItself) {
  const Problem problem{123457, 891, 77, 13, DType::uint8};
  Options options = settled();
  options.metric = MetricKind::manhattan;
  const Plan plan = explain(problem, options);
  const std::string text = to_string(plan);
  for (const char* part : {"123457", "891", "77", "13", "uint8", "manhattan", "cpu", to_string(plan.method),
                           to_string(plan.distance), to_string(plan.select), plan.reason.c_str()}) {
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in:\n" << text;
  }
  EXPECT_GT(std::count(text.begin(), text.end(), '\n'), 2);
  std::ostringstream out;
  out << plan;
  EXPECT_EQ(out.str(), text);
}

TEST(Promise6ThePlanCanBeRead, IsWhatSearchDoes) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {3000, 40, 20}, MetricKind::euclidean, 1);
  const Plan plan = explain({3000, 40, 20, 9, DType::float32}, settled());
  expect_equal(search(sample.base.view(), sample.queries.view(), 9, settled()).report.plan, plan);
}

TEST(Promise6ThePlanCanBeRead, AutomaticBackendIsOneThatIsThere) {
  Options options = settled();
  options.backend = Backend::automatic;
  EXPECT_TRUE(is_available(explain({1000, 10, 8, 5, DType::float32}, options).backend));
}

TEST(Promise6AForcedMethod, IsHonouredOrRefusedByName) {
  const std::vector<Method> known = search_methods(Backend::cpu);
  for (const Method method : {Method::automatic, Method::brute, Method::two_stage, Method::fused, Method::triangle,
                              Method::shifted_sort, Method::tree}) {
    Options options = settled();
    options.method = method;
    const auto plan = [&] { return explain({1000, 10, 8, 5, DType::float32}, options); };
    if (!contains(known, method)) {
      EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {to_string(method), "cpu"}, plan));
    } else if (method != Method::automatic) {
      EXPECT_EQ(plan().method, method);
    }
  }
}

TEST(Promise6AForcedMethod, AForcedDistanceStageIsHonouredOrSaysWhyNot) {
  for (const Metric& metric : all_metrics()) {
    for (const Problem& problem : shapes()) {
      for (const DistanceStage stage : distance_stages(Backend::cpu)) {
        Options options = settled();
        options.metric = metric;
        options.distance = stage;
        try {
          const Plan plan = explain(problem, options);
          expect_consistent(plan, problem, options);
          EXPECT_TRUE(stage == DistanceStage::automatic || plan.distance == stage)
              << plan.distance << " instead of " << stage;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
          EXPECT_NE(std::string(error.what()).find(to_string(stage)), std::string::npos) << error.what();
          EXPECT_NE(stage, DistanceStage::automatic) << error.what();
        }
      }
    }
  }
}

TEST(Promise6AForcedMethod, AForcedSelectionIsHonouredOrSaysWhyNot) {
  for (const Problem& problem : shapes()) {
    for (const SelectMethod name : select_methods(Backend::cpu)) {
      Options options = settled();
      options.select = name;
      try {
        const Plan plan = explain(problem, options);
        EXPECT_TRUE(name == SelectMethod::automatic || plan.select == name) << plan.select << " instead of " << name;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
        EXPECT_NE(std::string(error.what()).find(to_string(name)), std::string::npos) << error.what();
        EXPECT_NE(name, SelectMethod::automatic) << error.what();
      }
    }
  }
}

TEST(Explain, RefusesWhatSearchWouldRefuse) {
  const auto refuses = [](const Problem& problem, const Options& options, const std::vector<std::string>& parts) {
    return fails_with(ErrorCode::invalid_argument, parts, [&] { explain(problem, options); });
  };
  const Options options = settled();
  EXPECT_TRUE(refuses({10, 5, 3, 0, DType::float32}, options, {"k = 0"}));
  EXPECT_TRUE(refuses({10, 5, 3, 12, DType::float32}, options, {"k = 12", "10"}));
  EXPECT_TRUE(refuses({0, 5, 3, 1, DType::float32}, options, {}));
  EXPECT_TRUE(refuses({10, 0, 3, 1, DType::float32}, options, {}));
  EXPECT_TRUE(refuses({10, 5, 0, 1, DType::float32}, options, {}));
  EXPECT_TRUE(refuses({-10, 5, 3, 1, DType::float32}, options, {}));
  EXPECT_TRUE(refuses({std::int64_t{1} << 62, 5, 300, 1, DType::float32}, options, {}));
  Options wrong = options;
  wrong.distance = DistanceStage::fp16;
  EXPECT_TRUE(refuses({10, 5, 3, 1, DType::float32}, wrong, {"fp16", "cpu"}));
  wrong = options;
  wrong.metric = Metric::minkowski(0.25);
  EXPECT_TRUE(refuses({10, 5, 3, 1, DType::float32}, wrong, {"0.25"}));
  wrong = options;
  wrong.threads = -3;
  EXPECT_TRUE(refuses({10, 5, 3, 1, DType::float32}, wrong, {"-3"}));
}

TEST(Explain, BackendsThatAreNotThereAreNamed) {
  for (const Backend backend : {Backend::cuda, Backend::emulated}) {
    if (is_available(backend)) continue;
    Options options = settled();
    options.backend = backend;
    EXPECT_TRUE(fails_with(ErrorCode::no_device, {to_string(backend)}, [&] {
      explain({10, 5, 3, 1, DType::float32}, options);
    }));
  }
}

TEST(Explain, ABudgetTooSmallNamesTheLeast) {
  Options options = settled();
  options.memory_budget = 1;
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"1"}, [&] {
    explain({1000000, 1000, 128, 10, DType::float32}, options);
  }));
}

TEST(Explain, TheDefaultBudgetIsAShareOfTheMachine) {
  Options options;
  options.backend = Backend::cpu;
  const Plan plan = explain({100000, 100, 32, 10, DType::float32}, options);
  EXPECT_GT(plan.budget_bytes, 1 << 20);
  EXPECT_LE(plan.workspace_bytes, plan.budget_bytes);
  EXPECT_GE(plan.threads, 1);
}

TEST(Explain, MoreWorkIsNotPredictedToBeFaster) {
  double before = 0;
  for (const std::int64_t rows : {1000, 10000, 100000, 1000000, 10000000}) {
    const double seconds = explain({rows, 1000, 64, 10, DType::float32}, settled()).seconds;
    EXPECT_GT(seconds, before);
    before = seconds;
  }
}

}  // namespace
}  // namespace kith::test
