// thesis.cpp: the settings of Hanák, Meeting the challenges of k-nearest neighbor search implementation for GPU
// accelerators, sections 5.3 to 5.5, as far as they are about selection.
#include "device/select/select_case.hpp"

namespace kith::bench::device::select {
namespace {

// A matrix of 2^30 values, half of the thesis' own, so that all of it takes less than a minute.
constexpr std::int64_t kValues = std::int64_t{1} << 30;

// Figures 5.2 (networks) and 5.3 (buffer). Partial sorting takes its time, so the matrix has 2^28 values.
SelectCase networks() {
  SelectTuning buffered;
  buffered.buffered = true;
  SelectCase made;
  made.figure = "Figures 5.2 and 5.3";
  made.shape = {2048, 1U << 17};
  for (unsigned k = 32; k <= 2048; k *= 2) {
    made.entries.push_back({{"shared memory", "partial-bitonic/shared-memory"}, k});
    made.entries.push_back({{"warp shuffles", "partial-bitonic/shuffles"}, k});
    made.entries.push_back({{"registers", "partial-bitonic"}, k});
    made.entries.push_back({{"registers, buffered", "partial-bitonic", buffered}, k});
  }
  return made;
}

// Figure 5.5. Sizes between those that warp-select has are rounded up to the next, above k = 128 to 4 or 8.
SelectCase thread_queues() {
  SelectCase made;
  made.figure = "Figure 5.5";
  made.shape = {2048, 1U << 20};
  for (unsigned k = 32; k <= 1024; k *= 2) {
    made.entries.push_back({{"thread queue of its own choice", "warp-select"}, k});
    for (const int size : {2, 3, 4, 8}) {
      if (k > 128 && size < 4) continue;
      SelectTuning tuning;
      tuning.thread_queue = size;
      made.entries.push_back({{"thread queue " + std::to_string(size), "warp-select", tuning}, k});
    }
  }
  return made;
}

// Figure 5.6.
SelectCase single_pass(unsigned length) {
  SelectTuning buffered;
  buffered.buffered = buffered.full_buffer_vote = buffered.local_sort = true;
  SelectTuning transposed;
  transposed.transposed = true;
  SelectTuning scattered;
  scattered.scattered = true;
  SelectCase made;
  made.figure = "Figure 5.6";
  made.shape = {kValues / length, length};
  for (unsigned k = 32; k <= 2048; k *= 2) {
    made.entries.push_back({{"warp-select", "warp-select"}, k});
    made.entries.push_back({{"block-select", "block-select"}, k});
    made.entries.push_back({{"merge-queue buffered", "merge-queue", buffered}, k});
    made.entries.push_back({{"bits", "bits"}, k});
    made.entries.push_back({{"bits transposed", "bits", transposed}, k});
    made.entries.push_back({{"bits scattered", "bits", scattered}, k});
    made.entries.push_back({{"auto", "auto"}, k});
  }
  return made;
}

// Figure 5.7.
SelectCase single_row() {
  SelectCase made;
  made.figure = "Figure 5.7";
  made.shape = {1, 1U << 27};
  for (const unsigned k : {32U, 256U, 2048U}) {
    for (int partitions = 16; partitions <= 512; partitions *= 2) {
      SelectTuning tuning;
      tuning.partitions = partitions;
      made.entries.push_back({{std::to_string(partitions) + " partitions", "bits-single-row", tuning}, k});
    }
    made.entries.push_back({{"auto", "auto"}, k});
  }
  return made;
}

// Figures 5.10 and 5.11: k as a part of the row, sorted and not. Sorting the whole row does not care.
SelectCase multi_pass(std::int64_t rows, unsigned length, unsigned percent) {
  SelectTuning one_stage;
  one_stage.stages = 1;
  SelectTuning two_stages;
  two_stages.stages = 2;
  const unsigned k = static_cast<unsigned>(std::uint64_t{length} * percent / 100);
  SelectCase made;
  made.figure = "Figures 5.10 and 5.11";
  made.shape = {rows, length};
  for (const bool sorted : {true, false}) {
    made.entries.push_back({{"sample-select, 1 stage", "sample-select", one_stage}, k, sorted});
    made.entries.push_back({{"sample-select, 2 stages", "sample-select", two_stages}, k, sorted});
    made.entries.push_back({{"radix-select", "radix-select"}, k, sorted});
    made.entries.push_back({{"auto", "auto"}, k, sorted});
  }
  made.entries.push_back({{"sort", "sort"}, k, true});
  return made;
}

}  // namespace

Suite thesis_suite(const Settings& settings) {
  std::vector<SelectCase> cases = {networks(), thread_queues()};
  for (unsigned length = 1U << 15; length <= 1U << 20; length *= 2) cases.push_back(single_pass(length));
  cases.push_back(single_row());
  struct Size {
    std::int64_t rows;
    unsigned length;
  };
  // The longest with fewer rows than the thesis' thousand: sorting them all would take most of the time.
  for (const Size& size : {Size{1000, 1U << 15}, Size{1000, 1U << 18}, Size{256, 1U << 20}})
    for (const unsigned percent : {1U, 2U, 5U, 10U, 20U, 30U, 50U})
      cases.push_back(multi_pass(size.rows, size.length, percent));
  return make_suite("thesis", "Hanák: partial sorting, single-pass and multi-pass selection",
                    "Figures 5.1, 5.8, 5.9 and 5.12 to 5.14 are about distances; 5.4 needs a kernel without several "
                    "reads a thread, which bits no longer has",
                    cases, {}, settings);
}

}  // namespace kith::bench::device::select
