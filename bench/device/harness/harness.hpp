// harness.hpp: times contenders on a device and checks their answers.
//
// A contender's time is from one event to another around its call: everything it does on the device, and where it
// waits. Before each run it may make its answer void, and the L2 cache is filled with something else. Races are those
// of race.hpp. The device's memory pool is told to keep what is given back, as an application would that searches
// often, so that only first runs allocate.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/race.hpp"
#include "common/run_file.hpp"
#include "device/harness/ceilings.hpp"
#include "kith/error.hpp"

namespace kith::bench::device {

struct Limits {
  int rounds = 7;
  double budget_ms = 1000;    // for the timed runs of one contender
  double slow_ms = 1000;      // a contender whose first run takes longer has no other
  double skip_ms = 10000;     // one that is expected to take longer is left out
  double suite_seconds = 0;   // what comes later than this in its suite is left out; 0: nothing
  std::int64_t samples = 64;  // queries whose answers are checked against all points
};

enum class Status {
  timed,
  counted,      // measured, but not by time
  skipped,      // it would have taken too long, or too much memory
  unsupported,  // the method does not do this
  wrong,        // its answer is, so its time means nothing
};

const char* to_string(Status status);

struct Bar {
  std::string asked;    // "≥ 0.88 R"
  std::string reached;  // "0.91 R"
  bool ok = false;
};

struct Row;

// Notes that a contender cannot do this, as its error says. Throws it where that is no matter of problem or device.
void refuse(const Error& error, Row& row);

// At most so many milliseconds.
Bar bar_ms(double limit, const Times& times);

// What was found out about a contender on a problem.
struct Row : Times {
  std::string figure;   // that it belongs to
  std::string problem;  // described
  std::string contender;
  Json facts = Json::object();  // of problem, contender and result, for the file
  Status status = Status::timed;
  std::string reason;      // where it was not timed
  bool first_run = false;  // the only sample is the first run, which also allocates
  std::string note = {};   // for people, behind the time
  Times wall = {};         // by the host's clock, where the race takes both
  std::optional<Bar> bar = {};
};

struct Timing {
  double ms = 0;          // on the device, from before the call until all of it is done
  double enqueue_ms = 0;  // on the host, until the call came back: where it allocates, the device waits for that
};

// A way to solve a problem, ready to run.
struct Contender {
  Row row;
  std::function<void()> run;                               // what is timed
  std::function<void()> prepare = nullptr;                 // before each run
  std::function<std::string(bool first)> check = nullptr;  // why the answer is wrong; empty: it is right
  std::function<double()> expected_ms = nullptr;           // asked when its turn comes; 0: not known
  std::function<void(const Timing&)> first_done = nullptr;
};

struct RaceRules {
  int rounds = 0;              // at most; 0: the suite's
  double budget_ms = 0;        // 0: the suite's
  bool on_host_clock = false;  // from an idle device until the call returns
  bool both_clocks = false;    // and once more in each round, from an idle device until the host knows of the answer
  bool flush = true;           // the L2 cache
  bool enqueues_only = false;  // calls return before the device is done: if they took their time, they allocated
  std::function<void(int round)> new_round = nullptr;
};

class Harness {
 public:
  // `profile`: each contender is warmed up and run once between cudaProfilerStart() and cudaProfilerStop().
  Harness(const Limits& limits, bool quick, bool profile = false);

  const Limits& limits() const { return limits_; }
  bool quick() const { return quick_; }
  bool profiles() const { return profile_; }
  const cuda::Stream& stream() const { return stream_; }
  double seconds() const;                                    // since it was made
  std::int64_t free_memory() const { return free_memory_; }  // of the device, before anything was taken

  // A suite's ceilings, in rounds as well; what they need is freed.
  void measure_ceilings(std::vector<Ceiling> ceilings);
  const std::vector<CeilingResult>& ceilings() const { return ceilings_; }
  // The best of those whose name begins with this; 0 where there is none.
  double best_rate(const std::string& name) const;

  Timing time(const std::function<void()>& run, const RaceRules& rules = {});
  // What is not known to be too slow is run, checked and timed; rows are in the order of contenders.
  std::vector<Row> race(std::vector<Contender> contenders, const RaceRules& rules = {});

  // Rows of the suite so far, which bars may refer to.
  std::vector<Row> rows;

 private:
  using Clock = std::chrono::steady_clock;

  bool admit(Contender& contender) const;
  void profile(Contender& contender);
  double wall_ms(const Contender& contender);
  void enter(Contender& contender, const RaceRules& rules, std::vector<Runner>& runners);

  Limits limits_;
  bool quick_;
  bool profile_;
  std::int64_t free_memory_;
  cuda::Stream stream_;
  cuda::Event before_;
  cuda::Event after_;
  CacheFlush flush_;
  std::mt19937 random_;
  std::vector<CeilingResult> ceilings_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace kith::bench::device
