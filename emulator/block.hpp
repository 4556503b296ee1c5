// block.hpp: the running block. Only one runs at a time, so that the state of the running thread is a global variable,
// which needs no lookup.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/execution.hpp"
#include "fiber.hpp"

namespace emulator {

constexpr unsigned kLanes = 32;
constexpr unsigned kMaxThreads = 1024;
constexpr std::size_t kStaticShared = 48 << 10;  // and all shared memory, unless a kernel opts in to more
constexpr unsigned char kPoison = 0xFF;          // NaN as float and as double, −1 as an integer

struct Kernel {
  std::string name;
  std::function<void()> body;
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  std::size_t shared_limit;  // with static shared memory
};

// Runs all blocks. Returns the text of a failure, or an empty one.
std::string run(const Kernel& kernel);

struct AsyncCopy {
  void* to;
  const void* from;
  std::size_t bytes;
  unsigned group;
};

struct Lane {
  Fiber fiber;
  uint3 thread;
  std::vector<AsyncCopy> copies;
  unsigned groups = 0;  // committed
};

// A lane's arguments at a warp operation that it waits in, and its result.
struct Arrival {
  Op op;
  unsigned detail;
  unsigned mask;
  unsigned source;
  std::uint64_t value;
  std::uint64_t result;
  Where where;

  bool joins(const Arrival& other) const { return op == other.op && mask == other.mask && detail == other.detail; }
};

struct Warp {
  // Every lane of the block is running or in one of the last five.
  unsigned lanes = 0;
  unsigned ready = 0;
  unsigned at_warp_op = 0;
  unsigned at_barrier = 0;
  unsigned at_event = 0;
  unsigned left = 0;

  // The order of lanes in this round: (step · multiplier + offset) ^ flip, a permutation.
  unsigned step = kLanes;
  unsigned multiplier = 1;
  unsigned offset = 0;
  unsigned flip = 0;

  Arrival arrivals[kLanes];
};

struct BarrierArrival {
  Barrier kind;
  int value;
  Where where;
};

// What a lane waits for that another warp or a copy brings about.
struct EventWait {
  const void* event;
  std::string (*describe)(const void* event);
  Where where;
};

using SharedMemory = std::unique_ptr<unsigned char, void (*)(unsigned char*)>;

struct SharedArray {
  SharedMemory memory;
  std::size_t bytes;
  const char* tag;
  int line;
  const std::type_info* type;
  const char* function;
  bool used;  // by this block
};

struct Block {
  const Kernel* kernel = nullptr;
  unsigned threads = 0;
  unsigned warp_count = 0;
  unsigned ready_warps = 0;
  Warp* warp = nullptr;  // the running one
  Fiber scheduler;
  Warp warps[kMaxThreads / kLanes];
  Lane lanes[kMaxThreads];
  BarrierArrival barrier[kMaxThreads];
  EventWait events[kMaxThreads];
  int barrier_result = 0;
  std::uint64_t yields = 0;  // in a row
  std::string failure;
  std::vector<SharedArray> shared;
  std::size_t static_shared = 0;
  SharedMemory dynamic{nullptr, nullptr};

  unsigned first_thread(const Warp& w) const { return static_cast<unsigned>(&w - warps) * kLanes; }
  Lane& running() { return lanes[first_thread(*warp) + here.lane]; }
};
extern Block block;

// Suspends the running lane until its next turn.
void switch_away();

// Suspends the running lane until release_event().
void wait_for_event(const void* event, std::string (*describe)(const void* event), Where where);
// Makes the lanes that wait for the event ready; returns how many they are.
unsigned release_event(const void* event);

// Thrown by the thread that found a failure, after recording it; the other threads are abandoned.
struct Failed {};
void note_failure(const std::string& text);

SharedMemory allocate_shared(std::size_t bytes);

// Texts of failures; failure_text.cpp.
std::string running_thread();
std::string describe(const Arrival& arrival);
std::string describe_stuck(const Warp& warp, unsigned lane);
std::string describe_barriers();

}  // namespace emulator
