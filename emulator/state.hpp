// state.hpp: the state of the emulated runtime. One lock guards all of it.
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

// Stores the error for cudaGetLastError and returns the call's result, which is the failure after a kernel has failed.
cudaError_t report(cudaError_t error);

int device_count();
std::size_t device_memory();
bool takes_foreign_memory();  // copies take memory that is not the emulator's for a device's
int current_device();

// One item of work. It can run when the earlier work of its stream and all of `after` is done.
struct Work {
  bool done = false;
  std::chrono::steady_clock::time_point when;
  std::function<void()> run;
  bool always = false;  // run even after a failure, to free memory
  int device = 0;
  std::vector<std::shared_ptr<Work>> after;
};

cudaError_t enqueue(cudaStream_t stream, std::function<void()> run, bool always = false);

// Runs work of all streams until that of this stream is done.
cudaError_t drain(cudaStream_t stream);
cudaError_t drain_device();

// Records the failure of a kernel or of host code in a stream.
void set_failure(const std::string& text);

// Lets AddressSanitizer allow accesses to a device's memory while its work runs, and forbid them to the host.
void open_device_memory(int device);
void close_device_memory();

}  // namespace emulator
