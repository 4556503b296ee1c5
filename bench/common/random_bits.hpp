// random_bits.hpp: a random number for every position, whoever makes it, on the host and on a device (splitmix64).
#pragma once

#include "core/host_device.hpp"

namespace kith::bench {

KITH_HOST_DEVICE inline unsigned long long random_bits(unsigned long long position) {
  unsigned long long bits = (position + 1) * 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

}  // namespace kith::bench
