// Which devices the code of a build runs on, and what is said of those that it does not run on.
#include "core/device_code.hpp"

#include <gtest/gtest.h>

#include "support/fails_with.hpp"

namespace kith::core {
namespace {

using test::fails_with;

bool is_usable(Capability device, const char* machine_code, const char* ptx) {
  return why_unusable("A device", device, parse_device_code(machine_code, ptx)).empty();
}

TEST(DeviceCode, MachineCodeRunsOnItsOwnGenerationFromItsMinorVersionOn) {
  EXPECT_TRUE(is_usable({8, 0}, "80", ""));
  EXPECT_TRUE(is_usable({8, 6}, "80", ""));
  EXPECT_TRUE(is_usable({8, 9}, "80,90", ""));
  EXPECT_FALSE(is_usable({8, 0}, "86", ""));
  EXPECT_FALSE(is_usable({9, 0}, "80,86,89", ""));
  EXPECT_FALSE(is_usable({8, 9}, "90", ""));
  EXPECT_TRUE(is_usable({12, 1}, "90,120", ""));
}

TEST(DeviceCode, PtxRunsOnAllDevicesFromItsVersionOn) {
  EXPECT_TRUE(is_usable({12, 0}, "", "90"));
  EXPECT_TRUE(is_usable({12, 0}, "80", "90"));
  EXPECT_TRUE(is_usable({9, 0}, "", "90"));
  EXPECT_FALSE(is_usable({8, 9}, "", "90"));
  EXPECT_FALSE(is_usable({8, 9}, "90", "90"));
}

TEST(DeviceCode, SuffixesRestrictIt) {
  EXPECT_TRUE(is_usable({9, 0}, "90a", ""));
  EXPECT_TRUE(is_usable({9, 0}, "", "90a"));
  EXPECT_FALSE(is_usable({10, 0}, "90a", "90a"));
  EXPECT_FALSE(is_usable({10, 3}, "100a", "100a"));
  EXPECT_TRUE(is_usable({10, 3}, "100f", ""));
  EXPECT_TRUE(is_usable({10, 3}, "", "100f"));
  EXPECT_FALSE(is_usable({12, 0}, "", "100f"));
}

TEST(DeviceCode, JetsonBoardsAndCardsHaveMachineCodeOfTheirOwn) {
  EXPECT_FALSE(is_usable({8, 7}, "80,86", ""));
  EXPECT_TRUE(is_usable({8, 7}, "87", ""));
  EXPECT_TRUE(is_usable({8, 7}, "", "80"));
  EXPECT_FALSE(is_usable({8, 9}, "87", ""));
}

TEST(DeviceCode, NoCodeRunsOnDevicesThatAreTooOld) {
  for (const Capability old : {Capability{5, 0}, {7, 0}, {7, 5}}) {
    EXPECT_FALSE(is_usable(old, "50,70,75,80", "50"));
    const std::string why = why_unusable("Tesla T4", old, parse_device_code("75,80", ""));
    EXPECT_NE(why.find("no build can use it: kernels need compute capability 8.0"), std::string::npos) << why;
    EXPECT_EQ(why.find("CMAKE_CUDA_ARCHITECTURES"), std::string::npos) << why;
  }
}

TEST(DeviceCode, SaysWhatTheBuildHasAndWhatWouldHelp) {
  EXPECT_EQ(why_unusable("NVIDIA L40S", {8, 9}, parse_device_code("90", "")),
            "NVIDIA L40S (compute capability 8.9) is here, but this build has machine code for 9.0 only: build with "
            "-DCMAKE_CUDA_ARCHITECTURES=89");
  EXPECT_EQ(why_unusable("A card", {8, 0}, parse_device_code("86,90a", "120")),
            "A card (compute capability 8.0) is here, but this build has machine code for 8.6, 9.0a and PTX for 12.0 "
            "only: build with -DCMAKE_CUDA_ARCHITECTURES=80");
  EXPECT_NE(why_unusable("A card", {12, 1}, {}).find("no code for devices"), std::string::npos);
  EXPECT_NE(why_unusable("A card", {12, 1}, {}).find("=121"), std::string::npos);
  EXPECT_EQ(why_driver_unusable(12020, 13000),
            "the NVIDIA driver here has CUDA 12.2, but this build needs 13.0: update the driver");
}

TEST(DeviceCode, ReadsListsOfArchitectures) {
  const DeviceCode code = parse_device_code("80,90a,100f", "120");
  EXPECT_EQ(code.machine_code, (std::vector<Architecture>{{{8, 0}}, {{9, 0}, 'a'}, {{10, 0}, 'f'}}));
  EXPECT_EQ(code.ptx, (std::vector<Architecture>{{{12, 0}}}));
  EXPECT_EQ(parse_device_code("", ""), DeviceCode());
  for (const char* wrong : {"x", "9", "80;90", "90b", "80,,90", "native"})
    EXPECT_TRUE(fails_with(ErrorCode::internal, {"architecture"}, [&] { parse_device_code(wrong, ""); })) << wrong;
}

}  // namespace
}  // namespace kith::core
