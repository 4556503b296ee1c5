// block.cpp: runs blocks one after another, with their warps and lanes in a random order from the seed. A lane runs
// until it waits, and switches directly to the next one of its warp; the scheduler only chooses among warps.
#include "block.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <numeric>

#include "async.hpp"
#include "random.hpp"

namespace emulator {

Here here;
Block block;
Random random_source;

namespace {

constexpr unsigned kYieldEvery = 64;               // the most atomics between two yields
constexpr std::uint64_t kMaxYields = 1ULL << 22U;  // consecutive yields after which a block is reported as spinning
constexpr unsigned kNobody = kLanes;
constexpr unsigned kLandEvery = 4;  // turns of warps between two copies that land, on average

void new_round(Warp& warp, std::uint32_t random) {
  warp.step = 0;
  warp.multiplier = (random & 15U) << 1U | 1U;
  warp.offset = random >> 4U & 31U;
  warp.flip = random >> 9U & 31U;
}

// The next lane of the warp to run; kNobody if none is ready or it is another warp's turn.
unsigned next_lane(Warp& warp) {
  for (;;) {
    while (warp.step < kLanes) {
      const unsigned lane = ((warp.step++ * warp.multiplier + warp.offset) & 31U) ^ warp.flip;
      if ((warp.ready >> lane & 1U) != 0) return lane;
    }
    if (warp.ready == 0) return kNobody;
    const std::uint32_t random = random_source.next();
    new_round(warp, random);
    const bool others = (block.ready_warps & (block.ready_warps - 1)) != 0 || copies_in_flight();
    if (others && (random >> 28U) == 0) return kNobody;
  }
}

// Makes the lane the running one, and returns its fiber.
Fiber& enter(Warp& warp, unsigned lane) {
  Lane& next = block.lanes[block.first_thread(warp) + lane];
  warp.ready &= ~(1U << lane);
  here.thread = next.thread;
  here.lane = lane;
  return next.fiber;
}

// Runs lanes of the warp until all wait or its turn is over.
void run_warp(Warp& warp) {
  block.warp = &warp;
  unsigned lane = kNobody;
  while (lane == kNobody) lane = next_lane(warp);
  block.scheduler.switch_to(enter(warp, lane));
  if (!block.failure.empty() || warp.ready != 0) return;
  block.ready_warps &= ~(1U << block.first_thread(warp) / kLanes);
  // Lanes in a warp operation can only be released by a lane of the same warp, and all of these wait within it.
  if (warp.at_warp_op != 0 && warp.at_event == 0)
    note_failure(describe_stuck(warp, static_cast<unsigned>(std::countr_zero(warp.at_warp_op))));
}

bool all_at_one_barrier() {
  const BarrierArrival& first = block.barrier[0];
  for (unsigned w = 0; w < block.warp_count; ++w)
    if (block.warps[w].at_barrier != block.warps[w].lanes) return false;
  return std::all_of(block.barrier, block.barrier + block.threads, [&](const BarrierArrival& other) {
    return other.kind == first.kind && other.where.line == first.where.line &&
           (other.where.file == first.where.file || std::strcmp(other.where.file, first.where.file) == 0);
  });
}

void release_barrier() {
  const auto count = static_cast<int>(std::count_if(block.barrier, block.barrier + block.threads,
                                                    [](const BarrierArrival& arrival) { return arrival.value != 0; }));
  switch (block.barrier[0].kind) {
    case Barrier::any: block.barrier_result = count > 0 ? 1 : 0; break;
    case Barrier::all: block.barrier_result = count == static_cast<int>(block.threads) ? 1 : 0; break;
    default: block.barrier_result = count;
  }
  for (unsigned w = 0; w < block.warp_count; ++w) {
    block.warps[w].ready = block.warps[w].lanes;
    block.warps[w].at_barrier = 0;
    block.ready_warps |= 1U << w;
  }
}

// No thread is ready: all have left, or all are at the same barrier, or some wait for a copy, or it is an error.
// Returns whether there is more to run.
bool pass_barrier() {
  if (all_at_one_barrier()) {
    release_barrier();
    return true;
  }
  const bool waiting = std::any_of(block.warps, block.warps + block.warp_count,
                                   [](const Warp& warp) { return (warp.at_barrier | warp.at_event) != 0; });
  if (waiting && copies_in_flight()) {
    land_copy();
    return true;
  }
  if (waiting) note_failure(describe_barriers());
  return false;
}

unsigned random_bit(unsigned mask) {
  for (unsigned skip = random_source.below(static_cast<unsigned>(std::popcount(mask))); skip > 0; --skip)
    mask &= mask - 1;
  return static_cast<unsigned>(std::countr_zero(mask));
}

void start_threads() {
  for (unsigned w = 0; w < block.warp_count; ++w) {
    Warp& warp = block.warps[w];
    const unsigned lanes = std::min(kLanes, block.threads - w * kLanes);
    warp.lanes = ~0U >> (kLanes - lanes);
    warp.ready = warp.lanes;
    warp.at_warp_op = warp.at_barrier = warp.at_event = warp.left = 0;
    warp.step = kLanes;
    block.ready_warps |= 1U << w;
  }
  for (unsigned thread = 0; thread < block.threads; ++thread) {
    Lane& lane = block.lanes[thread];
    if (!lane.fiber.prepared()) lane.fiber.prepare(thread * 5);
    lane.copies.clear();
    lane.groups = 0;
  }
  block.yields = 0;
  here.until_yield = 1 + random_source.below(kYieldEvery);
}

void empty_shared_memory() {
  for (SharedArray& array : block.shared) array.used = false;
  if (block.dynamic) std::memset(block.dynamic.get(), kPoison, block.kernel->shared_bytes);
  block.static_shared = 0;
}

// Copies land now and then while threads run, and else when nothing can go on without them.
void run_block() {
  empty_shared_memory();
  start_async();
  start_threads();
  do {
    while (block.ready_warps != 0 && block.failure.empty()) {
      run_warp(block.warps[random_bit(block.ready_warps)]);
      if (block.failure.empty() && copies_in_flight() && random_source.below(kLandEvery) == 0) land_copy();
    }
  } while (block.failure.empty() && pass_barrier());
  if (const std::string text = describe_loose_ends(); block.failure.empty() && !text.empty()) note_failure(": " + text);
  block.ready_warps = 0;
}

void set_up(const Kernel& kernel) {
  const dim3 shape = kernel.block;
  block.kernel = &kernel;
  block.failure.clear();
  block.threads = shape.x * shape.y * shape.z;
  block.warp_count = (block.threads + kLanes - 1) / kLanes;
  for (unsigned thread = 0; thread < block.threads; ++thread)
    block.lanes[thread].thread = {thread % shape.x, thread / shape.x % shape.y, thread / shape.x / shape.y};
  here.block_dim = shape;
  here.grid_dim = kernel.grid;
  if (kernel.shared_bytes > 0) block.dynamic = allocate_shared(kernel.shared_bytes);
}

// Frees the block's shared memory. After a failure, fibers are suspended in the middle of a kernel and are discarded.
void clean_up() {
  if (!block.failure.empty())
    for (Lane& lane : block.lanes) lane.fiber.forget();
  block.shared.clear();
  block.dynamic.reset();
}

// Exceptions must not leave a fiber, nor be active during a switch.
void run_thread() {
  try {
    block.kernel->body();
  } catch (const Failed&) {
  } catch (const std::exception& error) {
    note_failure(running_thread() + "thrown: " + error.what());
  } catch (...) {
    note_failure(running_thread() + "something was thrown");
  }
}

}  // namespace

void fiber_main() {
  for (;;) {
    run_thread();
    if (!block.failure.empty()) block.running().fiber.switch_to(block.scheduler);
    block.warp->left |= 1U << here.lane;
    block.yields = 0;
    switch_away();
  }
}

void switch_away() {
  Fiber& mine = block.running().fiber;
  const unsigned self = here.lane;
  const unsigned next = next_lane(*block.warp);
  if (next == kNobody) {
    mine.switch_to(block.scheduler);
    return;
  }
  Fiber& other = enter(*block.warp, next);
  if (next != self) mine.switch_to(other);
}

// Runs the blocks in a random order that visits each once.
std::string run(const Kernel& kernel) {
  set_up(kernel);
  const dim3 grid = kernel.grid;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  std::uint64_t stride = random_source.next64() % blocks;
  while (std::gcd(stride, blocks) != 1) ++stride;
  std::uint64_t at = random_source.next64() % blocks;
  for (std::uint64_t i = 0; i < blocks && block.failure.empty(); ++i) {
    here.block = {static_cast<unsigned>(at % grid.x), static_cast<unsigned>(at / grid.x % grid.y),
                  static_cast<unsigned>(at / grid.x / grid.y)};
    run_block();
    at = (at + stride) % blocks;
  }
  clean_up();
  return block.failure;
}

void fail(const std::string& text) {
  note_failure(running_thread() + text);
  throw Failed();
}

void fail_assumption(Where where) {
  fail(std::string("an assumption is false in ") + where.file + ":" + std::to_string(where.line));
}

void fail_width(int width) {
  fail("a shuffle's width is a power of two up to 32, not " + std::to_string(width));
}

int block_barrier(Barrier kind, int value, Where where) {
  block.barrier[block.first_thread(*block.warp) + here.lane] = {kind, value, where};
  block.warp->at_barrier |= 1U << here.lane;
  block.yields = 0;
  switch_away();
  return block.barrier_result;
}

void wait_for_event(const void* event, std::string (*describe)(const void* event), Where where) {
  block.events[block.first_thread(*block.warp) + here.lane] = {event, describe, where};
  block.warp->at_event |= 1U << here.lane;
  block.yields = 0;
  switch_away();
}

unsigned release_event(const void* event) {
  unsigned released = 0;
  for (unsigned thread = 0; thread < block.threads; ++thread) {
    Warp& warp = block.warps[thread / kLanes];
    const unsigned bit = 1U << thread % kLanes;
    if ((warp.at_event & bit) == 0 || block.events[thread].event != event) continue;
    warp.at_event &= ~bit;
    warp.ready |= bit;
    block.ready_warps |= 1U << thread / kLanes;
    ++released;
  }
  return released;
}

void yield() {
  here.until_yield = 1 + random_source.below(kYieldEvery);
  if (++block.yields > kMaxYields) fail("the block makes no progress; does it wait for another block?");
  block.warp->ready |= 1U << here.lane;
  switch_away();
}

}  // namespace emulator
