// mbarrier.cpp: the state of barriers in shared memory. It is kept beside the memory, which holds a mark that a stray
// store destroys.
#include "emulator/mbarrier.hpp"

#include <map>

#include "async.hpp"
#include "block.hpp"

namespace emulator {

struct Mbarrier {
  unsigned arrivals = 0;  // of a phase
  unsigned pending = 0;   // of them, in this one
  std::int64_t bytes = 0;
  unsigned phase = 0;
  unsigned unseen = 0;  // waits for the phase before that have ended, but whose threads have not run since
  bool shown = false;   // to copies, by a fence
  uint3 creator{};
};

namespace {

constexpr unsigned kMaxCount = (1U << 20U) - 1;  // of arrivals, and of bytes
constexpr std::uint64_t kMark = 0x6D62617272696572;

std::map<const void*, Mbarrier> barriers;

bool same(const uint3& a, const uint3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

std::string state_of(const Mbarrier& barrier) {
  return "phase " + std::to_string(barrier.phase) + " lacks " + std::to_string(barrier.pending) + " of " +
         std::to_string(barrier.arrivals) + " arrivals and " + std::to_string(barrier.bytes) + " bytes";
}

const void* address_of(const Mbarrier& barrier) {
  for (const auto& [address, other] : barriers)
    if (&other == &barrier) return address;
  return nullptr;
}

std::string name_of(const Mbarrier& barrier) {
  return "the mbarrier at " + shared_name(address_of(barrier));
}

std::string describe_event(const void* event) {
  const auto& barrier = *static_cast<const Mbarrier*>(event);
  return name_of(barrier) + ", whose " + state_of(barrier) + ",";
}

// Returns the text of a failure, or an empty one.
std::string end_phase_if_complete(Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes > 0) return {};
  if (barrier.bytes < 0)
    return name_of(barrier) + " got " + std::to_string(-barrier.bytes) + " bytes more than its arrivals announced";
  if (barrier.unseen != 0)
    return name_of(barrier) + " ends phase " + std::to_string(barrier.phase) + " before " +
           std::to_string(barrier.unseen) + " threads saw that the one before has ended: they may wait forever";
  ++barrier.phase;
  barrier.pending = barrier.arrivals;
  barrier.unseen = release_event(&barrier);
  return {};
}

bool has_ended(const Mbarrier& barrier, unsigned parity) {
  if (parity > 1) fail("the parity of a phase is 0 or 1, not " + std::to_string(parity));
  return (barrier.phase & 1U) != parity;
}

}  // namespace

void start_mbarriers() {
  barriers.clear();
}

std::string loose_mbarriers() {
  for (const auto& [address, barrier] : barriers)
    if (barrier.bytes != 0) return "the block ended, but " + name_of(barrier) + " is not done: " + state_of(barrier);
  return {};
}

Mbarrier& find_mbarrier(const std::uint64_t* address, const char* operation) {
  const auto found = barriers.find(address);
  if (found == barriers.end())
    fail(std::string(operation) + ": the mbarrier at " + shared_name(address) + " is not initialized");
  if (*address != kMark)
    fail(std::string(operation) + ": something else was written to the mbarrier at " + shared_name(address));
  return found->second;
}

bool is_shown_to_copies(const Mbarrier& barrier) {
  return barrier.shown;
}

unsigned phase_of(const Mbarrier& barrier) {
  return barrier.phase;
}

std::string complete_bytes(Mbarrier& barrier, std::size_t bytes) {
  barrier.bytes -= static_cast<std::int64_t>(bytes);
  if (barrier.bytes < -static_cast<std::int64_t>(kMaxCount))
    return name_of(barrier) + " counts down to " + std::to_string(barrier.bytes) + " bytes; the limit is 2^20 - 1";
  return end_phase_if_complete(barrier);
}

void show_own_mbarriers() {
  for (auto& [address, barrier] : barriers)
    if (same(barrier.creator, here.thread)) barrier.shown = true;
}

void mbarrier_init(std::uint64_t* barrier, unsigned arrivals, Where where) {
  need("mbarrier.init", 80);
  if (reinterpret_cast<std::uintptr_t>(barrier) % 8 != 0 || !in_shared(barrier, 8))
    fail("an mbarrier is 8 aligned bytes of shared memory, not " + shared_name(barrier) + position(where));
  if (arrivals == 0 || arrivals > kMaxCount)
    fail("an mbarrier expects 1 to 2^20 - 1 arrivals, not " + std::to_string(arrivals) + position(where));
  if (barriers.contains(barrier))
    fail("the mbarrier at " + shared_name(barrier) + " is initialized twice," + position(where));
  barriers[barrier] = {.arrivals = arrivals, .pending = arrivals, .creator = here.thread};
  *barrier = kMark;
}

void mbarrier_arrive(std::uint64_t* address, unsigned bytes, Where where) {
  need(bytes == 0 ? "mbarrier.arrive" : "mbarrier.arrive.expect_tx", bytes == 0 ? 80 : 90);
  maybe_yield();
  Mbarrier& barrier = find_mbarrier(address, "arrive");
  if (barrier.pending == 0)
    fail(name_of(barrier) + " got more than its " + std::to_string(barrier.arrivals) + " arrivals in phase " +
         std::to_string(barrier.phase) + position(where));
  --barrier.pending;
  barrier.bytes += bytes;
  if (barrier.bytes > static_cast<std::int64_t>(kMaxCount))
    fail(name_of(barrier) + " is to expect " + std::to_string(barrier.bytes) + " bytes; the limit is 2^20 - 1," +
         position(where));
  if (const std::string text = end_phase_if_complete(barrier); !text.empty()) fail(text + position(where));
}

bool mbarrier_try_wait(std::uint64_t* address, unsigned parity, Where /*where*/) {
  need("mbarrier.try_wait", 90);
  Mbarrier& barrier = find_mbarrier(address, "try_wait");
  if (has_ended(barrier, parity)) return true;
  yield();
  return has_ended(barrier, parity);
}

void mbarrier_wait(std::uint64_t* address, unsigned parity, Where where) {
  need("mbarrier.try_wait", 90);
  Mbarrier& barrier = find_mbarrier(address, "wait");
  if (has_ended(barrier, parity)) return;
  wait_for_event(&barrier, describe_event, where);
  --barrier.unseen;
}

void fence_mbarrier_init() {
  need("fence.mbarrier_init", 90);
  show_own_mbarriers();
}

void fence_proxy_async() {
  need("fence.proxy.async", 90);
  show_own_mbarriers();
  publish_shared();
}

}  // namespace emulator
