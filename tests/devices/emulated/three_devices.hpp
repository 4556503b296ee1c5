// three_devices.hpp: what the tests of several emulated devices share.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "kith/kith.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"

namespace kith::test {

// Nothing for devices: the one that is current.
inline Options emulated(const Metric& metric = MetricKind::euclidean, const std::vector<int>& devices = {}) {
  Options options = options_for(metric);
  options.backend = Backend::emulated;
  options.devices = devices;
  return options;
}

inline Options with_devices(Options options, const std::vector<int>& devices = {0, 1, 2}) {
  options.devices = devices;
  return options;
}

template <class V>
bool same_bits(const std::vector<V>& a, const std::vector<V>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(V)) == 0);
}

}  // namespace kith::test
