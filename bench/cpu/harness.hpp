// harness.hpp: runs a row: makes the data and the contenders, checks every answer, then times them in rounds
// (race.hpp). Exact contenders must give the checked answer again every time. A peer takes part in so many rounds that
// its runs stay within kPeerBudgetMs, but in one at least.
#pragma once

#include <string>
#include <vector>

#include "common/check.hpp"
#include "common/statistics.hpp"
#include "cpu/contenders/contenders.hpp"
#include "cpu/problem/row.hpp"

namespace kith::bench {

inline constexpr double kPeerBudgetMs = 10000;
inline constexpr double kBusyFraction = 0.02;

struct ContenderResult : Times {
  Kind kind = Kind::kith;
  std::string name;
  std::string absent;  // why it did not take part
  Verdict verdict;     // with a fault there are no times
  std::string note;
  Work work;
  double build_ms = 0;
};

struct BarResult {
  Bar bar;
  bool judged = false;  // both were timed, and a peer's answer is exact enough to compare with
  double ratio = 0;     // subject / against, medians
  bool ok() const { return judged && ratio <= bar.limit; }
};

struct RowResult {
  RowSpec row;
  std::vector<ContenderResult> contenders;  // the subject first
  std::vector<BarResult> bars;
  double waited = 0;  // fraction of the timed thread-seconds that threads stood in line for a core

  bool busy() const { return waited > kBusyFraction; }  // others used the machine, so the times are not to be trusted
  bool wrong() const;                                   // an answer was, so the run has failed
  const ContenderResult* find(Kind kind) const;
};

// Ratio of medians; 0 when one of them has no times.
double ratio(const Times& a, const Times& b);

RowResult run_row(const RowSpec& row, int threads, int rounds);

// The part after set-up, for contenders of any kind.
template <Element T>
RowResult race(const Problem<T>& problem, std::vector<Entry> entries, int rounds);

}  // namespace kith::bench
