// must.cpp: the shapes that the automatic choice has to be good at, and how good.
#include "suite.hpp"

namespace kith::select_bench {
namespace {

constexpr double kTimesRandom = 3;

struct Goal {
  unsigned k;
  Bar bar;
};

struct Goals {
  std::int64_t rows;
  unsigned length;
  std::vector<Goal> goals;
};

Goal at_least(unsigned k, double fraction) {
  return {k, {.fraction = fraction}};
}

Goal at_most(unsigned k, double ms) {
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

Heat heat_for(const Goals& goals, Pattern pattern) {
  Heat heat;
  heat.figure = "must";
  heat.shape = {goals.rows, goals.length, pattern};
  heat.rounds = 9;
  heat.reads = true;
  for (const Goal& goal : goals.goals) {
    const Bar bar = pattern == Pattern::random ? goal.bar : Bar{.times_random = kTimesRandom};
    heat.entries.push_back({{"auto", "auto"}, goal.k, true, bar});
  }
  return heat;
}

}  // namespace

Suite must_suite() {
  Suite suite{"must", "the automatic choice against the bandwidth of a plain read", "", {}};
  for (const Pattern pattern : {Pattern::random, Pattern::descending, Pattern::equal, Pattern::smooth})
    for (const Goals& goals : all_goals()) suite.heats.push_back(heat_for(goals, pattern));
  return suite;
}

}  // namespace kith::select_bench
