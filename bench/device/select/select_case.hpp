// select_case.hpp: selections that run in turns on the same matrix, as plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/harness/suite.hpp"
#include "device/select/matrix.hpp"
#include "kith/topk.hpp"

namespace kith::bench::device::select {

// A method of methods.hpp, and how it works.
struct Variant {
  std::string label;
  std::string method;
  SelectTuning tuning = {};
};

// What an entry has to reach; 0: nothing is asked.
struct Goal {
  double fraction = 0;      // at least this part of the best read bandwidth
  double ms = 0;            // at most
  double times_random = 0;  // at most so many times what the random rows of the same shape and k take
};

struct Entry {
  Variant variant;
  unsigned k = 0;
  bool sorted = true;
  Goal goal = {};
};

// Their workspaces are alive together.
struct SelectCase {
  std::string figure;  // which table or figure it belongs to
  MatrixShape shape;
  std::vector<Entry> entries;
  int rounds = 5;           // at most
  double budget_ms = 0;     // for the timed runs of one entry; 0: the suite's own
  bool fresh_data = false;  // other random values in every round
  bool reads = false;       // plain reads of the same bytes run along
};

// How often each slot of a queue is written.
struct UpdateCount {
  std::string queue;  // insertion, heap or merge
  MatrixShape shape;
  unsigned k = 0;
};

// With the limits and ceilings that all of them have.
Suite make_suite(const std::string& name, const std::string& what, const std::string& left_out,
                 const std::vector<SelectCase>& cases, const std::vector<UpdateCount>& counts,
                 const Settings& settings);

Suite must_suite(const Settings& settings);
Suite queues_suite(const Settings& settings);
Suite thesis_suite(const Settings& settings);
Suite multi_select_suite(const Settings& settings);

}  // namespace kith::bench::device::select
