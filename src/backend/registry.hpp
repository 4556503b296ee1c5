// registry.hpp: the backends of this build.
#pragma once

#include "backend/contract.hpp"

namespace kith::backend {

// Null where it is not in this build.
const BackendTable* find_table(Backend backend);

// In this build, and a device is there. cpu always is.
bool is_available(Backend backend);

// What keeps this build from using a device that is here, in words; empty where nothing does, or none is here.
std::string obstacle(Backend backend);

// Why a backend is not available: it is not in this build, no device is here, or there is an obstacle.
std::string unavailable_reason(Backend backend);

// Throws Error(no_device) where it is not available.
const BackendTable& table_of(Backend backend);

// What it runs on, with the profile that is found for a device. `asked`: what the caller wanted; where `automatic` came
// to the CPU its facts say what kept a device from being used. Throws as table_of().
plan::Machine machine_of(Backend backend, Backend asked);

// Threads that a search may have that begins now, in this thread; 0 of a device.
int threads_now(const plan::Machine& machine);

// The same machine with so many threads.
plan::Machine for_this_thread(plan::Machine machine);

}  // namespace kith::backend
