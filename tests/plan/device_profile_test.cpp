// The file that a device's costs come from: what is written reads back, what is wrong with a file is said, and the
// planner goes by what it is given and by nothing else.
#include "backend/profile_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "kith/error.hpp"
#include "kith/version.hpp"
#include "plan/choose.hpp"

namespace kith::backend {
namespace {

constexpr const char* kDevice = "A device/1";

// A folder and the variables that lead to it, for one test.
class DeviceProfileTest : public testing::Test {
 protected:
  DeviceProfileTest() {
    char name[] = "/tmp/kith-profile-XXXXXX";
    folder_ = mkdtemp(name);
    setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
    unsetenv("KITH_PROFILE");
  }
  ~DeviceProfileTest() override {
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("KITH_PROFILE");
    std::filesystem::remove_all(folder_);
  }

  static void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }

  std::string folder_;
};

core::DeviceProfile odd_profile() {
  core::DeviceProfile profile;
  double cost = 1e-13 / 3;
  for (const core::CostField& field : core::kCostFields) profile.*field.cost = cost *= 1.7;
  return profile;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_refused(const std::string& text, const std::string& why) {
  try {
    parse_profile(text, "some.json", kDevice);
    ADD_FAILURE() << "taken: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    EXPECT_NE(std::string(error.what()).find("some.json: "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

TEST_F(DeviceProfileTest, ReadsBackWhatIsWritten) {
  const core::DeviceProfile profile = odd_profile();
  EXPECT_EQ(parse_profile(to_text(profile, kDevice), "some.json", kDevice), profile);
  EXPECT_EQ(parse_profile(to_text({}, "β"), "some.json", "β"), core::DeviceProfile());
}

TEST_F(DeviceProfileTest, SaysWhatIsWrongWithAFile) {
  const std::string text = to_text({}, kDevice);
  expect_refused("", "no JSON object");
  expect_refused("[1, 2]", "no JSON object");
  expect_refused(text.substr(0, text.size() / 2), "no JSON object");
  expect_refused("{}", "field 'schema' is missing");
  expect_refused(replaced(text, "kith-device-profile", "other"), "field 'schema' is \"other\"");
  expect_refused(replaced(text, "\"schema_version\": 1", "\"schema_version\": 2"), "field 'schema_version' is 2");
  expect_refused(replaced(text, kDevice, "Another"), "field 'device' is \"Another\"");
  expect_refused(replaced(text, "\"seconds\": {", "\"seconds\": 3, \"others\": {"), "field 'seconds'");
  expect_refused(replaced(text, "\"tiled\"", "\"tilde\""), "there is no field \"tilde\"");
  expect_refused(replaced(text, "\"tiled\"", "\"\\u001b[31m\""), "there is no field \"\\u001b[31m\"");
  expect_refused(replaced(text, "\"read\": ", "\"read\": -"), "field 'read' is -");
  expect_refused(replaced(text, "\"read\": ", "\"read\": \"x\", \"start\": "), "field 'read' is \"x\"");
  expect_refused(replaced(text, "\"multiply\": ", "\"multiply\": 0, \"multiply_fp16\": "), "field 'multiply' is 0");
}

// What prints JSON calls itself for every level, and the stack has an end.
TEST_F(DeviceProfileTest, RefusesWhatIsNestedDeeply) {
  constexpr std::size_t kLevels = 200000;
  const std::string deep = std::string(kLevels, '[') + std::string(kLevels, ']');
  const std::string why = "nested more than 2 levels deep";
  expect_refused(deep, why);
  expect_refused(replaced(to_text({}, kDevice), "\"kith-device-profile\"", deep), why);
  expect_refused(replaced(to_text({}, kDevice), "\"read\": ", "\"read\": " + deep + ", \"start\": "), why);
  expect_refused(std::string(kLevels, '['), why);
}

TEST_F(DeviceProfileTest, RefusesFoldersAndEndlessFiles) {
  for (const char* file : {"/tmp", "/dev/zero"}) {
    setenv("KITH_PROFILE", file, 1);
    try {
      find_profile(kDevice);
      ADD_FAILURE() << "taken: " << file;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data);
      EXPECT_EQ(std::string(error.what()).rfind(std::string(file) + ": it ", 0), 0U) << error.what();
    }
  }
  unsetenv("KITH_PROFILE");
  std::filesystem::create_directories(profile_path(kDevice));
  EXPECT_NE(find_profile(kDevice).source.find("passed over"), std::string::npos);
}

TEST_F(DeviceProfileTest, NamesTheFieldThatIsMissing) {
  for (const core::CostField& field : core::kCostFields) {
    const std::string text = to_text({}, kDevice);
    const std::size_t begin = text.find("\"" + std::string(field.name) + "\":");
    std::size_t end = text.find_first_of(",}", begin);
    std::string shorter = text;
    if (text[end] == ',') {
      shorter.erase(begin, end + 1 - begin);
    } else {
      const std::size_t comma = text.rfind(',', begin);
      shorter.erase(comma, end - comma);
    }
    expect_refused(shorter, "field '" + std::string(field.name) + "' is missing");
  }
}

TEST_F(DeviceProfileTest, IsTheBuiltInOneWithoutAFile) {
  const FoundProfile found = find_profile(kDevice);
  EXPECT_EQ(found.profile, core::DeviceProfile());
  EXPECT_EQ(found.source, core::kDefaultProfile);
}

TEST_F(DeviceProfileTest, LiesUnderTheNameOfTheDevice) {
  EXPECT_EQ(profile_path(kDevice), folder_ + "/kith/A device-1.json");
  write(profile_path(kDevice), to_text(odd_profile(), kDevice));
  EXPECT_EQ(find_profile(kDevice).profile, odd_profile());
  EXPECT_EQ(find_profile(kDevice).source, profile_path(kDevice));
  EXPECT_EQ(find_profile("other").profile, core::DeviceProfile());
}

TEST_F(DeviceProfileTest, IsPassedOverWithANoteWhereNobodyNamedIt) {
  write(profile_path(kDevice), "{}");
  const FoundProfile found = find_profile(kDevice);
  EXPECT_EQ(found.profile, core::DeviceProfile());
  EXPECT_NE(found.source.find(core::kDefaultProfile), std::string::npos);
  EXPECT_NE(found.source.find(profile_path(kDevice) + ": field 'schema' is missing"), std::string::npos)
      << found.source;
}

TEST_F(DeviceProfileTest, MustBeRightWhereKithProfileNamesIt) {
  const std::string file = folder_ + "/mine.json";
  setenv("KITH_PROFILE", file.c_str(), 1);
  EXPECT_THROW(find_profile(kDevice), Error);
  write(file, to_text(odd_profile(), "other"));
  EXPECT_THROW(find_profile(kDevice), Error);
  write(file, to_text(odd_profile(), kDevice));
  EXPECT_EQ(find_profile(kDevice).profile, odd_profile());
  EXPECT_EQ(find_profile(kDevice).source, file);
}

Plan planned(const core::DeviceProfile& profile, const std::string& source) {
  core::DeviceFacts facts;
  facts.free_memory = std::int64_t{1} << 36;
  facts.profile = profile;
  facts.profile_source = source;
  Options options;
  return plan::choose({1000000, 1000, 128, 10, DType::float32}, options, facts);
}

TEST_F(DeviceProfileTest, IsAllThatThePlannerGoesBy) {
  const Plan before = planned({}, core::kDefaultProfile);
  EXPECT_EQ(before.profile, core::kDefaultProfile);
  // Neither a file nor a variable reaches the planner by itself.
  write(profile_path(kDevice), to_text(odd_profile(), kDevice));
  setenv("KITH_PROFILE", "/nonesuch", 1);
  EXPECT_EQ(to_string(planned({}, core::kDefaultProfile)), to_string(before));
}

TEST_F(DeviceProfileTest, ChangesWhatThePlannerChooses) {
  const Plan before = planned({}, core::kDefaultProfile);
  core::DeviceProfile profile;
  profile.multiply = 1e-18;
  profile.multiply_fp16 = profile.fused_fp16 = profile.register_tiled = 1e-9;
  const Plan gemm = planned(profile, "a file");
  EXPECT_EQ(gemm.distance, DistanceStage::gemm);
  EXPECT_EQ(gemm.profile, "a file");
  EXPECT_NE(to_string(gemm).find("a file"), std::string::npos);
  profile.multiply = 1e-9;
  EXPECT_NE(planned(profile, "a file").distance, DistanceStage::gemm);
  core::DeviceProfile dearer;
  for (const core::CostField& field : core::kCostFields) dearer.*field.cost *= 3;
  EXPECT_GT(planned(dearer, "").seconds, 2 * before.seconds);
}

}  // namespace
}  // namespace kith::backend
