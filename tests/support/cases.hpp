// cases.hpp: cases that cover what a search depends on, and the search of one beside the oracle.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/problem.hpp"

namespace kith::test {

// Numbers of neighbors that depend on the base.
inline constexpr std::int64_t kThird = -3;
inline constexpr std::int64_t kAllButOne = -1;
inline constexpr std::int64_t kAll = std::int64_t{1} << 40;

// Small enough for the oracle and an emulator, odd enough for every remainder loop.
std::vector<Shape> small_shapes();

// What a case may be made of, beside every element type and every layout of either set.
struct Axes {
  std::vector<Shape> shapes = small_shapes();
  std::vector<DistanceStage> stages = {DistanceStage::automatic};
  std::vector<Metric> metrics = all_metrics();
  std::vector<Kind> kinds = all_kinds();
  std::vector<std::int64_t> counts = {1, 2, 10, 100, kThird, kAllButOne, kAll};  // of neighbors; too many are all
  std::vector<Method> methods = {Method::automatic};
  std::vector<int> threads = {0};
  std::vector<std::int64_t> budgets = {0};
  std::vector<std::int64_t> landmarks = {0};
};

// Few cases in which every pair of values of every two axes occurs.
std::vector<Case> covering_cases(const Axes& axes, Backend backend = Backend::cpu);

// Every metric with every element type and every kind of data; shapes, stages, layouts and threads take turns.
std::vector<Case> every_metric_type_and_kind(const std::vector<Shape>& shapes,
                                             const std::vector<DistanceStage>& stages = {DistanceStage::automatic});

// The search of a case, on its backend and by its method, is the oracle's. Lets the library's errors through.
testing::AssertionResult search_matches(const Case& c);

}  // namespace kith::test
