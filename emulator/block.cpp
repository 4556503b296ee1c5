#include "block.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <numeric>
#include <vector>

#include "fiber.hpp"
#include "random.hpp"

namespace emulator {

Here here;
Random random_source;

namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kMaxWarps = kMaxThreads / kLanes;
constexpr unsigned kYieldEvery = 64;               // atomics, at most
constexpr std::uint64_t kMaxYields = 1ULL << 28U;  // in a row, before a kernel is thought to spin
constexpr unsigned kNobody = kLanes;

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

// What a lane came with when it waits at a warp operation.
struct Arrival {
  Op op;
  unsigned detail;
  unsigned mask;
  unsigned source;
  std::uint64_t value;
  std::uint64_t result;
  Where where;
};

struct Warp {
  unsigned lanes = 0;  // those the block has
  unsigned ready = 0;
  unsigned at_warp_op = 0;
  unsigned at_barrier = 0;
  unsigned left = 0;

  // The order of this round: (step · multiplier + offset) ^ flip, a permutation of the lanes.
  unsigned step = kLanes;
  unsigned multiplier = 1;
  unsigned offset = 0;
  unsigned flip = 0;

  Arrival arrivals[kLanes];
};

struct SharedArray {
  std::unique_ptr<unsigned char, void (*)(unsigned char*)> memory;
  std::size_t bytes;
  const char* tag;
  int line;
  const std::type_info* type;
  const char* function;
  bool used;  // by this block
};

struct BarrierArrival {
  Barrier kind;
  int value;
  Where where;
};

// All there is to the block that runs. There is one at a time, so that the state of the running thread is plain global
// memory instead of something that every access would have to look up.
struct Block {
  const Kernel* kernel = nullptr;
  unsigned threads = 0;
  unsigned warp_count = 0;
  unsigned ready_warps = 0;
  Warp* warp = nullptr;  // the one that runs
  Fiber scheduler;
  Warp warps[kMaxWarps];
  Lane lanes[kMaxThreads];
  BarrierArrival barrier[kMaxThreads];
  int barrier_result = 0;
  std::uint64_t yields = 0;
  std::string failure;
  std::vector<SharedArray> shared;
  std::size_t static_shared = 0;
  std::unique_ptr<unsigned char, void (*)(unsigned char*)> dynamic{nullptr, nullptr};
};

Block block;

// ---- words for what went wrong

std::string list(const std::vector<unsigned>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ", ";
    text += std::to_string(numbers[i]);
    if (end - i > 1) text += (end - i > 2 ? "-" : ", ") + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string named(const char* singular, const std::vector<unsigned>& numbers) {
  return std::string(singular) + (numbers.size() > 1 ? "s " : " ") + list(numbers);
}

std::vector<unsigned> bits(unsigned mask) {
  std::vector<unsigned> numbers;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1U) != 0) numbers.push_back(lane);
  return numbers;
}

std::string hex(unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

std::string at(const Where& where) {
  const std::string file = where.file;
  return " at " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(where.line);
}

const char* name_of(Op op) {
  constexpr const char* kNames[] = {"__syncwarp",        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",
                                    "__shfl_xor_sync",   "__ballot_sync",     "__any_sync",        "__all_sync",
                                    "__match_any_sync",  "__match_all_sync",  "__reduce_add_sync", "__reduce_min_sync",
                                    "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync",
                                    "__reduce_or_sync",  "__reduce_xor_sync"};
  return kNames[static_cast<unsigned>(op)];
}

const char* name_of(Barrier kind) {
  constexpr const char* kNames[] = {"__syncthreads", "__syncthreads_or", "__syncthreads_and", "__syncthreads_count"};
  return kNames[static_cast<unsigned>(kind)];
}

std::string describe(const Arrival& arrival) {
  return std::string(name_of(arrival.op)) + "(" + hex(arrival.mask) + ")" + at(arrival.where);
}

std::string describe(const BarrierArrival& arrival) {
  return name_of(arrival.kind) + at(arrival.where);
}

std::string triple(const uint3& v) {
  return "(" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + ")";
}

std::string thread_text() {
  return ", thread " + triple(here.thread) + ": ";
}

void note_failure(const std::string& text) {
  if (block.failure.empty()) block.failure = "kernel " + block.kernel->name + ", block " + triple(here.block) + text;
}

unsigned warp_number(const Warp& warp) {
  return static_cast<unsigned>(&warp - block.warps);
}

// The lanes that wait at the same operation as `lane`, each other place that its mask's lanes are at.
std::string stuck(const Warp& warp, unsigned lane) {
  const Arrival& mine = warp.arrivals[lane];
  unsigned with_me = 0;
  std::string others;
  const unsigned missing = mine.mask & ~warp.lanes;
  if (missing != 0) others += "; the block has no " + named("lane", bits(missing));
  if ((mine.mask & warp.left) != 0) others += "; " + named("lane", bits(mine.mask & warp.left)) + " left the kernel";
  for (const unsigned other : bits(mine.mask & warp.at_warp_op)) {
    const Arrival& theirs = warp.arrivals[other];
    if (theirs.op == mine.op && theirs.mask == mine.mask && theirs.detail == mine.detail) {
      with_me |= 1U << other;
    } else {
      others += "; lane " + std::to_string(other) + " waits in " + describe(theirs);
    }
  }
  for (const unsigned other : bits(mine.mask & warp.at_barrier))
    others +=
        "; lane " + std::to_string(other) + " waits in " + describe(block.barrier[warp_number(warp) * kLanes + other]);
  return ", warp " + std::to_string(warp_number(warp)) + ": " + named("lane", bits(with_me)) + " in " + describe(mine) +
         others;
}

// ---- which lane runs

void enter(Warp& warp, unsigned lane) {
  const Lane& next = block.lanes[warp_number(warp) * kLanes + lane];
  warp.ready &= ~(1U << lane);
  here.thread = next.thread;
  here.lane = lane;
}

void new_round(Warp& warp, std::uint32_t random) {
  warp.step = 0;
  warp.multiplier = (random & 15U) << 1U | 1U;
  warp.offset = random >> 4U & 31U;
  warp.flip = random >> 9U & 31U;
}

// The lane of the warp to run next, or kNobody: none is ready, or it is another warp's turn.
unsigned next_lane(Warp& warp) {
  for (;;) {
    while (warp.step < kLanes) {
      const unsigned lane = ((warp.step++ * warp.multiplier + warp.offset) & 31U) ^ warp.flip;
      if ((warp.ready >> lane & 1U) != 0) return lane;
    }
    if (warp.ready == 0) return kNobody;
    const std::uint32_t random = random_source.next();
    new_round(warp, random);
    const bool others = (block.ready_warps & (block.ready_warps - 1)) != 0;
    if (others && (random >> 28U) == 0) return kNobody;
  }
}

Lane& current_lane() {
  return block.lanes[warp_number(*block.warp) * kLanes + here.lane];
}

// Leaves the running lane until it is its turn again.
void switch_away() {
  Lane& mine = current_lane();
  Warp& warp = *block.warp;
  const unsigned self = here.lane;
  const unsigned next = next_lane(warp);
  if (next == kNobody) {
    mine.fiber.switch_to(block.scheduler);
    return;
  }
  enter(warp, next);
  if (next != self) mine.fiber.switch_to(block.lanes[warp_number(warp) * kLanes + next].fiber);
}

// ---- warp operations

bool complete(const Warp& warp, const Arrival& mine) {
  if ((mine.mask & ~warp.at_warp_op) != 0) return false;
  for (unsigned rest = mine.mask; rest != 0; rest &= rest - 1) {
    const Arrival& other = warp.arrivals[std::countr_zero(rest)];
    if (other.op != mine.op || other.mask != mine.mask || other.detail != mine.detail) return false;
  }
  return true;
}

template <class Combine>
std::uint64_t reduce(const Warp& warp, unsigned mask, Combine combine) {
  std::uint64_t total = warp.arrivals[std::countr_zero(mask)].value;
  for (unsigned rest = mask & (mask - 1); rest != 0; rest &= rest - 1)
    total = combine(total, warp.arrivals[std::countr_zero(rest)].value);
  return total;
}

std::uint64_t smaller_signed(std::uint64_t a, std::uint64_t b) {
  return static_cast<int>(a) < static_cast<int>(b) ? a : b;
}

unsigned matches(const Warp& warp, unsigned mask, std::uint64_t value) {
  unsigned found = 0;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1)
    if (warp.arrivals[std::countr_zero(rest)].value == value) found |= rest & -rest;
  return found;
}

// What all lanes of the mask get; shuffles and matches differ by lane.
std::uint64_t common_result(const Warp& warp, const Arrival& mine) {
  using Word = std::uint64_t;
  const unsigned mask = mine.mask;
  switch (mine.op) {
    case Op::ballot: return mask & ~matches(warp, mask, 0);
    case Op::any: return matches(warp, mask, 0) != mask ? 1 : 0;
    case Op::all: return matches(warp, mask, 0) == 0 ? 1 : 0;
    case Op::match_all: return matches(warp, mask, mine.value) == mask ? mask : 0;
    case Op::reduce_add: return reduce(warp, mask, [](Word a, Word b) { return a + b; });
    case Op::reduce_min: return reduce(warp, mask, [](Word a, Word b) { return std::min(a, b); });
    case Op::reduce_max: return reduce(warp, mask, [](Word a, Word b) { return std::max(a, b); });
    case Op::reduce_min_signed: return reduce(warp, mask, smaller_signed);
    case Op::reduce_max_signed:
      return reduce(warp, mask, [](Word a, Word b) { return smaller_signed(a, b) == a ? b : a; });
    case Op::reduce_and: return reduce(warp, mask, [](Word a, Word b) { return a & b; });
    case Op::reduce_or: return reduce(warp, mask, [](Word a, Word b) { return a | b; });
    case Op::reduce_xor: return reduce(warp, mask, [](Word a, Word b) { return a ^ b; });
    default: return 0;
  }
}

void hand_out_results(Warp& warp, const Arrival& mine) {
  const unsigned mask = mine.mask;
  const bool is_shuffle = mine.op >= Op::shuffle && mine.op <= Op::shuffle_xor;
  const std::uint64_t common = is_shuffle || mine.op == Op::match_any ? 0 : common_result(warp, mine);
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    Arrival& arrival = warp.arrivals[std::countr_zero(rest)];
    if (is_shuffle) {
      // A lane outside the mask gives an undefined value.
      arrival.result = (mask >> arrival.source & 1U) != 0 ? warp.arrivals[arrival.source].value : ~std::uint64_t{0};
    } else {
      arrival.result = mine.op == Op::match_any ? matches(warp, mask, arrival.value) : common;
    }
  }
}

// ---- the block

void release_barrier() {
  int count = 0;
  for (unsigned thread = 0; thread < block.threads; ++thread) count += block.barrier[thread].value != 0 ? 1 : 0;
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

bool same_place(const BarrierArrival& a, const BarrierArrival& b) {
  return a.kind == b.kind && a.where.line == b.where.line && std::strcmp(a.where.file, b.where.file) == 0;
}

// No thread is ready and none waits within its warp: all have left, or all are at the same barrier, or it is an error.
// Gives whether there is more to run.
bool pass_barrier() {
  std::vector<unsigned> left, here_too, elsewhere;
  const BarrierArrival* first = nullptr;
  const BarrierArrival* other = nullptr;
  for (unsigned thread = 0; thread < block.threads; ++thread) {
    if ((block.warps[thread / kLanes].at_barrier >> thread % kLanes & 1U) == 0) {
      left.push_back(thread);
      continue;
    }
    const BarrierArrival& arrival = block.barrier[thread];
    if (first == nullptr) first = &arrival;
    const bool same = same_place(*first, arrival);
    if (!same && other == nullptr) other = &arrival;
    (same ? here_too : elsewhere).push_back(thread);
  }
  if (first == nullptr) return false;
  if (left.empty() && elsewhere.empty()) {
    release_barrier();
    return true;
  }
  std::string text = ": " + named("thread", here_too) + " in " + describe(*first);
  if (!elsewhere.empty()) text += "; " + named("thread", elsewhere) + " in " + describe(*other);
  if (!left.empty()) text += "; " + named("thread", left) + " left the kernel";
  note_failure(text);
  return false;
}

void run_warp(Warp& warp) {
  block.warp = &warp;
  if (warp.step >= kLanes) new_round(warp, random_source.next());
  unsigned lane = next_lane(warp);
  while (lane == kNobody) lane = next_lane(warp);
  enter(warp, lane);
  block.scheduler.switch_to(block.lanes[warp_number(warp) * kLanes + lane].fiber);
  if (!block.failure.empty() || warp.ready != 0) return;
  block.ready_warps &= ~(1U << warp_number(warp));
  if (warp.at_warp_op != 0) note_failure(stuck(warp, static_cast<unsigned>(std::countr_zero(warp.at_warp_op))));
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
    warp.lanes = lanes == kLanes ? ~0U : (1U << lanes) - 1;
    warp.ready = warp.lanes;
    warp.at_warp_op = warp.at_barrier = warp.left = 0;
    warp.step = kLanes;
    block.ready_warps |= 1U << w;
  }
  for (unsigned thread = 0; thread < block.threads; ++thread) {
    Lane& lane = block.lanes[thread];
    if (!lane.fiber.prepared()) lane.fiber.prepare(thread * 5);
    lane.copies.clear();
    lane.groups = 0;
  }
  for (SharedArray& array : block.shared) array.used = false;
  if (block.dynamic) std::memset(block.dynamic.get(), kPoison, block.kernel->shared_bytes);
  block.static_shared = 0;
  block.yields = 0;
  here.until_yield = 1 + random_source.below(kYieldEvery);
}

void run_block() {
  start_threads();
  do {
    while (block.ready_warps != 0 && block.failure.empty()) run_warp(block.warps[random_bit(block.ready_warps)]);
  } while (block.failure.empty() && pass_barrier());
  block.ready_warps = 0;
}

void free_aligned(unsigned char* memory) {
  ::operator delete (memory, std::align_val_t{128});
}

std::unique_ptr<unsigned char, void (*)(unsigned char*)> allocate_shared(std::size_t bytes) {
  return {static_cast<unsigned char*>(::operator new (bytes, std::align_val_t{128})), free_aligned};
}

void place_threads(dim3 shape) {
  block.threads = shape.x * shape.y * shape.z;
  block.warp_count = (block.threads + kLanes - 1) / kLanes;
  for (unsigned thread = 0; thread < block.threads; ++thread)
    block.lanes[thread].thread = {thread % shape.x, thread / shape.x % shape.y, thread / shape.x / shape.y};
}

// Unwinds the thread that found the failure; the others are abandoned where they are.
struct Failed {};

// No exception leaves the fiber, nor is one being handled when it switches.
void run_thread() {
  try {
    block.kernel->body();
  } catch (const Failed&) {
  } catch (const std::exception& error) {
    note_failure(thread_text() + std::string("thrown: ") + error.what());
  } catch (...) {
    note_failure(thread_text() + "something was thrown");
  }
}

}  // namespace

void fiber_main() {
  for (;;) {
    run_thread();
    if (!block.failure.empty()) current_lane().fiber.switch_to(block.scheduler);
    block.warp->left |= 1U << here.lane;
    block.yields = 0;
    switch_away();
  }
}

std::string run(const Kernel& kernel) {
  block.kernel = &kernel;
  block.failure.clear();
  place_threads(kernel.block);
  here.block_dim = kernel.block;
  here.grid_dim = kernel.grid;
  if (kernel.shared_bytes > 0) block.dynamic = allocate_shared(kernel.shared_bytes);
  const std::uint64_t blocks = std::uint64_t{kernel.grid.x} * kernel.grid.y * kernel.grid.z;
  std::uint64_t stride = blocks == 1 ? 1 : random_source.next64() % blocks;
  while (std::gcd(stride, blocks) != 1) ++stride;
  std::uint64_t number = random_source.next64() % blocks;
  for (std::uint64_t i = 0; i < blocks && block.failure.empty(); ++i) {
    here.block = {static_cast<unsigned>(number % kernel.grid.x),
                  static_cast<unsigned>(number / kernel.grid.x % kernel.grid.y),
                  static_cast<unsigned>(number / kernel.grid.x / kernel.grid.y)};
    run_block();
    number = (number + stride) % blocks;
  }
  // A fiber that did not come to its end is in the middle of something that nobody will finish.
  if (!block.failure.empty())
    for (Lane& lane : block.lanes) lane.fiber.forget();
  block.shared.clear();
  block.dynamic.reset();
  return block.failure;
}

void fail(const std::string& text) {
  note_failure(thread_text() + text);
  throw Failed();
}

std::uint64_t warp_op(Op op, unsigned mask, std::uint64_t value, unsigned source, unsigned detail, Where where) {
  Warp& warp = *block.warp;
  const unsigned lane = here.lane;
  Arrival& mine = warp.arrivals[lane];
  mine = {op, detail, mask, source, value, 0, where};
  if ((mask >> lane & 1U) == 0) fail("lane " + std::to_string(lane) + " is not in its own mask, " + describe(mine));
  warp.at_warp_op |= 1U << lane;
  if ((mask & (warp.left | ~warp.lanes)) != 0) {
    note_failure(stuck(warp, lane));
    throw Failed();
  }
  block.yields = 0;
  if (complete(warp, mine)) {
    hand_out_results(warp, mine);
    warp.at_warp_op &= ~mask;
    warp.ready |= mask;
  }
  switch_away();
  return mine.result;
}

int block_barrier(Barrier kind, int value, Where where) {
  block.barrier[warp_number(*block.warp) * kLanes + here.lane] = {kind, value, where};
  block.warp->at_barrier |= 1U << here.lane;
  block.yields = 0;
  switch_away();
  return block.barrier_result;
}

void yield() {
  here.until_yield = 1 + random_source.below(kYieldEvery);
  if (++block.yields > kMaxYields) fail("the block makes no progress; does it wait for another block?");
  block.warp->ready |= 1U << here.lane;
  switch_away();
}

void* dynamic_shared() {
  return block.dynamic.get();
}

void* shared_bytes(std::size_t bytes, std::size_t alignment, const char* tag, int line, const std::type_info& type,
                   const char* function) {
  const auto same = [](const char* a, const char* b) { return a == b || std::strcmp(a, b) == 0; };
  auto found = std::find_if(block.shared.begin(), block.shared.end(), [&](const SharedArray& array) {
    return array.line == line && array.bytes == bytes && *array.type == type && same(array.tag, tag) &&
           same(array.function, function);
  });
  if (found != block.shared.end() && found->used) return found->memory.get();
  if (found == block.shared.end()) {
    if (alignment > 128) fail("shared memory is aligned to at most 128 bytes");
    block.shared.push_back({allocate_shared(bytes), bytes, tag, line, &type, function, false});
    found = block.shared.end() - 1;
  }
  found->used = true;
  block.static_shared += bytes;
  if (block.static_shared > kStaticShared)
    fail("static shared memory of " + std::to_string(block.static_shared) + " bytes; the limit is " +
         std::to_string(kStaticShared));
  std::memset(found->memory.get(), kPoison, bytes);
  return found->memory.get();
}

void async_copy(void* shared_destination, const void* global_source, std::size_t bytes) {
  Lane& lane = current_lane();
  std::memset(shared_destination, kPoison, bytes);
  lane.copies.push_back({shared_destination, global_source, bytes, lane.groups});
}

void async_commit() {
  ++current_lane().groups;
}

void async_wait(unsigned pending_groups) {
  Lane& lane = current_lane();
  const auto landed = [&](const AsyncCopy& copy) { return copy.group + pending_groups < lane.groups; };
  for (const AsyncCopy& copy : lane.copies)
    if (landed(copy)) std::memcpy(copy.to, copy.from, copy.bytes);
  std::erase_if(lane.copies, landed);
}

}  // namespace emulator
