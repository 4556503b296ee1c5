// profile_file.hpp: files that say what a device's steps cost. `kith tune` writes them; docs/tuning.md has their form.
// The planner reads none: a profile comes to it with the facts of a device.
#pragma once

#include <string>
#include <string_view>

#include "core/facts.hpp"

namespace kith::backend {

// The profile as the text of a file, and back. Reading throws Error(bad_data) with the file's name and what is wrong
// with which field: one that is missing, unknown or no positive number, or a device other than this one.
std::string to_text(const core::DeviceProfile& profile, const std::string& device);
core::DeviceProfile parse_profile(std::string_view text, const std::string& file, const std::string& device);

// ${XDG_CONFIG_HOME:-$HOME/.config}/kith/<device>.json; empty where neither variable is set.
std::string profile_path(const std::string& device);

struct FoundProfile {
  core::DeviceProfile profile;
  std::string source = core::kDefaultProfile;  // or the file; and which file was passed over, and why
};

// The file that KITH_PROFILE names, which must be right; else the one at profile_path(), if it is there and right; else
// what is built in.
FoundProfile find_profile(const std::string& device, FoundProfile built_in = {});

}  // namespace kith::backend
