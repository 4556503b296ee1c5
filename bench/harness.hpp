// harness.hpp: runs a row: makes the data and the contenders, checks every answer, then times them in rounds.
//
// Each round runs every contender once, in a shuffled order, so that a slow phase of the machine or what a predecessor
// leaves in the cache meets all alike. Exact contenders must give the checked answer again every time. A contender that
// takes longer than kSlowMs runs in the first kSlowRounds rounds only.
#pragma once

#include <string>
#include <vector>

#include "check.hpp"
#include "contenders/contenders.hpp"
#include "row.hpp"

namespace kith::bench {

inline constexpr double kSlowMs = 2000;
inline constexpr int kSlowRounds = 3;

struct ContenderResult {
  Kind kind = Kind::kith;
  std::string name;
  std::string absent;  // why it did not take part
  Verdict verdict;     // with a fault there are no times
  std::string note;
  Work work;
  double build_ms = 0;
  std::vector<double> samples_ms;

  bool timed() const { return !samples_ms.empty(); }
  double median_ms() const;
  double min_ms() const;
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

  bool wrong() const;  // an answer was, so the run has failed
  const ContenderResult* find(Kind kind) const;
};

double median(std::vector<double> values);

// Ratio of medians; 0 when one of them has no times.
double ratio(const ContenderResult& a, const ContenderResult& b);

RowResult run_row(const RowSpec& row, int threads, int rounds);

// The part after set-up, for contenders of any kind.
template <Element T>
RowResult race(const Problem<T>& problem, std::vector<Entry> entries, int rounds);

}  // namespace kith::bench
