// queues.cpp: the settings of Tang et al., Efficient Selection Algorithm for Fast k-NN Search on GPUs: 2^13 rows,
// N = 2^15 with k = 2^5 … 2^10, and k = 2^8 with N = 2^13 … 2^16.
// As in the paper a thread has a row, and the merge queue of Figures 6 to 9 is the one that merges unaligned. Unlike
// there, the matrix has its rows one after the other, so the times include turning it.
#include "device/select/select_case.hpp"

namespace kith::bench::device::select {
namespace {

using Group = SelectTuning::Group;

constexpr std::int64_t kRows = 1 << 13;

struct Queue {
  std::string label;
  std::string method;
  bool aligned = true;
};

const Queue kInsertion = {"insertion", "insertion-queue"};
const Queue kHeap = {"heap", "heap-queue"};
const Queue kMerge = {"merge", "merge-queue", false};
const Queue kMergeAligned = {"merge aligned", "merge-queue", true};

SelectTuning plain(const Queue& queue, Group group) {
  SelectTuning tuning;
  tuning.group = group;
  tuning.aligned = queue.aligned;
  return tuning;
}

SelectTuning optimized(const Queue& queue, Group group) {
  SelectTuning tuning = plain(queue, group);
  tuning.buffered = tuning.full_buffer_vote = tuning.local_sort = true;
  tuning.hierarchical = 4;
  return tuning;
}

// Table I and, as their quotients, Figure 9.
std::vector<Variant> table_1() {
  std::vector<Variant> variants;
  for (const Queue& queue : {kInsertion, kHeap, kMerge, kMergeAligned}) {
    variants.push_back({queue.label, queue.method, plain(queue, Group::thread)});
    variants.push_back({queue.label + " +buf+hp", queue.method, optimized(queue, Group::thread)});
  }
  variants.push_back({"truncated bitonic", "partial-bitonic"});
  variants.push_back({"quick multi-select", "quick-multi-select"});
  variants.push_back({"auto", "auto"});
  return variants;
}

// The three steps of buffered search.
std::vector<Variant> figure_6() {
  std::vector<Variant> variants;
  for (const Queue& queue : {kInsertion, kHeap, kMerge}) {
    SelectTuning tuning = plain(queue, Group::thread);
    tuning.buffered = true;
    variants.push_back({queue.label + " +buffer", queue.method, tuning});
    tuning.full_buffer_vote = true;
    variants.push_back({queue.label + " +buffer+full", queue.method, tuning});
    tuning.local_sort = true;
    variants.push_back({queue.label + " +buffer+full+sort", queue.method, tuning});
  }
  return variants;
}

// Hierarchical partition by its group.
std::vector<Variant> figures_7_and_8() {
  std::vector<Variant> variants;
  for (const Queue& queue : {kInsertion, kHeap, kMerge}) {
    for (const int group : {2, 4, 8}) {
      SelectTuning tuning = plain(queue, Group::thread);
      tuning.hierarchical = group;
      variants.push_back({queue.label + " +hp G=" + std::to_string(group), queue.method, tuning});
    }
  }
  return variants;
}

// Not in the paper: a row a warp.
std::vector<Variant> by_warps() {
  std::vector<Variant> variants;
  for (const Queue& queue : {kInsertion, kHeap, kMerge, kMergeAligned}) {
    variants.push_back({"warp: " + queue.label, queue.method, plain(queue, Group::warp)});
    variants.push_back({"warp: " + queue.label + " +buf+hp", queue.method, optimized(queue, Group::warp)});
  }
  return variants;
}

SelectCase case_for(unsigned length, unsigned k, const std::vector<std::vector<Variant>>& groups) {
  SelectCase made;
  made.figure = "Table I, Figures 6 to 9";
  made.shape = {kRows, length};
  for (const auto& group : groups)
    for (const Variant& variant : group) made.entries.push_back({variant, k});
  return made;
}

// Fewer rows for larger k, since every update is counted in memory; what is reported is the mean of a row.
std::vector<UpdateCount> figure_5() {
  std::vector<UpdateCount> counts;
  for (unsigned k = 1U << 5; k <= 1U << 10; k *= 2)
    for (const char* queue : {"insertion", "heap", "merge"})
      counts.push_back({queue, {kRows / k < 128 ? kRows / k : 128, 1U << 15}, k});
  return counts;
}

}  // namespace

Suite queues_suite(const Settings& settings) {
  std::vector<SelectCase> cases;
  for (unsigned k = 1U << 5; k <= 1U << 10; k *= 2)
    cases.push_back(case_for(1U << 15, k, {table_1(), figure_6(), figures_7_and_8(), by_warps()}));
  for (const unsigned length : {1U << 13, 1U << 14, 1U << 16})
    cases.push_back(case_for(length, 1U << 8, {table_1(), figures_7_and_8()}));
  return make_suite("queues", "Tang et al.: queues, buffered search, hierarchical partition",
                    "Table I: distance calculation, the copy to the host and selection on the CPU, which are no "
                    "selection on the device",
                    cases, figure_5(), settings);
}

}  // namespace kith::bench::device::select
