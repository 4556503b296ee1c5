// must.cpp: the shapes that the automatic choice has to be good at, and how good.
#include "device/select/select_case.hpp"

namespace kith::bench::device::select {
namespace {

constexpr double kTimesRandom = 3;

struct GoalOfK {
  unsigned k;
  Goal goal;
};

struct Goals {
  std::int64_t rows;
  unsigned length;
  std::vector<GoalOfK> goals;
};

GoalOfK at_least(unsigned k, double fraction) {
  return {k, {.fraction = fraction}};
}

GoalOfK at_most(unsigned k, double ms) {
  return {k, {.ms = ms}};
}

std::vector<Goals> all_goals() {
  return {
      {2048,
       1U << 20,
       {at_least(1, 0.88), at_least(10, 0.88), at_least(32, 0.88), at_least(128, 0.88), at_least(256, 0.88),
        at_least(512, 0.80), at_least(1024, 0.80), at_least(2048, 0.65)}},
      {8192,
       1U << 15,
       {at_least(10, 0.70), at_least(32, 0.70), at_least(128, 0.50), at_least(512, 0.35), at_least(2048, 0.20)}},
      {64,
       1U << 20,
       {at_least(10, 0.60), at_least(32, 0.60), at_least(128, 0.60), at_least(256, 0.60), at_least(2048, 0.40)}},
      {1, 1U << 27, {at_least(1, 0.75), at_least(10, 0.75), at_least(256, 0.75), at_least(2048, 0.75)}},
      {256, 1U << 20, {at_most(8192, 0.55), at_most(65536, 1.9), at_most(262144, 4.5)}},
  };
}

SelectCase case_for(const Goals& goals, Pattern pattern) {
  SelectCase made;
  made.figure = "must";
  made.shape = {goals.rows, goals.length, pattern};
  made.rounds = 9;
  made.reads = true;
  for (const auto& [k, goal] : goals.goals)
    made.entries.push_back(
        {{"auto", "auto"}, k, true, pattern == Pattern::random ? goal : Goal{.times_random = kTimesRandom}});
  return made;
}

}  // namespace

Suite must_suite(const Settings& settings) {
  std::vector<SelectCase> cases;
  for (const Pattern pattern : {Pattern::random, Pattern::descending, Pattern::equal, Pattern::smooth})
    for (const Goals& goals : all_goals()) cases.push_back(case_for(goals, pattern));
  return make_suite("must", "the automatic choice against the bandwidth of a plain read", "", cases, {}, settings);
}

}  // namespace kith::bench::device::select
