// Costs of devices that nobody measured: what datasheets say, and what follows from it.
#include "core/derived_profile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "plan/choose.hpp"

namespace kith::core {
namespace {

const Datasheet& sheet_of(const char* name) {
  const Datasheet* sheet = find_datasheet(name);
  if (sheet == nullptr) throw std::runtime_error(std::string("no datasheet of ") + name);
  return *sheet;
}

// Datasheets state the rate of single precision, which clock and multiprocessors must give.
TEST(Datasheets, AgreeWithTheRatesThatTheyState) {
  const std::map<std::string, double> stated = {
      {"a100", 19.5}, {"a100-40gb", 19.5}, {"a10", 31.2},     {"rtx3090", 35.6}, {"orin", 5.3},
      {"l40s", 91.6}, {"rtx4090", 82.6},   {"h100", 67},      {"h100-pcie", 51}, {"h200", 67},
      {"gh200", 67},  {"b200", 75},        {"rtx5090", 104.8}};
  for (const Datasheet& sheet : datasheets()) {
    ASSERT_TRUE(stated.contains(sheet.name)) << sheet.name;
    EXPECT_NEAR(2e-12 * figures_of(sheet).fp32 / stated.at(sheet.name), 1, 0.03) << sheet.name;
  }
}

// The rates by capability serve devices that have no datasheet here.
TEST(Datasheets, AgreeWithTheRatesOfTheirCapability) {
  for (const Datasheet& sheet : datasheets()) {
    const DeviceFigures told = figures_of(hardware_of(sheet), sheet.title, sheet.clock, sheet.bandwidth);
    const DeviceFigures stated = figures_of(sheet);
    EXPECT_NEAR(told.fp16 / stated.fp16, 1, 0.1) << sheet.name;  // tensor cores may have a clock of their own
    EXPECT_EQ(told.fp32, stated.fp32) << sheet.name;
    EXPECT_EQ(told.fp64, stated.fp64) << sheet.name;
    EXPECT_EQ(told.has_wgmma, stated.has_wgmma) << sheet.name;
    EXPECT_TRUE(kLeastCapability <= sheet.capability) << sheet.name;
    EXPECT_EQ(rates_of(sheet.capability).capability, sheet.capability) << sheet.name;
  }
  EXPECT_EQ(rates_of({12, 1}).capability, (Capability{12, 0}));
  EXPECT_EQ(rates_of({20, 0}).capability, (Capability{12, 0}));
}

TEST(Datasheets, AreFoundByAnyOfTheirNames) {
  const std::map<std::string, std::string> names = {{"NVIDIA A100-SXM4-80GB", "a100"},
                                                    {"NVIDIA A100-SXM4-40GB", "a100-40gb"},
                                                    {"NVIDIA H100 80GB HBM3", "h100"},
                                                    {"NVIDIA H100 PCIe", "h100-pcie"},
                                                    {"NVIDIA H200", "h200"},
                                                    {"NVIDIA GH200 480GB", "gh200"},
                                                    {"grace-hopper", "gh200"},
                                                    {"NVIDIA GeForce RTX 4090", "rtx4090"},
                                                    {"RTX 4090", "rtx4090"},
                                                    {"rtx_5090", "rtx5090"},
                                                    {"3090", "rtx3090"},
                                                    {"Orin", "orin"},
                                                    {"L40S", "l40s"}};
  for (const auto& [name, known] : names) {
    ASSERT_NE(find_datasheet(name), nullptr) << name;
    EXPECT_EQ(find_datasheet(name)->name, known) << name;
  }
  for (const char* name : {"", "nvidia", "t4", "a1000", "Kith emulator", "NVIDIA A10G"})
    EXPECT_EQ(find_datasheet(name), nullptr) << name;
  std::set<const Datasheet*> found;
  for (const Datasheet& sheet : datasheets()) EXPECT_TRUE(found.insert(find_datasheet(sheet.name)).second);
}

// What is derived of an H200 beside what was measured on one. That its round numbers were chosen with these
// measurements at hand makes this a check of the arithmetic; kith_plan_replay looks at times of searches.
TEST(DerivedProfile, IsNearTheMeasuredOne) {
  const DeviceProfile measured;
  const DeviceProfile derived = derive_profile(figures_of(sheet_of("h200")));
  for (const CostField& field : kCostFields) {
    EXPECT_GT(derived.*field.cost / measured.*field.cost, 0.75) << field.name;
    EXPECT_LT(derived.*field.cost / measured.*field.cost, 1.33) << field.name;
  }
}

TEST(DerivedProfile, EveryCostButTheStartFollowsTheHardware) {
  DeviceFigures figures = figures_of(sheet_of("a100"));
  const DeviceProfile whole = derive_profile(figures);
  for (double DeviceFigures::*figure : {&DeviceFigures::fp32, &DeviceFigures::fp64, &DeviceFigures::conversions,
                                        &DeviceFigures::fp16, &DeviceFigures::warp_fp16, &DeviceFigures::bandwidth})
    figures.*figure /= 2;
  const DeviceProfile half = derive_profile(figures);
  for (const CostField& field : kCostFields)
    EXPECT_NEAR(half.*field.cost / whole.*field.cost, std::string(field.name) == "start" ? 1 : 2, 1e-9) << field.name;
}

TEST(DerivedProfile, KeysFollowTheRateOfDoublePrecision) {
  const auto keys = [](const char* name) { return derive_profile(figures_of(sheet_of(name))).keys; };
  const auto single = [](const char* name) { return derive_profile(figures_of(sheet_of(name))).register_tiled; };
  EXPECT_GT(keys("rtx4090"), 5 * keys("a100"));
  EXPECT_LT(single("rtx4090"), single("a100"));
}

// Also where double precision is slow: pairs of floats give keys there.
TEST(DerivedProfile, KeysOfFinalistsTakeLessTimeThanTheirMemory) {
  int slow = 0;
  for (const Datasheet& sheet : datasheets()) {
    const DeviceFigures figures = figures_of(sheet);
    DeviceFigures endless = figures;
    endless.fp32 = endless.fp64 = endless.conversions = 1e30;
    EXPECT_EQ(derive_profile(figures).finalist, derive_profile(endless).finalist) << sheet.name;
    slow += hardware_of(sheet).has_slow_doubles() ? 1 : 0;
  }
  EXPECT_GE(slow, 5);
  for (const char* name : {"a100", "h100", "h200", "b200"})
    EXPECT_FALSE(hardware_of(sheet_of(name)).has_slow_doubles()) << name;
}

TEST(DerivedProfile, WithoutWgmmaProductsAreThoseOfWarps) {
  DeviceFigures figures = figures_of(sheet_of("b200"));
  EXPECT_FALSE(figures.has_wgmma);
  EXPECT_LT(figures.warp_fp16, figures.fp16 / 3);
  const DeviceProfile by_warps = derive_profile(figures);
  figures.has_wgmma = true;
  EXPECT_GT(by_warps.fused_fp16, 3 * derive_profile(figures).fused_fp16);
  EXPECT_EQ(by_warps.multiply_fp16, derive_profile(figures).multiply_fp16);
}

TEST(BuiltInProfile, IsTheMeasuredOneOfAnH200AndElseSaysThatItIsDerived) {
  DeviceFacts facts;
  facts.name = "NVIDIA H200";
  set_built_in_profile(facts, 1e9, 1e12);
  EXPECT_EQ(facts.profile, DeviceProfile());
  EXPECT_EQ(facts.profile_source, kDefaultProfile);

  facts.policy.hardware.has_sm_90_kernels = false;
  set_built_in_profile(facts, 1e9, 1e12);
  EXPECT_NE(facts.profile, DeviceProfile());
  EXPECT_GT(facts.profile.fused_fp16, 1.5 * DeviceProfile().fused_fp16) << "what was measured had these kernels";

  facts = {};
  facts.name = "NVIDIA A100-SXM4-80GB";
  set_built_in_profile(facts, 1e9, 1e12);
  EXPECT_EQ(facts.profile, derive_profile(figures_of(sheet_of("a100"))));
  EXPECT_EQ(facts.profile_source, "derived from a datasheet, not measured");
  EXPECT_GT(facts.policy.sorted_picoseconds, policy_for({}).sorted_picoseconds);

  facts.name = "NVIDIA RTX 9999";
  facts.profile_source = kDefaultProfile;
  facts.profile = {};
  set_built_in_profile(facts, 0, 1e12);
  EXPECT_EQ(facts.profile, DeviceProfile());
  set_built_in_profile(facts, 1.98e9, 2.4e12);
  EXPECT_EQ(facts.profile_source, "derived from what the driver says of the device, not measured");
  EXPECT_NEAR(facts.profile.read / derive_profile(figures_of(sheet_of("h200"))).read, 2, 1e-9);
  EXPECT_NEAR(facts.profile.multiply / derive_profile(figures_of(sheet_of("h200"))).multiply, 1, 1e-9);
}

TEST(BuiltInProfile, SmallChipsAreNotPlannedForAsAnH200) {
  const Problem problem{1000000, 10000, 128, 10};
  const Plan large = plan::choose(problem, {}, facts_of(sheet_of("h200")));
  const Plan small = plan::choose(problem, {}, facts_of(sheet_of("orin")));
  EXPECT_GT(small.seconds, 10 * large.seconds);
  EXPECT_EQ(small.profile, "derived from a datasheet, not measured");
  EXPECT_EQ(small.device, "NVIDIA Jetson AGX Orin 64 GB");
}

}  // namespace
}  // namespace kith::core
