// warp_roles.cpp: named barriers, elected lanes and budgets of registers.
#include "emulator/warp_roles.hpp"

#include <algorithm>
#include <bit>

#include "async.hpp"
#include "block.hpp"
#include "random.hpp"

namespace emulator {

namespace {

constexpr unsigned kBarriers = 16;
constexpr unsigned kRegisters = 64 << 10;  // of a multiprocessor
constexpr unsigned kWarpgroup = 128;

struct NamedBarrier {
  unsigned threads = 0;  // that it is for; 0 while nobody has come
  unsigned arrived = 0;
};

NamedBarrier named_barriers[kBarriers];
unsigned register_limits[kMaxThreads / kLanes];  // 0 for warps that set none
unsigned elected = 0;                            // decides which lanes are; 0 before the first one

std::string describe_event(const void* event) {
  const auto* barrier = static_cast<const NamedBarrier*>(event);
  return "named barrier " + std::to_string(barrier - named_barriers) + ", where " + std::to_string(barrier->arrived) +
         " of " + std::to_string(barrier->threads) + " threads have come,";
}

void come(Op op, unsigned id, unsigned threads, Where where) {
  if (id == 0 || id >= kBarriers)
    fail("named barriers are 1 to 15, not " + std::to_string(id) + "; 0 is __syncthreads," + position(where));
  if (threads == 0 || threads % kLanes != 0 || threads > block.threads)
    fail("a named barrier is for whole warps of the block, not for " + std::to_string(threads) + " threads," +
         position(where));
  warp_op(op, ~0U, 0, 0, id << 16U | threads, where);
  NamedBarrier& barrier = named_barriers[id];
  if (barrier.threads != 0 && barrier.threads != threads)
    fail("named barrier " + std::to_string(id) + " is for " + std::to_string(barrier.threads) + " threads, not for " +
         std::to_string(threads) + position(where));
  barrier.threads = threads;
  ++barrier.arrived;
}

// Returns whether the barrier was passed.
bool pass(NamedBarrier& barrier) {
  if (barrier.arrived < barrier.threads) return false;
  barrier = {};
  release_event(&barrier);
  return true;
}

// What each thread has when a block starts: all that there is, in equal parts.
unsigned initial_registers() {
  return std::min(kRegisters / block.threads / 8 * 8, 256U);
}

}  // namespace

void start_warp_roles() {
  for (NamedBarrier& barrier : named_barriers) barrier = {};
  std::fill(std::begin(register_limits), std::end(register_limits), 0U);
  elected = 0;
}

std::string loose_registers() {
  unsigned sum = 0;
  for (unsigned warp = 0; warp < block.warp_count; ++warp) {
    const unsigned limit = register_limits[warp];
    if (limit != register_limits[warp / 4 * 4])
      return "setmaxnreg: the warps of warpgroup " + std::to_string(warp / 4) + " have different limits";
    sum += (limit != 0 ? limit : initial_registers()) * kLanes;
  }
  if (sum > kRegisters)
    return "setmaxnreg: the block has " + std::to_string(sum) + " registers; a multiprocessor has 65536";
  return {};
}

void named_barrier_sync(unsigned id, unsigned threads, Where where) {
  come(Op::bar_sync, id, threads, where);
  NamedBarrier& barrier = named_barriers[id];
  if (!pass(barrier)) wait_for_event(&barrier, describe_event, where);
}

void named_barrier_arrive(unsigned id, unsigned threads, Where where) {
  come(Op::bar_arrive, id, threads, where);
  pass(named_barriers[id]);
}

bool elect_one(unsigned mask, Where where) {
  need("elect.sync", 90);
  warp_op(Op::elect, mask, 0, 0, 0, where);
  if (elected == 0) elected = random_source.next() | 1U;
  unsigned rest = mask;
  for (unsigned skip = elected % static_cast<unsigned>(std::popcount(mask)); skip > 0; --skip) rest &= rest - 1;
  return here.lane == static_cast<unsigned>(std::countr_zero(rest));
}

void set_register_limit(unsigned registers, bool raises, Where where) {
  need_sm90a("setmaxnreg");
  if (registers < 24 || registers > 256 || registers % 8 != 0)
    fail("setmaxnreg takes a multiple of 8 from 24 to 256, not " + std::to_string(registers) + position(where));
  if (block.threads % kWarpgroup != 0) fail("setmaxnreg: the block is not made of warpgroups," + position(where));
  warp_op(Op::setmaxnreg, ~0U, 0, 0, registers, where);
  unsigned& limit = register_limits[block.first_thread(*block.warp) / kLanes];
  const unsigned before = limit != 0 ? limit : initial_registers();
  if (limit != registers && (raises ? registers < before : registers > before))
    fail(std::string("setmaxnreg.") + (raises ? "inc" : "dec") + " from " + std::to_string(before) + " to " +
         std::to_string(registers) + position(where));
  limit = registers;
}

}  // namespace emulator
