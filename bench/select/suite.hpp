// suite.hpp: what is measured, as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/topk.hpp"

namespace kith::select_bench {

enum class Pattern {
  random,      // uniform in [0, 1), 24 bits: long rows have ties
  descending,  // the smallest come last, so that everything seems good when it is met
  equal,       // one value: the answer is decided by ids alone
  smooth,      // 64 neighbors all but alike, so that a sample taken next to another says nothing new
};

const char* to_string(Pattern pattern);

struct Shape {
  std::int64_t rows = 0;
  unsigned length = 0;
  Pattern pattern = Pattern::random;

  std::size_t values() const { return static_cast<std::size_t>(rows) * length; }
  bool operator==(const Shape&) const = default;
};

struct Contender {
  std::string label;
  std::string method;  // a name that methods.hpp knows
  SelectTuning tuning = {};
};

// What an entry has to reach; 0: nothing is asked.
struct Bar {
  double fraction = 0;      // at least this part of the best read bandwidth
  double ms = 0;            // at most
  double times_random = 0;  // at most so many times what the random rows of the same shape and k take
};

struct Entry {
  Contender contender;
  unsigned k = 0;
  bool sorted = true;
  Bar bar = {};
};

// Entries that run in turns on the same matrix. Their workspaces are alive together.
struct Heat {
  std::string figure;  // which table or figure it belongs to
  Shape shape;
  std::vector<Entry> entries;
  int rounds = 5;           // at most
  double budget_ms = 0;     // for the timed runs of one entry; 0: the harness's own
  bool fresh_data = false;  // other random values in every round
  bool reads = false;       // plain reads of the same bytes run along
};

// How often each slot of a queue is written.
struct UpdateCount {
  std::string figure;
  std::string queue;  // insertion, heap or merge
  Shape shape;
  unsigned k = 0;
};

struct Suite {
  std::string name;
  std::string what;
  std::string left_out;  // of the source's tables and figures, and why
  std::vector<Heat> heats;
  std::vector<UpdateCount> counts = {};
};

// "2048 × 1048576 random"
std::string describe(const Shape& shape);

Suite must_suite();
Suite queues_suite();
Suite thesis_suite();
Suite multi_select_suite();

std::vector<Suite> all_suites();

}  // namespace kith::select_bench
