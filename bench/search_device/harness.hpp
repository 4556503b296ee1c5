// harness.hpp: runs problems: makes the points, checks every answer, then times the contenders in rounds.
//
// A contender is a plan: the planner's own, with whatever the contender forces. The first run is checked (check.hpp);
// later runs must give the same answer. Each round runs every contender once, in a shuffled order. Before each run the
// answer is made void and the L2 cache is filled with something else. Times are from one event to another around the
// call of a search on an index that is ready, or that is made for it: all it does on the device, and its waits. The
// planner's choice is made in that time, as the library makes it, for it may look at the points. The device's memory
// pool keeps what is given back, so that only first runs allocate.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "backend/contract.hpp"
#include "cuda/runtime/stream.hpp"
#include "search_device/ceilings.hpp"
#include "search_device/check.hpp"
#include "search_device/problem.hpp"
#include "search_device/stages.hpp"
#include "select/measurement.hpp"
#include "select/read.hpp"

namespace kith::search_bench {

using select_bench::Status;

struct Limits {
  int rounds = 7;
  double budget_ms = 1000;  // for the timed runs of one contender
  double slow_ms = 1000;    // a contender whose first run takes longer has no other
  double skip_ms = 10000;   // one that is predicted to take longer is left out
  std::int64_t check_rows = 64;
  bool quick = false;
  bool fresh = false;  // every run makes its index
};

struct CeilingResult {
  Ceiling ceiling;
  double ms = 0;  // median
  double rate() const { return ceiling.work / ms * 1e3; }
};

// The best of the ceilings whose name begins with this; 0 where there is none.
double best_rate(const std::vector<CeilingResult>& ceilings, const std::string& name);

struct Measurement {
  std::string figure;  // that it belongs to
  Problem problem;
  std::string contender;  // "auto" or what was forced
  Plan plan;
  Status status = Status::timed;
  std::string reason;      // where it was not timed
  bool first_run = false;  // the only sample is the first run, which also allocates
  std::int64_t rows_checked = 0;
  SearchReport report;  // of the last run
  double index_ms = 0;  // making the index, on the host's clock
  std::vector<double> samples_ms;

  double median_ms() const { return select_bench::median(samples_ms); }
  bool meets_bar() const { return status == Status::timed && median_ms() <= problem.bar_ms; }
};

struct StageMeasurement {
  std::string figure;
  Tile tile;
  std::string stage;
  std::vector<double> samples_ms;

  double median_ms() const { return select_bench::median(samples_ms); }
};

// What all contenders of a problem work on.
struct SearchedPoints {
  MatrixView<float> base;
  MatrixView<float> queries;
  const PointerIndex<float>* index = nullptr;
  Answer answer;
};

class Harness {
 public:
  explicit Harness(const Limits& limits);

  std::vector<CeilingResult> run_ceilings();
  // The planner's choice, and every stage that it ranks for the problem.
  std::vector<Contender> all_contenders(const Problem& problem) const;
  std::vector<Measurement> run(const Problem& problem, const std::vector<Contender>& contenders);
  // Those that compute squared distances.
  std::vector<StageMeasurement> run_stages(const Tile& tile);

 private:
  struct Runner {
    Measurement* measurement = nullptr;
    std::function<void()> search;
    int rounds = 1;
  };

  double time(const std::function<void()>& run);
  int rounds_of(double ms) const;
  Measurement planned(const Problem& problem, const Contender& contender) const;
  std::function<void()> search_of(const Contender& contender, const SearchedPoints& points, Measurement& measurement);
  void count_work(const Runner& runner);
  double run_search(const Runner& runner, const Answer& answer, std::int64_t queries);
  bool warm_up(Runner& runner, const Answer& answer, const Checker& checker, unsigned long long& fingerprint);

  Limits limits_;
  cuda::Stream stream_;
  cuda::Event before_;
  cuda::Event after_;
  core::DeviceFacts facts_;  // before anything was taken
  select_bench::CacheFlush flush_;
  std::mt19937 random_;
};

}  // namespace kith::search_bench
