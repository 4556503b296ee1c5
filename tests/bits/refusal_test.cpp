// What searches of packed bits refuse, and how they report, stop and plan.
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bits/bit_problem.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

using enum ErrorCode;

class BitRefusals : public testing::Test {
 protected:
  static Options on_cpu() {
    Options options;
    options.backend = Backend::cpu;
    return options;
  }
  BitIndex index(const Options& options = on_cpu()) const {
    return BitIndex(base_.view(), BitMetric::hamming, options);
  }
  testing::AssertionResult refuses(const Options& options, const std::vector<std::string>& mentions,
                                   ErrorCode code = invalid_argument) const {
    return fails_with(code, mentions, [&] { index(options).search(base_.view(), 3); });
  }

  PackedRows base_ = make_rows({.rows = 50, .bits = 20, .seed = 40});
};

TEST_F(BitRefusals, ViewsThatCannotBe) {
  const std::uint8_t byte = 0;
  const auto refused = [&](const BitsView& view, const std::vector<std::string>& mentions) {
    return fails_with(invalid_argument, mentions, [&] { BitIndex(view, BitMetric::hamming, on_cpu()); });
  };
  EXPECT_TRUE(refused({&byte, 0, 8}, {"0 rows"}));
  EXPECT_TRUE(refused({&byte, 1, 0}, {"0 bits", "1073741824"}));
  EXPECT_TRUE(refused({&byte, 1, (std::int64_t{1} << 30) + 1}, {"1073741825 bits"}));
  EXPECT_TRUE(refused({nullptr, 1, 8}, {"null pointer"}));
  EXPECT_TRUE(refused({&byte, 1, 8, -1}, {"stride of -1"}));
  EXPECT_TRUE(refused({&byte, std::int64_t{1} << 40, 8, std::int64_t{1} << 40}, {"address space"}));
  EXPECT_TRUE(fails_with(invalid_argument, {"7 bytes", "3 bytes", "20 bits"},
                         [] { BitIndex(std::vector<std::uint8_t>(7), 20, BitMetric::hamming, on_cpu()); }));
  EXPECT_TRUE(fails_with(invalid_argument, {"0 rows"},
                         [] { BitIndex(std::vector<std::uint8_t>(), 20, BitMetric::hamming, on_cpu()); }));
}

TEST_F(BitRefusals, BitsPastTheEnd) {
  std::vector<std::uint8_t> bytes(50 * 3);
  bytes[31 * 3 + 2] = 0x18;
  EXPECT_TRUE(fails_with(bad_data, {"base row 31", "20 bits", "0x18", "4 highest"},
                         [&] { BitIndex(BitsView(bytes.data(), 50, 20), BitMetric::hamming, on_cpu()); }));
  EXPECT_TRUE(fails_with(bad_data, {"query 31"}, [&] { index().search({bytes.data(), 50, 20}, 1); }));
  Options unchecked = on_cpu();
  unchecked.check_finite = false;
  EXPECT_NO_THROW(BitIndex(BitsView(bytes.data(), 50, 20), BitMetric::jaccard, unchecked).search(base_.view(), 50));
}

TEST_F(BitRefusals, ArgumentsOfSearches) {
  EXPECT_TRUE(fails_with(invalid_argument, {"k = 0"}, [&] { index().search(base_.view(), 0); }));
  EXPECT_TRUE(fails_with(invalid_argument, {"k = 51", "50"}, [&] { index().search(base_.view(), 51); }));
  EXPECT_TRUE(fails_with(invalid_argument, {"k = 50", "49"}, [&] { index().search_self(50); }));
  EXPECT_TRUE(fails_with(invalid_argument, {"20 bits", "of 24"}, [&] {
    index().search({base_.bytes.data(), 50, 24}, 1);
  }));
  EXPECT_TRUE(fails_with(invalid_argument, {"null pointer"}, [&] { index().search_into(base_.view(), 1, {}); }));
  std::int64_t id = 0;
  float distance = 0;
  EXPECT_TRUE(fails_with(invalid_argument, {"on a device"}, [&] {
    index().search_into({base_.bytes.data(), 1, 20}, 1, {&id, &distance, Memory::device});
  }));
  EXPECT_TRUE(fails_with(invalid_argument, {"2 radii for 50 queries"}, [&] {
    index().search_radius(base_.view(), std::vector{0.1F, 0.2F});
  }));
  EXPECT_TRUE(fails_with(invalid_argument, {"radius = -0.5"},
                         [&] { index().search_radius(base_.view(), std::vector{-0.5F}); }));
  EXPECT_TRUE(fails_with(invalid_argument, {"radius = nan"}, [&] {
    index().search_radius(base_.view(), std::vector{std::numeric_limits<float>::quiet_NaN()});
  }));
  EXPECT_TRUE(fails_with(invalid_argument, {"0 queries"}, [&] { (void)index().explain(0, 1); }));
  BitIndex from = index();
  const BitIndex to(std::move(from));
  EXPECT_TRUE(fails_with(invalid_argument, {"moved from"}, [&] { (void)from.rows(); }));
}

TEST_F(BitRefusals, OptionsOfOtherSearches) {
  Options options = on_cpu();
  options.metric = MetricKind::manhattan;
  EXPECT_TRUE(refuses(options, {"manhattan", "packed bits"}));
  options = on_cpu();
  options.method = Method::tree;
  EXPECT_TRUE(refuses(options, {"method tree"}));
  options.method = Method::brute;
  EXPECT_NO_THROW(index(options).search(base_.view(), 3));
  options = on_cpu();
  options.distance = DistanceStage::gemm;
  EXPECT_TRUE(refuses(options, {"gemm"}));
  options = on_cpu();
  options.select = SelectMethod::threshold_filter;
  EXPECT_TRUE(refuses(options, {"threshold-filter"}));
  options = on_cpu();
  options.epsilon = 0.5;
  EXPECT_TRUE(refuses(options, {"epsilon = 0.5"}));
  options = on_cpu();
  options.period = {1};
  EXPECT_TRUE(refuses(options, {"periodic"}));
  options = on_cpu();
  options.threads = -3;
  EXPECT_TRUE(refuses(options, {"threads = -3"}));
  options = on_cpu();
  options.max_distance = -1;
  EXPECT_TRUE(refuses(options, {"max_distance = -1"}));
  options.max_distance = 0.5;
  EXPECT_TRUE(fails_with(invalid_argument, {"max_distance = 0.5", "radius"},
                         [&] { index(options).search_radius(base_.view(), std::vector{0.1F}); }));
}

TEST_F(BitRefusals, ABudgetNamesTheLeastThatWouldDo) {
  Options options = on_cpu();
  options.memory_budget = 100;
  EXPECT_TRUE(refuses(options, {"100 bytes", "k = 3", "50 rows of 20 bits"}, out_of_memory));
  try {
    index(options).search(base_.view(), 3);
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    options.memory_budget = std::stoll(text.substr(text.find("at least ") + 9));
  }
  EXPECT_TRUE(is_exact(index(options).search(base_.view(), 3), BitMetric::hamming, base_, base_));
  --options.memory_budget;
  EXPECT_TRUE(refuses(options, {"too small"}, out_of_memory));
}

TEST(BitProgress, RisesToTheTotalAndStops) {
  const PackedRows base = make_rows({.rows = 40000, .bits = 96, .seed = 41});
  const PackedRows queries = make_rows({.rows = 200, .bits = 96, .seed = 42});
  Options options;
  options.backend = Backend::cpu;
  options.threads = 1;
  std::int64_t last = 0;
  std::int64_t calls = 0;
  options.progress = [&](const Progress& progress) {
    EXPECT_GE(progress.done, last);
    EXPECT_EQ(progress.total, 40000 * 200);
    last = progress.done;
    ++calls;
    return true;
  };
  BitIndex(base.view(), BitMetric::hamming, options).search(queries.view(), 5);
  EXPECT_EQ(last, 40000 * 200);
  EXPECT_GT(calls, 2);
  calls = 0;
  options.progress = [&](const Progress&) { return ++calls < 2; };
  const BitIndex index(base.view(), BitMetric::jaccard, options);
  EXPECT_TRUE(fails_with(cancelled, {"cancelled"}, [&] { index.search(queries.view(), 5); }));
  calls = 0;
  EXPECT_TRUE(fails_with(cancelled, {"cancelled"}, [&] { index.search_radius(queries.view(), std::vector{0.1F}); }));
}

TEST(BitPlans, SayWhatIsDone) {
  const PackedRows base = make_rows({.rows = 1000, .bits = 96, .seed = 43});
  Options options;
  options.backend = Backend::cpu;
  options.threads = 2;
  const BitIndex index(base.view(), BitMetric::jaccard, options);
  std::ostringstream text;
  text << index.explain(7, 3);
  for (const char* part :
       {"7 queries × 1000 rows × 96 packed bits", "k = 3", "jaccard", "2 threads", "tiles", "memory"})
    EXPECT_NE(text.str().find(part), std::string::npos) << text.str();
  const BitNeighbors found = index.search({base.bytes.data(), 7, 96}, 3);
  EXPECT_EQ(to_string(found.report.plan), text.str());
  EXPECT_GE(found.report.candidates, 7 * 3);
  EXPECT_GT(found.report.seconds, 0);
}

}  // namespace
}  // namespace kith::test
