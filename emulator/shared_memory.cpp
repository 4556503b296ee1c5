// shared_memory.cpp: shared memory as heap allocations of exact size, filled again for each block.
#include <algorithm>
#include <cstring>
#include <new>

#include "block.hpp"

namespace emulator {

namespace {

constexpr std::size_t kAlignment = 128;
constexpr std::align_val_t kSwizzleAlignment{1024};

bool same(const char* a, const char* b) {
  return a == b || std::strcmp(a, b) == 0;
}

}  // namespace

// Never aligned to more than what a kernel may rely on: one that needs 1024 bytes has to align its addresses itself.
SharedMemory allocate_shared(std::size_t bytes) {
  auto* memory = static_cast<unsigned char*>(::operator new(kAlignment + bytes, kSwizzleAlignment));
  asan::poison(memory, kAlignment);
  return {memory + kAlignment, [](unsigned char* start) {
            asan::unpoison(start - kAlignment, kAlignment);
            ::operator delete(start - kAlignment, kSwizzleAlignment);
          }};
}

void* dynamic_shared() {
  return block.dynamic.get();
}

void* shared_bytes(std::size_t bytes, std::size_t alignment, const char* tag, int line, const std::type_info& type,
                   const char* function) {
  auto found = std::find_if(block.shared.begin(), block.shared.end(), [&](const SharedArray& array) {
    return array.line == line && array.bytes == bytes && *array.type == type && same(array.tag, tag) &&
           same(array.function, function);
  });
  if (found != block.shared.end() && found->used) return found->memory.get();
  block.static_shared += bytes;
  const std::size_t limit = std::min(kStaticShared, block.kernel->shared_limit - block.kernel->shared_bytes);
  if (block.static_shared > limit)
    fail("static shared memory of " + std::to_string(block.static_shared) + " bytes; the limit is " +
         std::to_string(limit));
  if (alignment > kAlignment) fail("shared memory is aligned to at most 128 bytes");
  if (found == block.shared.end())
    found = block.shared.insert(found, {allocate_shared(bytes), bytes, tag, line, &type, function, false});
  found->used = true;
  std::memset(found->memory.get(), kPoison, bytes);
  return found->memory.get();
}

void async_copy(void* shared_destination, const void* global_source, std::size_t bytes) {
  need("cp.async", 80);
  Lane& lane = block.running();
  std::memset(shared_destination, kPoison, bytes);
  lane.copies.push_back({shared_destination, global_source, bytes, lane.groups});
}

void async_commit() {
  ++block.running().groups;
}

void async_wait(unsigned pending_groups) {
  Lane& lane = block.running();
  const auto landed = [&](const AsyncCopy& copy) { return copy.group + pending_groups < lane.groups; };
  for (const AsyncCopy& copy : lane.copies)
    if (landed(copy)) std::memcpy(copy.to, copy.from, copy.bytes);
  std::erase_if(lane.copies, landed);
}

}  // namespace emulator
