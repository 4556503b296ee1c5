// harness.hpp: runs heats: makes the matrix, checks every answer, then times the entries in rounds.
//
// The first run of an entry is checked on the host (a few rows) and on the device (all rows); every later run on the
// device. Each round runs every entry once, in a shuffled order. Before each run the answer is made void and the L2
// cache is filled with something else. Times are from one event to another around the call: everything it does on the
// device. An entry that is slow is run once; one that would be too slow, judged by what smaller ones took, not at all.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <random>

#include "device_matrix.hpp"
#include "history.hpp"
#include "inspect.hpp"
#include "measurement.hpp"
#include "read.hpp"
#include "truth.hpp"

namespace kith::select_bench {

struct Limits {
  double budget_ms = 100;    // for the timed runs of one entry
  double slow_ms = 300;      // an entry whose first run takes longer has no other
  double skip_ms = 2000;     // an entry that is expected to take longer is left out
  double suite_seconds = 0;  // entries that come later than this in their suite are left out; 0: none
};

// The best plain read of the largest matrix.
struct ReadRate {
  double terabytes_a_second = 0;
  double ms = 0;
  unsigned blocks_a_processor = 0;
};

class Harness {
 public:
  explicit Harness(const Limits& limits);

  const ReadRate& read_rate() const { return read_rate_; }
  void start_suite() { suite_start_ = Clock::now(); }
  double suite_seconds() const;
  std::vector<Measurement> run(const Heat& heat);
  UpdateMeasurement run(const UpdateCount& count);

 private:
  using Clock = std::chrono::steady_clock;

  struct Timing {
    double ms = 0;          // on the device, from before the call until all of it is done
    double enqueue_ms = 0;  // on the host, until the call came back: where it allocates, the device waits for that
  };

  struct Runner {
    Measurement* measurement = nullptr;  // null: a plain read
    std::function<void()> run;
    int rounds = 0;
    std::vector<double> samples_ms = {};
  };

  static double without_allocation(const Timing& first);
  ReadRate measure_read_rate();
  Timing time(const std::function<void()>& run);
  Timing run_entry(const Entry& entry, const std::function<void()>& run);
  std::string reason_to_skip(const Shape& shape, const Entry& entry) const;
  bool skip(const Shape& shape, Measurement& measurement);
  std::string fault_of(const Entry& entry, const Truth& truth);
  std::optional<Runner> warm_up(const Heat& heat, Measurement& measurement, const Truth& truth);
  std::vector<Runner> readers(const Heat& heat);
  int rounds_for(const Heat& heat, const Timing& first) const;
  void run_rounds(const Heat& heat, std::vector<Runner>& runners);
  void run_once(Runner& runner);

  Limits limits_;
  cuda::Stream stream_;
  cuda::Event before_;
  cuda::Event after_;
  CacheFlush flush_;
  DeviceMatrix matrix_;
  Answer answer_;
  Inspector inspector_;
  History history_;
  std::mt19937 random_;
  ReadRate read_rate_;
  Clock::time_point suite_start_ = Clock::now();
};

}  // namespace kith::select_bench
