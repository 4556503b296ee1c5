// queue_updates_test.cpp: updates of the slots of the three queues: exact for the insertion queue, and in the
// proportions of Tang et al., Figure 5, for the others.
#include "cuda/select/papers/queue_updates.hpp"

#include <numeric>

#include "kith/error.hpp"
#include "select/selection.hpp"

namespace kith::test {
namespace {

using Counts = std::vector<unsigned long long>;
using device::select::QueueKind;

using QueueUpdates = DeviceTest;

Counts count_updates(const RowsProblem<float>& problem, unsigned k, QueueKind kind, int merge_size = 0) {
  const DeviceProblem<float> on_device(problem);
  DeviceArray<unsigned long long> counts(Counts(k, 0), on_device.stream());
  device::Workspace workspace(on_device.stream());
  device::select::queue_updates(on_device.rows(), k, kind, merge_size, counts.data(), workspace);
  return counts.values();
}

unsigned long long total(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0ULL);
}

RowsProblem<float> rows_of(Values kind, std::int64_t rows, unsigned length) {
  return make_problem<float>(kind, rows, length, false, Ids::column, {}, 11);
}

// Counts the updates of an insertion queue on the host. The queue is descending, with the largest key at its head, and
// is filled from the tail. An insertion moves all larger keys one slot towards the head; ties keep column order.
Counts simulate_insertion(const RowsProblem<float>& problem, unsigned k) {
  Counts counts(k, 0);
  for (std::int64_t row = 0; row < problem.rows; ++row) {
    std::vector<float> queue;  // ascending: the tail first
    for (unsigned column = 0; column < problem.length; ++column) {
      const float value = problem.at(row, column);
      if (queue.size() == k && !(value < queue.back())) continue;
      const auto position = std::upper_bound(queue.begin(), queue.end(), value);
      const auto smaller = static_cast<std::size_t>(position - queue.begin());
      queue.insert(position, value);
      if (queue.size() > k) queue.pop_back();
      for (std::size_t i = smaller; i < queue.size(); ++i) ++counts[k - 1 - i];
    }
  }
  return counts;
}

TEST_F(QueueUpdates, InsertionQueueWritesWhatItsDefinitionSays) {
  for_each_schedule([] {
    for (const Values kind : {Values::random, Values::ascending, Values::descending, Values::few_distinct}) {
      for (const unsigned k : {1U, 2U, 7U, 32U, 100U}) {
        for (const std::int64_t rows : {1, 5, 70}) {
          SCOPED_TRACE(testing::Message() << to_string(kind) << ", k = " << k << ", " << rows << " rows");
          const auto problem = rows_of(kind, rows, 300);
          EXPECT_EQ(count_updates(problem, k, QueueKind::insertion), simulate_insertion(problem, k));
        }
      }
    }
  });
}

TEST_F(QueueUpdates, EveryKeyOfTheAnswerWasWritten) {
  const auto problem = rows_of(Values::random, 4, 1000);
  for (const QueueKind kind : {QueueKind::insertion, QueueKind::heap, QueueKind::merge})
    EXPECT_GE(total(count_updates(problem, 64, kind)), 4 * 64U);
  for (const int merge_size : {1, 4, 8, 16, 64})
    EXPECT_GE(total(count_updates(problem, 64, QueueKind::merge, merge_size)), 4 * 64U) << "merge_size " << merge_size;
}

// The tail slot has the smallest key of the row, which changes rarely; the head changes with every insertion.
TEST_F(QueueUpdates, MostUpdatesAreNearTheHead) {
  const auto problem = rows_of(Values::random, small_problems() ? 16 : 256, small_problems() ? 2000 : 1U << 15U);
  for (const QueueKind kind : {QueueKind::insertion, QueueKind::heap, QueueKind::merge}) {
    SCOPED_TRACE(testing::Message() << "queue " << static_cast<int>(kind));
    const Counts counts = count_updates(problem, 64, kind);
    const auto half = counts.begin() + 32;
    EXPECT_GT(std::accumulate(counts.begin(), half, 0ULL), std::accumulate(half, counts.end(), 0ULL));
    EXPECT_GT(counts.front(), counts.back());
  }
}

// Both queues keep the same keys, so both see the same insertions. A full queue changes its head with each; the heap
// does so while it is filled, too.
TEST_F(QueueUpdates, HeadsChangeWithEveryInsertion) {
  const std::int64_t rows = 8;
  const auto problem = rows_of(Values::random, rows, 1500);
  const Counts insertion = count_updates(problem, 64, QueueKind::insertion);
  EXPECT_EQ(count_updates(problem, 64, QueueKind::heap)[0], insertion[0] + static_cast<unsigned>(rows) * 63);
  EXPECT_GE(count_updates(problem, 64, QueueKind::merge)[0], insertion[0]);
}

TEST_F(QueueUpdates, HeapAndMergeQueuesWriteLessFromSomeKOn) {
  const auto problem = rows_of(Values::random, small_problems() ? 8 : 64, small_problems() ? 4000 : 1U << 15U);
  for (const unsigned k : under_sanitizer() ? std::vector{128U} : std::vector{128U, 256U, 512U}) {
    SCOPED_TRACE(testing::Message() << "k = " << k);
    const auto insertion = total(count_updates(problem, k, QueueKind::insertion));
    const auto heap = total(count_updates(problem, k, QueueKind::heap));
    const auto merge = total(count_updates(problem, k, QueueKind::merge));
    EXPECT_LT(heap, insertion);
    EXPECT_LT(merge, insertion);
    EXPECT_LE(heap, merge);
  }
}

// The queues need O(k), O(log k) and O(log² k) updates per insertion.
TEST_F(QueueUpdates, InsertionQueueGrowsFastestWithK) {
  const auto problem = rows_of(Values::random, small_problems() ? 4 : 64, small_problems() ? 4000 : 1U << 15U);
  const auto growth = [&](QueueKind kind) {
    return static_cast<double>(total(count_updates(problem, under_sanitizer() ? 128 : 512, kind))) /
           static_cast<double>(total(count_updates(problem, 32, kind)));
  };
  const double insertion = growth(QueueKind::insertion);
  EXPECT_GT(insertion, 1.5 * growth(QueueKind::heap));
  EXPECT_GT(insertion, 1.5 * growth(QueueKind::merge));
}

TEST_F(QueueUpdates, RefusesUnsupportedSizesOfTheMergeQueue) {
  const auto problem = rows_of(Values::random, 1, 100);
  EXPECT_THROW(count_updates(problem, 33, QueueKind::merge), Error);
  EXPECT_THROW(count_updates(problem, 32, QueueKind::merge, 3), Error);
}

}  // namespace
}  // namespace kith::test
