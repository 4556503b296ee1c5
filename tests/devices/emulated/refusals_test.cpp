// What several devices refuse, and what their errors say; progress and how it stops them.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "support/device_memory.hpp"
#include "three_devices.hpp"

namespace kith::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class SeveralDevicesRefuse : public testing::Test {
 protected:
  MatrixView<float> base() const { return sample_.base.view(); }
  MatrixView<float> queries() const { return sample_.queries.view(); }
  void expect_refused(ErrorCode code, const std::vector<std::string>& mentions, const Options& options) const {
    EXPECT_TRUE(fails_with(code, mentions, [&] { kith::search(base(), queries(), 2, options); }));
    EXPECT_TRUE(fails_with(code, mentions, [&] { explain({30, 4, 5, 2, DType::float32}, options); }));
  }

  Sample<float> sample_ = generate<float>(Kind::gaussian, {30, 4, 5}, MetricKind::euclidean, 1);
};

TEST_F(SeveralDevicesRefuse, DevicesThatAreNotThere) {
  expect_refused(ErrorCode::no_device, {"devices = 0,7", "no device 7", "has 0, 1, 2"}, emulated({}, {0, 7}));
  expect_refused(ErrorCode::no_device, {"no device -1"}, emulated({}, {0, kAllDevices}));
  expect_refused(ErrorCode::no_device, {"no device -2"}, emulated({}, {-2}));
}

TEST_F(SeveralDevicesRefuse, WhatIsNotForSeveralDevices) {
  Options options = emulated({}, {0, 1});
  options.method = Method::shifted_sort;
  expect_refused(ErrorCode::invalid_argument, {"devices = 0,1", "shifted-sort", "all points"}, options);
  options = emulated({}, {kAllDevices});
  options.backend = Backend::cpu;
  expect_refused(ErrorCode::invalid_argument, {"devices = all", "cpu"}, options);
  options.backend = Backend::automatic;  // never the CPU
  if (!why_unavailable(Backend::cuda).empty()) expect_refused(ErrorCode::no_device, {"cuda"}, options);
  options = emulated({}, {0, 1});
  const auto refused = [&](const char* what, const std::function<void()>& work) {
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"devices = 0,1", what}, work));
  };
  refused("distances()", [&] { distances(base(), queries(), options); });
  const std::vector<std::int64_t> all_rows = {0, 30};
  const std::vector<std::int64_t> all_queries = {0, 4};
  refused("batches", [&] { search_batches(base(), all_rows, queries(), all_queries, 2, options); });
  refused("collections", [&] { Collection<float>(5, options); });
  refused("device by name", [&] { explain({30, 4, 5, 2, DType::float32}, options, "h100"); });
}

TEST_F(SeveralDevicesRefuse, DeviceMemory) {
  const Options options = emulated({}, {0, 1});
  Placed<float> there({queries().data, queries().data + 20}, Memory::device, Backend::emulated);
  const MatrixView<float> on_device = there.view(4, 5, 5);
  const Index<float> index(base(), options);
  const std::vector<std::string> mentions = {"devices = 0,1", "device memory", "host"};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, mentions, [&] { Index<float>(on_device, options); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, mentions, [&] { index.search(on_device, 2); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, mentions, [&] { kith::search(base(), on_device, 2, options); }));
  std::vector<std::int64_t> ids(8);
  std::vector<float> distances(8);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, mentions, [&] {
    index.search_into(queries(), 2, {ids.data(), distances.data(), Memory::device});
  }));
}

// Rows are those of the whole, not of a stripe or a block; a device has nothing to do with them.
TEST_F(SeveralDevicesRefuse, BadPointsByTheirRows) {
  Sample<float> spoilt = sample_;
  spoilt.base(27, 3) = kNan;
  spoilt.queries(2, 1) = kNan;
  const Options options = emulated({}, {0, 1, 2});
  const std::vector<std::string> of_base = {"base", "row 27", "column 3"};
  const std::vector<std::string> of_queries = {"quer", "row 2", "column 1"};
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, of_base, [&] { Index<float>(spoilt.base.view(), options); }));
  EXPECT_TRUE(
      fails_with(ErrorCode::bad_data, of_base, [&] { kith::search(spoilt.base.view(), queries(), 2, options); }));
  const Index<float> index(base(), options);
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, of_queries, [&] { index.search(spoilt.queries.view(), 2); }));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, of_queries,
                         [&] { index.search_radius(spoilt.queries.view(), std::vector<float>{1}); }));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, of_queries,
                         [&] { index.reduce(spoilt.queries.view(), 2, base(), ReduceOp::mean); }));
  EXPECT_EQ(index.search(queries(), 2).ids, kith::search(base(), queries(), 2, emulated()).ids);
}

// The budget has room for lists of 22 queries at a time, so that the wrong one is of the third block.
TEST_F(SeveralDevicesRefuse, BadQueriesBeforeAnythingIsWritten) {
  auto sample = generate<float>(Kind::gaussian, {180, 61, 4}, MetricKind::euclidean, 3);
  sample.queries(58, 1) = kNan;
  Options options = emulated({}, {0, 1, 2});
  options.memory_budget = 96 << 10;
  std::vector<std::int64_t> ids(61 * 90, 77);
  std::vector<float> distances(ids.size(), 7);
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"quer", "row 58", "column 1"}, [&] {
    search_into(sample.base.view(), sample.queries.view(), 90, {ids.data(), distances.data()}, options);
  }));
  EXPECT_EQ(ids, std::vector<std::int64_t>(ids.size(), 77));
  EXPECT_EQ(distances, std::vector<float>(distances.size(), 7));
}

TEST_F(SeveralDevicesRefuse, BudgetsThatAreTooSmallByTheDevice) {
  Options options = emulated({}, {2, 1});
  options.memory_budget = 1;
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"device "}, [&] { kith::search(base(), queries(), 2, options); }));
}

// Big enough for several tiles of each device.
TEST_F(SeveralDevicesRefuse, ProgressRisesToTheTotalAndCancels) {
  const auto sample = generate<float>(Kind::gaussian, {2000, 40, 8}, MetricKind::euclidean, 2);
  Options options = emulated({}, {0, 1, 2});
  options.memory_budget = 256 << 10;
  const std::thread::id here = std::this_thread::get_id();
  Progress last;
  int calls = 0;
  options.progress = [&](const Progress& progress) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_GE(progress.done, last.done);
    EXPECT_EQ(progress.total, 2000 * 40);
    last = progress;
    ++calls;
    return true;
  };
  const auto want = kith::search(sample.base.view(), sample.queries.view(), 3, options);
  EXPECT_EQ(last.done, last.total);
  EXPECT_GT(calls, 0);
  int heard = 0;
  options.progress = [&](const Progress&) { return ++heard < 2; };
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {"cancelled by the progress callback"},
                         [&] { kith::search(sample.base.view(), sample.queries.view(), 3, options); }));
  EXPECT_EQ(heard, 2);
  heard = -1000;
  EXPECT_TRUE(same_answer(kith::search(sample.base.view(), sample.queries.view(), 3, options), want));
}

TEST_F(SeveralDevicesRefuse, TextThatNamesNoDevices) {
  EXPECT_EQ(parse_devices("0,2,1"), std::vector<int>({0, 2, 1}));
  EXPECT_EQ(parse_devices("5"), std::vector<int>({5}));
  EXPECT_EQ(parse_devices("All"), std::vector<int>({kAllDevices}));
  EXPECT_EQ(format_devices({0, 2, 1}), "0,2,1");
  EXPECT_EQ(format_devices({kAllDevices}), "all");
  for (const char* text : {"", "0,", ",0", "0 1", "-1", "0,-1", "x", "1.5", "99999999999"})
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {text, "all"}, [&] { parse_devices(text); })) << text;
}

}  // namespace
}  // namespace kith::test
