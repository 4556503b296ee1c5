// async_view.cpp: shared memory as the async proxy sees it. Stores of threads cannot be watched, so a fence copies all
// of shared memory, and what differs from the copy was written since.
#include <cstring>
#include <map>
#include <vector>

#include "async.hpp"
#include "block.hpp"

namespace emulator {

namespace {

std::map<const unsigned char*, std::vector<unsigned char>> views;

std::vector<unsigned char>& view_of(const SharedRange& range) {
  auto [found, is_new] = views.try_emplace(range.begin);
  // As shared memory is before anyone writes to it.
  if (is_new) found->second.assign(range.bytes, kPoison);
  return found->second;
}

bool holds(const SharedRange& range, const void* address) {
  const auto* byte = static_cast<const unsigned char*>(address);
  return byte >= range.begin && byte < range.begin + range.bytes;
}

template <class Visit>
void for_each_range(Visit visit) {
  if (block.dynamic) visit(SharedRange{block.dynamic.get(), block.kernel->shared_bytes, "dynamic shared memory"});
  for (const SharedArray& array : block.shared)
    if (array.used) visit(SharedRange{array.memory.get(), array.bytes, array.tag});
}

}  // namespace

void start_async_view() {
  views.clear();
}

SharedRange shared_range(const void* address) {
  SharedRange found;
  for_each_range([&](const SharedRange& range) {
    if (holds(range, address)) found = range;
  });
  return found;
}

std::string shared_name(const void* address) {
  const SharedRange range = shared_range(address);
  if (range.bytes == 0) return "an address outside of shared memory";
  const char* slash = std::strrchr(range.name, '/');
  return "byte " + std::to_string(static_cast<const unsigned char*>(address) - range.begin) + " of " +
         (slash != nullptr ? slash + 1 : range.name);
}

bool in_shared(const void* address, std::size_t bytes) {
  const SharedRange range = shared_range(address);
  const auto offset = static_cast<std::size_t>(static_cast<const unsigned char*>(address) - range.begin);
  return range.bytes != 0 && bytes <= range.bytes - offset;
}

unsigned char* async_view(const void* address) {
  const SharedRange range = shared_range(address);
  return view_of(range).data() + (static_cast<const unsigned char*>(address) - range.begin);
}

void publish_shared() {
  for_each_range([](const SharedRange& range) { std::memcpy(view_of(range).data(), range.begin, range.bytes); });
}

bool is_unpublished(const void* address, std::size_t bytes) {
  return std::memcmp(address, async_view(address), bytes) != 0;
}

}  // namespace emulator
