// device_profile.hpp: what the planner believes a device's steps cost, and the files that say so. `kith tune` writes
// them; docs/tuning.md has their form. The planner itself reads none: a profile comes to it with the facts of a device.
#pragma once

#include <string>
#include <string_view>

namespace kith::plan {

// Seconds a step on the whole device. The defaults are an H200's.
struct DeviceProfile {
  double multiply = 1 / 23e12;
  double multiply_fp16 = 1 / 450e12;
  double fused_fp16 = 1 / 180e12;
  double fused_fp16_pair = 0.54e-12;
  double register_tiled = 1 / 20e12;
  double fused_pair = 0.4e-12;
  double tiled = 1 / 6.1e12;
  double direct = 1 / 5.7e12;
  double keys = 1 / 1.45e12;
  double score = 2.4e-12;
  double candidate = 90e-12;
  double finalist = 200e-12;
  double read = 1 / 4.5e12;
  double start = 85e-6;

  bool operator==(const DeviceProfile&) const = default;
};

inline constexpr const char* kDefaultProfile = "built in, of an H200";

struct CostField {
  using Member = double DeviceProfile::*;

  const char* name;
  Member cost;
  const char* meaning;
};

// Every field: what is not here is neither read nor written.
inline constexpr CostField kCostFields[] = {
    {"multiply", &DeviceProfile::multiply, "a coordinate of a pair, by the matrix product in single precision"},
    {"multiply_fp16", &DeviceProfile::multiply_fp16, "the same of fp16"},
    {"fused_fp16", &DeviceProfile::fused_fp16, "the same where no score is stored"},
    {"fused_fp16_pair", &DeviceProfile::fused_fp16_pair, "a score of these, looked at"},
    {"register_tiled", &DeviceProfile::register_tiled, "one instruction a coordinate of a pair, in registers"},
    {"fused_pair", &DeviceProfile::fused_pair, "a score of these, looked at where none is stored"},
    {"tiled", &DeviceProfile::tiled, "a coordinate of a pair, from shared memory"},
    {"direct", &DeviceProfile::direct, "the same where nothing is kept"},
    {"exact", &DeviceProfile::keys, "the same in double and in the order of keys"},
    {"score", &DeviceProfile::score, "a score that is stored and selected from"},
    {"candidate", &DeviceProfile::candidate, "a place for what passes the limit of a fused search"},
    {"finalist", &DeviceProfile::finalist, "a candidate that gets a key and is sorted"},
    {"read", &DeviceProfile::read, "a byte of memory"},
    {"start", &DeviceProfile::start, "of a search's kernels"},
};
static_assert(sizeof(kCostFields) / sizeof(CostField) == sizeof(DeviceProfile) / sizeof(double),
              "every cost has a row in the table");

// The profile as the text of a file, and back. Reading throws Error(bad_data) with the file's name and what is wrong
// with which field: one that is missing, unknown or no positive number, or a device other than this one.
std::string to_text(const DeviceProfile& profile, const std::string& device);
DeviceProfile parse_profile(std::string_view text, const std::string& file, const std::string& device);

// ${XDG_CONFIG_HOME:-$HOME/.config}/kith/<device>.json; empty where neither variable is set.
std::string profile_path(const std::string& device);

struct FoundProfile {
  DeviceProfile profile;
  std::string source = kDefaultProfile;  // or the file; and which file was passed over, and why
};

// The file that KITH_PROFILE names, which must be right; else the one at profile_path(), if it is there and right; else
// the default.
FoundProfile find_profile(const std::string& device);

}  // namespace kith::plan
