// device_code.hpp: whether code that was compiled for some architectures runs on a device, and what to say where it
// does not. The rules are those of the CUDA programming guide:
//   machine code of X.y runs on X.z with z ≥ y; on the processors of Jetson boards only that of their own capability
//   PTX of X.y is compiled by the driver of any device from X.y on
//   a suffix restricts either: "90a" to 9.0 alone, "100f" to the family 10.x from 10.0 on
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kith::core {

// A compute capability.
struct Capability {
  int major = 0;
  int minor = 0;

  bool operator==(const Capability&) const = default;
};

constexpr bool operator<=(Capability a, Capability b) {
  return a.major < b.major || (a.major == b.major && a.minor <= b.minor);
}

// Kernels copy asynchronously to shared memory, which devices before these cannot.
inline constexpr Capability kLeastCapability{8, 0};

struct Architecture {
  Capability capability;
  char suffix = '\0';  // 'a', 'f' or none

  bool operator==(const Architecture&) const = default;
};

// What a build has.
struct DeviceCode {
  std::vector<Architecture> machine_code;
  std::vector<Architecture> ptx;

  bool operator==(const DeviceCode&) const = default;
};

// From lists as CMake has them, with commas: "80,86,90a". Throws Error(internal) for anything else.
DeviceCode parse_device_code(std::string_view machine_code, std::string_view ptx);

// "NVIDIA L40S (compute capability 8.9) is here, but this build has machine code for 9.0 only: ..."; empty where the
// device can be used.
std::string why_unusable(const std::string& device, Capability capability, const DeviceCode& code);

// The same of a driver that is too old for every device; versions as the CUDA runtime has them, 13000 for 13.0.
std::string why_driver_unusable(int driver, int needed);

}  // namespace kith::core
