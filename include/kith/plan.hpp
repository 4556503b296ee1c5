// What will be done, why, and what it should cost: known before anything runs.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

#include "kith/export.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"

namespace kith {

// The shape of a search: all that the planner looks at, besides the machine.
struct Problem {
  std::int64_t base_rows = 0;
  std::int64_t queries = 0;
  std::int64_t dims = 0;
  std::int64_t k = 0;
  DType dtype = DType::float32;
  bool self = false;  // the queries are the base

  bool operator==(const Problem&) const = default;
};

struct Plan {
  struct Alternative {
    DistanceStage distance = DistanceStage::automatic;
    double seconds = 0;                 // predicted
    Method method = Method::automatic;  // on a device: two-stage or fused, whichever is faster with this stage
  };

  // Scores of all points by a distance stage, and the proof that they were sharp enough for a query.
  struct Pass {
    DistanceStage distance = DistanceStage::exact;
    bool expanded = false;  // squares from products
    bool fused = false;     // no score is stored
    bool bounded = false;   // by what the pass before found: all points that may be neighbors get an exact distance

    bool operator==(const Pass&) const = default;
  };

  // What one of several devices does (Options::devices).
  struct Stripe {
    int device = 0;
    std::string name;  // of the device
    std::int64_t first_row = 0;
    std::int64_t rows = 0;
    double seconds = 0;  // predicted
  };

  Problem problem;
  Metric metric;
  double max_distance = std::numeric_limits<double>::infinity();  // Options::max_distance
  double epsilon = 0;                                             // Options::epsilon, where the method makes use of it
  std::vector<double> period{};                                   // Options::period
  Backend backend = Backend::cpu;
  Method method = Method::brute;
  DistanceStage distance = DistanceStage::automatic;
  bool forced = false;  // on a device: it was asked for by name, and is used even if the index knows that it fails
  SelectMethod select = SelectMethod::automatic;
  bool expanded = false;  // Euclidean candidates come from ‖y‖² − 2⟨x,y⟩ instead of Σ(x−y)²
  // Two-stage and fused on a device: queries without a proof take the next pass; the last one is exact.
  std::vector<Pass> passes;
  bool tries_passes = false;  // on a few queries first, where a pass that fails would cost more than that
  int threads = 1;
  std::string threads_reason;      // on the CPU: why so many
  std::int64_t query_block = 0;    // queries of a tile
  std::int64_t base_tile = 0;      // base rows of a tile
  std::int64_t base_splits = 1;    // parts of the base searched independently, then merged
  std::int64_t candidates = 0;     // candidates kept per query before they are thinned out
  std::int64_t distinct_rows = 0;  // on a device, if not 0: so many rows are searched, each for all that equal it
  TriangleTuning triangle;         // of method triangle: what its form has is decided
  bool statistics = false;         // that method triangle counts what it does

  ShiftedSortTuning shifted_sort;  // of method shifted-sort: what was zero or automatic is decided
  bool approximate = false;        // neighbors may be missed

  std::int64_t workspace_bytes = 0;  // on a device: what tiles may take
  std::int64_t budget_bytes = 0;
  // On a device: what the search should take at its peak beside the base, queries and answers of the host included.
  std::int64_t peak_bytes = 0;
  double seconds = 0;     // predicted
  std::string device;     // that it is for, by name; empty on the CPU
  bool base_fits = true;  // on a device: the budget has room for all points; else those of the host are streamed
  // Where the costs of a device's steps come from: a file of `kith tune`, measured on an H200, or derived.
  std::string profile;
  std::string reason;
  std::vector<Alternative> alternatives;  // what else was considered, cheapest first
  // Of several devices, in the order of their rows: all that was said but for the problem is of the slowest of them.
  std::vector<Stripe> stripes{};
};

KITH_API std::string to_string(const Plan::Pass& pass);  // "gemm", "fused", "fused fp16", ...
// Several lines of text for people.
KITH_API std::string to_string(const Plan& plan);
KITH_API std::ostream& operator<<(std::ostream& out, const Plan& plan);

// Chooses as search() would, without doing it. Throws as search() would for options that cannot be met.
KITH_API Plan explain(const Problem& problem, const Options& options = {});

// A GPU that searches can be planned for where there is none, by what its datasheet says.
struct KnownDevice {
  std::string name;   // "a100"
  std::string title;  // "NVIDIA A100 80 GB"
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  double memory_bandwidth = 0;  // bytes a second
  double link_bandwidth = 0;    // bytes a second from the host
  std::string profile;          // Plan::profile of its plans
};
KITH_API std::vector<KnownDevice> known_devices();

// The plan of a search on that device, idle, whatever this machine and build have; the budget is half of its memory
// where options have none. Error(invalid_argument) for a name that is not known lists those that are.
KITH_API Plan explain(const Problem& problem, const Options& options, const std::string& device);

}  // namespace kith
