// on_backend.hpp: tests that run on one backend after the other.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kith/options.hpp"

namespace kith::test {

// Those for devices, where they are available.
inline std::vector<Backend> device_backends() {
  std::vector<Backend> found = available_backends();
  std::erase(found, Backend::cpu);
  return found;
}

inline bool is_available(Backend backend) {
  const std::vector<Backend> here = available_backends();
  return std::find(here.begin(), here.end(), backend) != here.end();
}

class OnBackend : public testing::TestWithParam<Backend> {
 protected:
  static bool is_cpu() { return GetParam() == Backend::cpu; }
  // Whether the device has stages split-fp16 and int8, and passes over fp16 that others bound: compute capability 9,
  // where the build has kernels for it.
  static bool has_wgmma() {
    const std::vector<Device> found = devices(GetParam());
    if (found.empty()) return false;
    const std::vector<DeviceLimit>& limits = found.front().policy;
    return std::any_of(limits.begin(), limits.end(),
                       [](const DeviceLimit& limit) { return limit.name == "wgmma" && limit.value != 0; });
  }
  static Options options(const Metric& metric = MetricKind::euclidean) {
    Options options;
    options.backend = GetParam();
    options.metric = metric;
    return options;
  }
};

}  // namespace kith::test
