// How rows are shared out among devices.
#include "api/devices/stripes.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "api/devices/worker.hpp"
#include "core/datasheets.hpp"
#include "core/derived_profile.hpp"

namespace kith::test {
namespace {

std::vector<std::int64_t> rows_of(std::int64_t rows, const std::vector<double>& rates) {
  std::vector<std::int64_t> counts;
  std::int64_t next = 0;
  for (const api::Stripe& stripe : api::stripes_of(rows, rates)) {
    EXPECT_EQ(stripe.first, next);
    EXPECT_GE(stripe.rows, 0);
    next += stripe.rows;
    counts.push_back(stripe.rows);
  }
  EXPECT_EQ(next, rows);
  return counts;
}

using Rows = std::vector<std::int64_t>;

TEST(Stripes, AreAsLongAsDevicesAreFast) {
  EXPECT_EQ(rows_of(900, {1, 1, 1}), Rows({300, 300, 300}));
  EXPECT_EQ(rows_of(1000, {1, 1, 1}), Rows({333, 334, 333}));
  EXPECT_EQ(rows_of(100, {1, 3}), Rows({25, 75}));
  EXPECT_EQ(rows_of(100, {0.5, 0.5, 1}), Rows({25, 25, 50}));
  EXPECT_EQ(rows_of(7, {1e-9, 1}), Rows({0, 7}));
}

TEST(Stripes, MayBeEmpty) {
  EXPECT_EQ(rows_of(1, {1}), Rows({1}));
  for (const std::int64_t rows : {0, 1, 2, 3, 5, 8})
    for (std::size_t workers = 1; workers < 20; ++workers) {
      const Rows counts = rows_of(rows, std::vector<double>(workers, 1.0));
      for (const std::int64_t count : counts) EXPECT_LE(count, rows / static_cast<std::int64_t>(workers) + 1);
    }
}

// Workers on devices by their datasheets, of which nothing is asked but their plans.
std::vector<api::Worker> workers_on(const std::vector<std::pair<int, std::string>>& devices) {
  std::vector<api::Worker> workers;
  for (const auto& [id, name] : devices) {
    api::Worker worker;
    worker.device = id;
    worker.machine = core::facts_of(*core::find_datasheet(name));
    workers.push_back(std::move(worker));
  }
  return workers;
}

TEST(Stripes, GoByTheProfilesOfDevices) {
  const Problem problem{1000000, 1, 128, 1, DType::float32};
  const std::vector<double> alike = rates_of(workers_on({{0, "h100"}, {1, "h100"}, {1, "h100"}}), problem);
  EXPECT_EQ(alike, std::vector<double>({1, 0.5, 0.5}));
  const std::vector<double> mixed = rates_of(workers_on({{0, "a100"}, {1, "h100"}, {2, "a100"}}), problem);
  EXPECT_GT(mixed[0], 0);
  EXPECT_GT(mixed[1], 1.2 * mixed[0]);  // an H100 multiplies faster than that
  EXPECT_EQ(mixed[2], mixed[0]);
}

// The search itself refuses it and says why.
TEST(Stripes, AreEqualWhereNothingCanBePlanned) {
  std::vector<api::Worker> workers = workers_on({{0, "a100"}, {1, "h100"}});
  for (api::Worker& worker : workers) worker.options.memory_budget = 1;
  EXPECT_EQ(rates_of(workers, {1000000, 1, 128, 1, DType::float32}), std::vector<double>({1, 1}));
}

}  // namespace
}  // namespace kith::test
