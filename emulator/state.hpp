// state.hpp: what the runtime's functions share. Everything is done under one lock: host threads take turns.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/execution.hpp"

namespace emulator {

std::recursive_mutex& lock();
using Guard = std::lock_guard<std::recursive_mutex>;

// Keeps the error for cudaGetLastError, and gives what the call returns: once a kernel has failed, that.
cudaError_t report(cudaError_t error);

int device_count();
std::size_t device_memory();
bool takes_foreign_memory();  // copies take memory that is not the emulator's for a device's
int current_device();

// One piece of work: its turn comes when the work queued before it in its stream, and all of `after`, is done.
struct Work {
  bool done = false;
  std::chrono::steady_clock::time_point when;
  std::function<void()> run;
  bool always = false;  // even after a failure: it gives memory back
  int device = 0;
  std::vector<std::shared_ptr<Work>> after;
};

cudaError_t enqueue(cudaStream_t stream, std::function<void()> run, bool always = false);

// Runs work, of this and of other streams, until the stream's is done.
cudaError_t drain(cudaStream_t stream);
cudaError_t drain_device();

// A kernel failed, or what a kernel uses could not be done.
void set_failure(const std::string& text);

// While work runs, its device's memory can be touched; the host may not. What AddressSanitizer is told.
void open_device_memory(int device);
void close_device_memory();

}  // namespace emulator
