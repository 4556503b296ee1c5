// derived_profile.hpp: what steps should cost on a device that nobody has measured: what a step asks of the hardware,
// divided by what the hardware can do in a second and by the part of that which kernels of its kind reach. These parts
// are round numbers (docs/tuning.md says how far the result can be trusted).
#pragma once

#include "core/datasheets.hpp"
#include "core/facts.hpp"

namespace kith::core {

// Of the whole device, a second.
struct DeviceFigures {
  double fp32 = 0;         // fused multiply-adds
  double fp64 = 0;         // the same
  double conversions = 0;  // of single to double precision
  double fp16 = 0;         // multiply-adds of tensor cores at their fastest, as libraries have them
  double warp_fp16 = 0;    // the same by instructions of a warp, all that kernels without wgmma use
  double bandwidth = 0;    // bytes of memory
  bool has_wgmma = false;
};

DeviceFigures figures_of(const Datasheet& sheet);

// Of a device without a datasheet here, by what its driver tells: hertz, and bytes a second.
DeviceFigures figures_of(const DeviceHardware& hardware, const std::string& name, double clock, double bandwidth);

DeviceProfile derive_profile(const DeviceFigures& figures);

// The facts with the profile that is built in for the device of their name, or derived for it. Without a datasheet, and
// where the driver does not tell clock or bandwidth (0), the H200's stays.
void set_built_in_profile(DeviceFacts& facts, double clock, double bandwidth);

// A device that need not be here, idle.
DeviceFacts facts_of(const Datasheet& sheet);

}  // namespace kith::core
