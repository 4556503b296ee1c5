// execution.hpp: the emulator's interface beyond CUDA's names: seeds, failures, launches, shared memory, warp
// operations.
#pragma once

#include <functional>
#include <string>
#include <typeinfo>

#include "emulator/language.hpp"
#include "emulator/runtime.hpp"

namespace emulator {

// A source position. As a default argument of a function it is that of the caller.
struct Where {
  const char* file;
  int line;
  static constexpr Where current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

// Sets the seed of all random orders (of blocks, warps, lanes and streams), which depend on it and on the calls since.
// The initial seed is that of the environment variable KITH_EMULATOR_SEED, or 1.
void set_seed(std::uint64_t seed);

// Makes all devices of this chip, for tests of the emulator: a library asks what a device has once. Before, they are
// what the environment variable KITH_EMULATOR_CHIP names, or sm_90. An unknown name is a std::invalid_argument that
// lists all.
void set_chip(const std::string& name);

// The text of the last failure of a kernel; empty if there was none since reset().
std::string last_failure();

// Drops failures and queued work: a cudaDeviceReset() that keeps memory, streams and events.
void reset();

// Bytes of device memory that are allocated, and the most that were since restart_peak().
std::size_t live_device_bytes();
std::size_t peak_device_bytes();
void restart_peak();

// Queues one run of `body` per thread. The body is called for many threads and must not change its own state. `kernel`
// is the function that it calls, for which cudaFuncSetAttribute may have raised the limit of dynamic shared memory.
cudaError_t launch(const char* name, std::function<void()> body, dim3 grid, dim3 shape, std::size_t shared_bytes,
                   cudaStream_t stream, const void* kernel = nullptr);

// Queues host code that may use device memory: the host's version of a device-wide library call.
cudaError_t enqueue(const char* name, std::function<void()> work, cudaStream_t stream);

// The block's dynamic shared memory, of the exact size of the launch.
void* dynamic_shared();

// The block's array that is declared at this source position, of exact size. The function, __PRETTY_FUNCTION__,
// distinguishes instances of a template.
void* shared_bytes(std::size_t bytes, std::size_t alignment, const char* tag, int line, const std::type_info& type,
                   const char* function);
template <class T>
T* shared_array(std::size_t count, const char* tag, int line, const char* function = "") {
  return static_cast<T*>(shared_bytes(count * sizeof(T), alignof(T), tag, line, typeid(T), function));
}

// Asynchronous copies to shared memory. A copy is done when its thread waits for it; until then its destination is
// poisoned. async_wait(n) leaves the n groups committed last in flight.
void async_copy(void* shared_destination, const void* global_source, std::size_t bytes);
void async_commit();
void async_wait(unsigned pending_groups);

// Fails the running kernel if the chip does not have the instruction: 80 is compute capability 8.0. Some instructions
// are in binaries for sm_90a only, which no other chip takes.
void need(const char* instruction, int capability);
void need_sm90a(const char* instruction);

// Fails the running kernel; its name and block are added to the text.
[[noreturn]] void fail(const std::string& text);
// These build their texts out of line: AddressSanitizer would instrument the strings in every caller's frame.
[[noreturn]] void fail_assumption(Where where);
[[noreturn]] void fail_width(int width);

inline void assume(bool condition, Where where = Where::current()) {
  if (!condition) fail_assumption(where);
}

// The indices of the running thread, written at every switch.
struct Here {
  uint3 thread;
  unsigned lane;
  uint3 block;
  dim3 block_dim;
  dim3 grid_dim;
  unsigned until_yield;  // atomics left until the next one lets others run
};
extern Here here;

enum class Op : unsigned {
  syncwarp,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  ballot,
  any,
  all,
  match_any,
  match_all,
  reduce_add,
  reduce_min,
  reduce_max,
  reduce_min_signed,
  reduce_max_signed,
  reduce_and,
  reduce_or,
  reduce_xor,
  elect,
  bar_sync,
  bar_arrive,
  setmaxnreg,
  wgmma_fence,
  wgmma,
  wgmma_commit,
  wgmma_wait
};

// Waits until all lanes of the mask have arrived with the same operation, mask and `detail`; `source` is the lane that
// a shuffle reads. Returns this lane's result.
std::uint64_t warp_op(Op op, unsigned mask, std::uint64_t value, unsigned source, unsigned detail, Where where);

enum class Barrier : unsigned char { plain, any, all, count };

int block_barrier(Barrier kind, int value, Where where);

// Lets other lanes and warps run.
void yield();

inline void maybe_yield() {
  if (--here.until_yield == 0) yield();
}

}  // namespace emulator
