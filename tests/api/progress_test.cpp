// Promise 7, errors and progress reach the caller and nobody else: the callback, cancellation, exceptions from the
// callback, and a silent library.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include "kith/index.hpp"
#include "kith/topk.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

// Keeps what the callback saw and checks each call against the one before.
struct Watcher {
  std::int64_t calls = 0;
  std::int64_t done = 0;
  std::int64_t total = -1;
  std::thread::id thread = std::this_thread::get_id();

  bool operator()(const Progress& progress) {
    EXPECT_EQ(std::this_thread::get_id(), thread) << "called on another thread";
    EXPECT_GE(progress.done, done);
    EXPECT_LE(progress.done, progress.total);
    EXPECT_TRUE(calls == 0 || progress.total == total) << "the total changed";
    EXPECT_GE(progress.fraction(), 0);
    EXPECT_LE(progress.fraction(), 1);
    ++calls;
    done = progress.done;
    total = progress.total;
    return true;
  }
};

// Big enough for several tiles.
class Promise7Progress : public testing::Test {
 protected:
  Options options_with(ProgressCallback callback, DistanceStage stage = DistanceStage::automatic) const {
    Options options = options_for(stage, 2);
    options.memory_budget = 2 << 20;
    options.progress = std::move(callback);
    return options;
  }
  Neighbors<float> run(ProgressCallback callback, DistanceStage stage = DistanceStage::automatic) const {
    return search(sample_.base.view(), sample_.queries.view(), 10, options_with(std::move(callback), stage));
  }

  Sample<float> sample_ = generate<float>(Kind::gaussian, {20000, 300, 24}, MetricKind::euclidean, 1);
};

TEST_F(Promise7Progress, RisesToTheTotalOnTheCallingThread) {
  const Neighbors<float> want = run(nullptr);
  for (const DistanceStage stage : stages_of(DType::float32)) {
    Watcher watcher;
    EXPECT_TRUE(same_answer(run(std::ref(watcher), stage), want)) << stage;
    EXPECT_GE(watcher.calls, 1) << stage;
    EXPECT_EQ(watcher.done, watcher.total) << stage;
    EXPECT_EQ(watcher.total, 20000 * 300) << stage;
  }
}

TEST_F(Promise7Progress, ReachesTheTotalOnTheSmallestProblem) {
  Watcher watcher;
  const float point = 1;
  Options options;
  options.progress = std::ref(watcher);
  search(MatrixView<float>(&point, 1, 1), MatrixView<float>(&point, 1, 1), 1, options);
  EXPECT_GE(watcher.calls, 1);
  EXPECT_EQ(watcher.done, watcher.total);
}

TEST_F(Promise7Progress, IsReportedByTopkToo) {
  Watcher watcher;
  TopkOptions options;
  options.progress = std::ref(watcher);
  topk(sample_.base.view(), 5, options);
  EXPECT_GE(watcher.calls, 1);
  EXPECT_EQ(watcher.done, watcher.total);
  options.progress = [](const Progress&) { return false; };
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, [&] { topk(sample_.base.view(), 5, options); }));
}

// One thread does all tiles and so reports between them.
TEST_F(Promise7Progress, IsReportedBetweenTiles) {
  for (const DistanceStage stage : stages_of(DType::float32)) {
    Watcher watcher;
    Options options = options_with(std::ref(watcher), stage);
    options.threads = 1;
    search(sample_.base.view(), sample_.queries.view(), 10, options);
    EXPECT_GT(watcher.calls, 1) << stage;
  }
}

TEST_F(Promise7Progress, FalseCancels) {
  for (const DistanceStage stage : stages_of(DType::float32)) {
    for (const int threads : {1, 2}) {
      int calls = 0;
      const int stop_at = threads == 1 ? 2 : 1;
      Options options = options_with([&](const Progress&) { return ++calls < stop_at; }, stage);
      options.threads = threads;
      EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, [&] {
        search(sample_.base.view(), sample_.queries.view(), 10, options);
      })) << stage;
      EXPECT_EQ(calls, stop_at) << stage << " went on after it was told to stop";
    }
  }
}

TEST_F(Promise7Progress, AnExceptionFromTheCallbackComesOutAsItIs) {
  struct Mine {
    int value;
  };
  for (const DistanceStage stage : stages_of(DType::float32)) {
    try {
      run([](const Progress&) -> bool { throw Mine{42}; }, stage);
      ADD_FAILURE() << "the exception was swallowed by " << stage;
    } catch (const Mine& mine) {
      EXPECT_EQ(mine.value, 42);
    }
  }
}

TEST_F(Promise7Progress, TheIndexWorksAfterCancellation) {
  bool stop = false;  // the callback is asked while an index is made, too, where that takes long
  const Index<float> index(sample_.base.view(), options_with([&](const Progress&) { return !stop; }));
  stop = true;
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, [&] { index.search(sample_.queries.view(), 10); }));
  stop = false;
  EXPECT_TRUE(same_answer(index.search(sample_.queries.view(), 10), run(nullptr)));
}

TEST_F(Promise7Progress, NothingIsPrinted) {
  const std::string text = printed_by([&] {
    for (const DistanceStage stage : stages_of(DType::float32)) run(nullptr, stage);
    graph(sample_.base.view().rows_from(0, 500), 5);
    topk(sample_.base.view(), 5);
    distances(sample_.base.view(), sample_.queries.view().rows_from(0, 2));
    explain({1000, 10, 8, 5, DType::float32});
    Matrix<float> spoilt = sample_.queries;
    spoilt(0, 0) = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {}, [&] { search(sample_.base.view(), spoilt.view(), 1); }));
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { parse_metric("nonsense"); }));
    EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, [&] { run([](const Progress&) { return false; }); }));
  });
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace kith::test
