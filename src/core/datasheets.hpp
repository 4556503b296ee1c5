// datasheets.hpp: GPUs that plans can be made for without having one: what their datasheets and the CUDA programming
// guide say of them, as plain values. Nothing here was measured.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/device_code.hpp"
#include "core/device_policy.hpp"

namespace kith::core {

// What a multiprocessor does in a clock, and has, by compute capability.
struct ChipRates {
  Capability capability;
  int fp32;         // fused multiply-adds
  int fp64;         // the same
  int conversions;  // of single to double precision
  int fp16;         // multiply-adds of tensor cores, of fp16 into sums of fp32
  int shared_per_block;
  int shared_per_multiprocessor;
  int threads;
};

// Those of the capability, else of the latest one before it.
const ChipRates& rates_of(Capability capability);

struct Datasheet {
  const char* name;   // as people type it: "a100"
  const char* title;  // "NVIDIA A100 80 GB"
  Capability capability;
  int multiprocessors;
  double clock;   // hertz, boost
  double fp16;    // multiply-adds a second of tensor cores, dense, with sums of fp32
  double memory;  // bytes
  double bandwidth;
  double link;  // bytes a second from the host
  std::int64_t l2_bytes;
  // Other names, commas between: what drivers call it, and people.
  const char* others;
};

std::span<const Datasheet> datasheets();

// By any of its names, in any case, with or without "NVIDIA", "GeForce", blanks and hyphens; null where there is none.
const Datasheet* find_datasheet(std::string_view name);

DeviceHardware hardware_of(const Datasheet& sheet);

}  // namespace kith::core
