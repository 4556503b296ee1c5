// peak_memory.hpp: how much of the device's memory is taken at once, beyond what was in use when the watch began.
// Idea    pools count the most that was in use: the library's own, which is there as long as an index is, and the
//         device's default pool. What others take, contexts and libraries, is the rest of what is not free, before and
//         after.
// Limits  of that rest only what is still there in the end is seen. The emulator has no such counters: 0.
#pragma once

#include <cstdint>

#include "device/harness/backend.hpp"

namespace kith::bench::device {

// Bytes of the pools that are in use now. Waits for the device.
std::int64_t device_bytes_in_use();

class PeakMemory {
 public:
  // Waits for the device.
  PeakMemory();

  struct Bytes {
    std::int64_t pools = 0;
    std::int64_t outside = 0;
  };
  // Since it was made. Waits for the device.
  Bytes bytes() const;

 private:
  std::int64_t used_ = 0;     // of both pools
  std::int64_t outside_ = 0;  // neither free nor held by a pool
};

}  // namespace kith::bench::device
