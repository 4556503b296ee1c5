#include "core/device_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "kith/error.hpp"

namespace kith::core {
namespace {

// Of Jetson boards, whose machine code is no other device's.
constexpr Capability kJetson[] = {{8, 7}, {11, 0}};

bool is_jetson(Capability capability) {
  return std::find(std::begin(kJetson), std::end(kJetson), capability) != std::end(kJetson);
}

bool is_same_family(Capability code, Capability device) {
  return code.major == device.major && code.minor <= device.minor;
}

bool runs_machine_code(const Architecture& code, Capability device) {
  const bool exact = code.suffix == 'a' || is_jetson(device) || is_jetson(code.capability);
  return exact ? code.capability == device : is_same_family(code.capability, device);
}

bool runs_ptx(const Architecture& code, Capability device) {
  if (code.suffix == 'a') return code.capability == device;
  return code.suffix == 'f' ? is_same_family(code.capability, device) : code.capability <= device;
}

Architecture parse_architecture(std::string_view text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  if (error != std::errc() || number < 10 || (!suffix.empty() && suffix != "a" && suffix != "f"))
    throw Error(ErrorCode::internal, fmt::format("'{}' is no architecture of a CUDA device", text));
  return {{number / 10, number % 10}, suffix.empty() ? '\0' : suffix.front()};
}

std::vector<Architecture> parse_architectures(std::string_view list) {
  std::vector<Architecture> all;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    all.push_back(parse_architecture(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return all;
}

std::string list_text(const std::vector<Architecture>& all) {
  std::string text;
  for (const Architecture& one : all)
    text += fmt::format("{}{}.{}{}", text.empty() ? "" : ", ", one.capability.major, one.capability.minor,
                        one.suffix == '\0' ? "" : std::string(1, one.suffix));
  return text;
}

std::string code_text(const DeviceCode& code) {
  if (code.machine_code.empty() && code.ptx.empty()) return "no code for devices";
  if (code.ptx.empty()) return fmt::format("machine code for {} only", list_text(code.machine_code));
  if (code.machine_code.empty()) return fmt::format("PTX for {} only", list_text(code.ptx));
  return fmt::format("machine code for {} and PTX for {} only", list_text(code.machine_code), list_text(code.ptx));
}

}  // namespace

DeviceCode parse_device_code(std::string_view machine_code, std::string_view ptx) {
  return {parse_architectures(machine_code), parse_architectures(ptx)};
}

std::string why_unusable(const std::string& device, Capability capability, const DeviceCode& code) {
  const std::string here =
      fmt::format("{} (compute capability {}.{}) is here, but ", device, capability.major, capability.minor);
  if (!(kLeastCapability <= capability))
    return here + fmt::format("no build can use it: kernels need compute capability {}.{} or later",
                              kLeastCapability.major, kLeastCapability.minor);
  const auto runs = [&](const std::vector<Architecture>& all, bool (*test)(const Architecture&, Capability)) {
    return std::any_of(all.begin(), all.end(), [&](const Architecture& one) { return test(one, capability); });
  };
  if (runs(code.machine_code, runs_machine_code) || runs(code.ptx, runs_ptx)) return {};
  return here + fmt::format("this build has {}: build with -DCMAKE_CUDA_ARCHITECTURES={}{}", code_text(code),
                            capability.major, capability.minor);
}

std::string why_driver_unusable(int driver, int needed) {
  return fmt::format("the NVIDIA driver here has CUDA {}.{}, but this build needs {}.{}: update the driver",
                     driver / 1000, driver % 1000 / 10, needed / 1000, needed % 1000 / 10);
}

}  // namespace kith::core
