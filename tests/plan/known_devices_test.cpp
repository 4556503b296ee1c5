// Plans for devices that are not here.
#include <gtest/gtest.h>

#include "kith/plan.hpp"
#include "plan/choose.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

constexpr Problem kLargeSearch{1000000, 10000, 128, 10};

TEST(KnownDevices, AllHavePlans) {
  const std::vector<KnownDevice> all = known_devices();
  ASSERT_GT(all.size(), 10U);
  for (const KnownDevice& device : all) {
    SCOPED_TRACE(device.name);
    const Plan plan = explain(kLargeSearch, {}, device.name);
    EXPECT_EQ(plan.backend, Backend::cuda);
    EXPECT_EQ(plan.device, device.title);
    EXPECT_EQ(plan.profile, device.profile);
    EXPECT_GT(plan.seconds, 0);
    EXPECT_TRUE(plan.base_fits);
    EXPECT_GT(plan.budget_bytes, 0.45 * static_cast<double>(device.memory_bytes));
    EXPECT_LT(plan.budget_bytes, 0.5 * static_cast<double>(device.memory_bytes));
    const bool derived = plan.profile.find("derived from a datasheet, not measured") != std::string::npos;
    EXPECT_EQ(derived, device.name != "h200");
    const std::string text = to_string(plan);
    EXPECT_NE(text.find("device    " + device.title), std::string::npos) << text;
    EXPECT_NE(text.find("costs     " + plan.profile), std::string::npos) << text;
  }
}

TEST(KnownDevices, FasterOnesArePredictedToBeFaster) {
  const auto seconds = [](const char* device) { return explain(kLargeSearch, {}, device).seconds; };
  EXPECT_LT(seconds("h200"), seconds("a100"));
  EXPECT_LT(seconds("a100"), seconds("a10"));
  EXPECT_LT(seconds("a10"), seconds("orin"));
  EXPECT_LT(seconds("rtx5090"), seconds("rtx4090"));
  EXPECT_LT(seconds("rtx4090"), seconds("rtx3090"));
}

TEST(KnownDevices, StagesNeedTheirHardware) {
  Options options;
  options.distance = DistanceStage::int8;
  const Problem bytes{1000000, 10000, 128, 10, DType::uint8};
  EXPECT_EQ(explain(bytes, options, "h100").distance, DistanceStage::int8);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"int8", "8.9"}, [&] { explain(bytes, options, "l40s"); }));
}

TEST(KnownDevices, ABaseThatDoesNotFitIsStreamed) {
  const Problem large{50000000, 100, 128, 10};  // 25.6 GB
  EXPECT_TRUE(explain(large, {}, "b200").base_fits);
  const Plan plan = explain(large, {}, "rtx4090");
  EXPECT_FALSE(plan.base_fits);
  EXPECT_DOUBLE_EQ(plan.seconds, 25.6e9 / 32e9);  // PCIe 4
  EXPECT_NE(plan.reason.find("25.6 GB, are streamed through"), std::string::npos) << plan.reason;
  EXPECT_LT(explain(large, {}, "b200").seconds, 0.1);
  const Problem bytes{200000000, 100, 128, 10, DType::uint8};  // 25.6 GB too
  EXPECT_DOUBLE_EQ(explain(bytes, {}, "rtx4090").seconds, 25.6e9 / 32e9);
  EXPECT_NE(to_string(plan).find("no room for"), std::string::npos) << plan;
}

TEST(KnownDevices, OptionsAreCheckedAndUnknownNamesListTheOthers) {
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"'t4'", "a100", "h200", "rtx5090"},
                         [] { explain(kLargeSearch, {}, "t4"); }));
  Options options;
  options.backend = Backend::cpu;
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"cpu", "cuda"}, [&] { explain(kLargeSearch, options, "a100"); }));
  options = {};
  options.threads = -1;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"-1"}, [&] { explain(kLargeSearch, options, "a100"); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 0"}, [] { explain({10, 1, 1, 0}, {}, "a100"); }));
}

// Where `auto` came to the CPU, plans say what kept a device from being used, once.
TEST(DeviceObstacle, IsPartOfTheReason) {
  core::CpuFacts facts;
  facts.free_memory = std::int64_t{1} << 34;
  const Problem problem{100000, 100, 3, 5};
  const std::string reason = plan::choose(problem, {}, facts).reason;
  facts.device_obstacle = "a device is here, but no build can use it";
  EXPECT_EQ(plan::choose(problem, {}, facts).reason, reason + "; on the CPU since " + facts.device_obstacle);
  const Problem within{100000, 100, 3, 0};
  const std::string radius = plan::choose_radius(within, {}, facts).reason;
  EXPECT_EQ(radius.find(facts.device_obstacle), radius.size() - facts.device_obstacle.size());
}

}  // namespace
}  // namespace kith::test
