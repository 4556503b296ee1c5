// Selection by a threshold: what the plan promises, and that rows which break it are still right.
#include <functional>

#include "cuda/runtime/properties.hpp"
#include "cuda/select/threshold_filter.hpp"
#include "plan/select.hpp"
#include "select/selection.hpp"

namespace kith::test {
namespace {

using core::ThresholdPlan;
using plan::plan_threshold;

using Threshold = DeviceTest;

struct Spoiler {
  const char* name;
  std::function<void(ThresholdPlan&, unsigned k)> spoil;
};

// More than one bucket selects another kernel, so at least two remain.
unsigned fewer_buckets(unsigned buckets, unsigned divisor) {
  return std::max(std::min(2U, buckets), buckets / divisor);
}

const std::vector<Spoiler>& spoilers() {
  static const std::vector<Spoiler> all = {
      {"as planned", [](ThresholdPlan&, unsigned) {}},
      {"rank 1: too few candidates", [](ThresholdPlan& plan, unsigned) { plan.rank = 1; }},
      {"half the rank: some rows have too few candidates",
       [](ThresholdPlan& plan, unsigned) { plan.rank = std::max(1U, plan.rank / 2); }},
      {"four times the rank: too many candidates",
       [](ThresholdPlan& plan, unsigned) { plan.rank = std::min(plan.counted(4) - 1, 4 * plan.rank); }},
      {"capacity for k: too many candidates", [](ThresholdPlan& plan, unsigned k) { plan.capacity = plan.staged = k; }},
      {"nothing staged: candidates are finished in global memory",
       [](ThresholdPlan& plan, unsigned) { plan.staged = 0; }},
      {"two buckets", [](ThresholdPlan& plan, unsigned) { plan.buckets = fewer_buckets(plan.buckets, 1000); }},
      {"a half of the buckets", [](ThresholdPlan& plan, unsigned) { plan.buckets = fewer_buckets(plan.buckets, 2); }},
      {"short chunks", [](ThresholdPlan& plan, unsigned) { plan.chunk /= 8; }},
      {"rank 1 and two buckets",
       [](ThresholdPlan& plan, unsigned) {
         plan.rank = 1;
         plan.buckets = fewer_buckets(plan.buckets, 1000);
       }},
  };
  return all;
}

template <class T>
void check_plan(DeviceProblem<T>& problem, const Question& question, const ThresholdPlan& plan) {
  problem.check([&](const device::select::SelectCall<T>& call) { device::select::select_by_threshold(call, plan); },
                question);
}

// The device's, with another number of multiprocessors unless that is 0.
core::DevicePolicy policy_with(unsigned processors) {
  core::DevicePolicy policy = device::device_policy();
  if (processors > 0) policy.hardware.multiprocessors = processors;
  return policy;
}

struct Task {
  Values kind;
  std::int64_t rows;
  unsigned length;
  unsigned k;
  TopkOutput form = TopkOutput::sorted;
  bool largest = false;
  unsigned processors = 0;  // multiprocessors of the plan; 0: those of the device
};

template <class T>
void check_spoilers(const Task& task) {
  const ThresholdPlan planned = plan_threshold(task.rows, task.length, task.k, sizeof(T), policy_with(task.processors));
  if (planned.rank == 0) return;
  const auto problem = make_problem<T>(task.kind, task.rows, task.length, task.largest, Ids::column, {1, 3}, task.k);
  DeviceProblem<T> on_device(problem);
  for (const Spoiler& spoiler : spoilers()) {
    SCOPED_TRACE(testing::Message() << task.rows << " x " << task.length << ' ' << to_string(task.kind)
                                    << ", k = " << task.k << ", " << sizeof(T) << " bytes, " << to_string(task.form)
                                    << "; " << spoiler.name);
    ThresholdPlan plan = planned;
    spoiler.spoil(plan, task.k);
    check_plan<T>(on_device, {task.k, task.form}, plan);
    if (testing::Test::HasFailure()) return;
  }
}

template <class T>
void check_all_spoilers(Values kind, std::int64_t rows, unsigned length, unsigned processors = 0) {
  auto turn = static_cast<std::size_t>(kind);
  const std::vector<unsigned> counts =
      under_sanitizer() ? std::vector{129U, 3000U} : std::vector{1U, 129U, 2048U, 2049U, 3000U};
  for (const unsigned k : counts) {
    set_schedule(turn % kSchedules);
    check_spoilers<T>({kind, rows, length, k, kOutputs[turn % std::size(kOutputs)], turn % 3 == 0, processors});
    if (testing::Test::HasFailure()) return;
    ++turn;
  }
}

TEST_F(Threshold, RowsThatBreakThePlanAreStillRight) {
  check_all_spoilers<float>(Values::random, 2, 20011);
  if (!small_problems()) check_all_spoilers<float>(Values::random, 100, 70001);
}

TEST_F(Threshold, RowsOfDoublesThatBreakThePlanAreStillRight) {
  check_all_spoilers<double>(Values::random, 2, 20011);
  if (!small_problems()) check_all_spoilers<double>(Values::random, 3, 1000003);
}

TEST_F(Threshold, OrderedRowsThatBreakThePlanAreStillRight) {
  check_all_spoilers<float>(Values::descending, 1, 9984);
  check_all_spoilers<float>(Values::late, 1, 12345);
}

TEST_F(Threshold, EqualValuesThatBreakThePlanAreStillRight) {
  check_all_spoilers<float>(Values::all_equal, 1, 9999);
  check_all_spoilers<float>(Values::special, 1, 14000);
  check_all_spoilers<double>(Values::few_distinct, 1, 14001);
}

// Many rows are sampled and finished by smaller groups.
TEST_F(Threshold, ManyRowsThatBreakThePlanAreStillRight) {
  const std::int64_t rows = 4 * device::device_policy().hardware.multiprocessors + 1;
  for (const unsigned k : {1U, 20U, 100U, 200U})
    check_spoilers<float>({Values::random, rows, small_problems() ? 5003U : 20011U, k, TopkOutput::sorted, k == 20});
  check_spoilers<double>({Values::few_distinct, rows, small_problems() ? 5003U : 20011U, 100});
}

// Many rows for few multiprocessors: one block samples, filters and finishes a row.
TEST_F(Threshold, WholeRowsThatBreakThePlanAreStillRight) {
  constexpr unsigned kLength = 6001;
  ASSERT_TRUE(plan_threshold(16, kLength, 129, 4, policy_with(1)).whole_rows);
  for (const Values kind : {Values::random, Values::special})
    for (const unsigned k : {129U, 300U})
      check_spoilers<float>({kind, 16, kLength, k, TopkOutput::sorted, k == 129, 1});
}

// There may be more buckets than a block has threads.
TEST_F(Threshold, ManyBucketsAreFilled) {
  const auto problem = make_problem<float>(Values::random, 1, 9999, false, Ids::column, {}, 8);
  DeviceProblem<float> on_device(problem);
  ThresholdPlan plan = plan_threshold(1, 9999, 2500, sizeof(float), device::device_policy());
  plan.buckets = 300;
  for_each_schedule([&] { check_plan<float>(on_device, {2500}, plan); });
}

// Several blocks sample one row, which the planner chooses only for rows of many millions.
TEST_F(Threshold, PartsOfARowAgree) {
  constexpr unsigned kLength = 20011;
  for (const Values kind : {Values::random, Values::few_distinct, Values::special}) {
    const auto problem = make_problem<float>(kind, 2, kLength, false, Ids::column, {2, 1}, 7);
    DeviceProblem<float> on_device(problem);
    for_each_schedule([&] {
      for (const unsigned k : {1U, 20U, 100U}) {
        ThresholdPlan plan = plan_threshold(2, kLength, k, sizeof(float), device::device_policy());
        plan.parts = 4;
        plan.samples = 1216;
        plan.sample_interval = (std::uint64_t{kLength} << 16U) / (plan.samples / plan.samples_per_load);
        plan.rank = std::min(plan.rank, 30U);
        SCOPED_TRACE(testing::Message() << to_string(kind) << ", k = " << k);
        check_plan<float>(on_device, {k}, plan);
      }
    });
  }
}

#if !defined(KITH_IS_EMULATED)
TEST_F(Threshold, AVeryLongRowIsSampledInParts) {
  const unsigned length = under_sanitizer() ? 9000001 : 70000001;
  ASSERT_GT(plan_threshold(1, length, 100, 4, device::device_policy()).parts, 1U);
  const auto problem = make_problem<float>(Values::random, 1, length, false, Ids::column, {}, 7);
  DeviceProblem<float> on_device(problem);
  for (const unsigned k : {1U, 100U, 2048U, 50000U})
    on_device.check(device::select::methods::threshold_filter<float>, {k});
}
#endif

void check_as_planned(const RowsProblem<float>& problem, const std::vector<unsigned>& counts) {
  DeviceProblem<float> on_device(problem);
  for (const unsigned k : counts) {
    SCOPED_TRACE(testing::Message() << "k = " << k);
    check_plan<float>(on_device, {k}, plan_threshold(problem.rows, problem.length, k, 4, device::device_policy()));
  }
}

// The smallest values are adjacent in the row, so that most samples miss them.
TEST_F(Threshold, AdjacentWinnersAreFound) {
  for (const unsigned first : {0U, 777U, 19011U}) {
    SCOPED_TRACE(testing::Message() << "winners from " << first);
    auto problem = make_problem<float>(Values::random, 2, 20011, false, Ids::column, {}, 4);
    for (unsigned i = 0; i < 1000; ++i) problem.values[first + i] -= 10;
    check_as_planned(problem, {10, 1000, 2500});
  }
}

// Correlated neighbors make a sample worth less than its size: some rows have too few or too many candidates.
TEST_F(Threshold, SmoothRowsAreRight) {
  auto problem = make_problem<float>(Values::random, 6, 20011, false, Ids::column, {}, 9);
  for (std::size_t i = 0; i < problem.values.size(); ++i)
    problem.values[i] = problem.values[i / 64 * 64] + 1e-6F * static_cast<float>(i % 64);
  check_as_planned(problem, {1, 10, 300, 2048, 3000});
}

// A row with so few numbers that a sample gives no threshold.
TEST_F(Threshold, RowsOfLittleButNanAreRight) {
  auto problem = make_problem<float>(Values::all_nan, 2, 20011, false, Ids::column, {}, 3);
  for (unsigned i = 0; i < 30; ++i) problem.values[i * 1300] = static_cast<float>(i);
  check_as_planned(problem, {1, 10, 40, 2048, 3000});
}

// With dependent launches a kernel may start before the previous one ends: calls must not share workspace.
TEST_F(Threshold, ConsecutiveCallsDoNotInterfere) {
  const auto problem = make_problem<float>(Values::random, 3, 20011, false, Ids::column, {}, 11);
  DeviceProblem<float> on_device(problem);
  for (const unsigned k : {40U, 3000U}) {
    on_device.check(
        [&](const device::select::SelectCall<float>& call) {
          device::select::Rows<float> other = call.rows;
          other.values += 1;
          other.length -= 1;
          device::select::Output<float> output = call.output;
          output.source = other;
          for (int i = 0; i < 3; ++i) {
            device::select::methods::threshold_filter<float>({other, output, call.tuning, call.workspace});
            call.workspace.reset();
          }
          device::select::methods::threshold_filter(call);
        },
        {k});
  }
}

}  // namespace
}  // namespace kith::test
