// execution.hpp: how a block runs, and what the emulator offers beside CUDA's own names.
#pragma once

#include <functional>
#include <string>
#include <typeinfo>

#include "emulator/language.hpp"
#include "emulator/runtime.hpp"

namespace emulator {

// A place in the code. Its default arguments are evaluated where a function with a default argument of it is called.
struct Where {
  const char* file;
  int line;
  static constexpr Where current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

// Everything that is shuffled (blocks, warps, lanes, streams) follows from the seed and the calls made since it was
// set. The first seed is the environment's KITH_EMULATOR_SEED, or 1.
void set_seed(std::uint64_t seed);

// What the last kernel that failed did wrong; empty if none has since the last reset().
std::string last_failure();

// Forgets failures and what is still queued: cudaDeviceReset() that keeps memory, streams and events.
void reset();

// Queues one run of `body` per thread. The body is called for many threads and must not change its own state.
cudaError_t launch(const char* name, std::function<void()> body, dim3 grid, dim3 shape, std::size_t shared_bytes,
                   cudaStream_t stream);

// Queues host code that may use device memory: the host's version of a device-wide library call.
cudaError_t enqueue(const char* name, std::function<void()> work, cudaStream_t stream);

// The block's dynamic shared memory, exactly as large as the launch said.
void* dynamic_shared();

// The block's array of this place in the code, exactly as large as asked for. The function tells instances of a
// template apart, as CUDA does: __PRETTY_FUNCTION__.
void* shared_bytes(std::size_t bytes, std::size_t alignment, const char* tag, int line, const std::type_info& type,
                   const char* function);
template <class T>
T* shared_array(std::size_t count, const char* tag, int line, const char* function = "") {
  return static_cast<T*>(shared_bytes(count * sizeof(T), alignof(T), tag, line, typeid(T), function));
}

// Asynchronous copies to shared memory, per thread: a copy lands when its thread waits for it, and until then its
// destination holds nothing. wait(n) leaves the n groups last committed under way.
void async_copy(void* shared_destination, const void* global_source, std::size_t bytes);
void async_commit();
void async_wait(unsigned pending_groups);

// Fails the kernel that runs, with its name and block added to the text.
[[noreturn]] void fail(const std::string& text);
// These build their text elsewhere: with its strings AddressSanitizer would have much to do in every caller's frame.
[[noreturn]] void fail_assumption(Where where);
[[noreturn]] void fail_width(int width);

inline void assume(bool condition, Where where = Where::current()) {
  if (!condition) fail_assumption(where);
}

// Where the running thread is; it is written at every switch.
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
  reduce_xor
};

// Waits until the lanes of the mask have come with the same operation, mask and `detail`; `source` is the lane a
// shuffle reads. Gives this lane's result.
std::uint64_t warp_op(Op op, unsigned mask, std::uint64_t value, unsigned source, unsigned detail, Where where);

enum class Barrier : unsigned char { plain, any, all, count };

int block_barrier(Barrier kind, int value, Where where);

// Lets other lanes and warps run.
void yield();

inline void maybe_yield() {
  if (--here.until_yield == 0) yield();
}

}  // namespace emulator
