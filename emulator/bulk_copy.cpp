// bulk_copy.cpp: copies of tiles in flight. Source and barrier are looked at again when a copy lands.
#include "emulator/bulk_copy.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "async.hpp"
#include "block.hpp"
#include "random.hpp"

namespace emulator {

namespace {

constexpr std::size_t kUnit = 16;  // what a swizzle moves, and what all addresses are multiples of

struct BulkCopy {
  TensorMap map;
  int x, y;
  unsigned char* to;
  std::size_t bytes;
  Mbarrier* barrier;
  unsigned phase;
  std::string name;
};

std::vector<BulkCopy> in_flight;

std::uintptr_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

void check_destination(const BulkCopy& copy, std::size_t alignment) {
  if (!in_shared(copy.to, copy.bytes))
    fail(copy.name + " brings " + std::to_string(copy.bytes) + " bytes, more than there are");
  if (number(copy.to) % alignment != 0)
    fail(copy.name + " needs a destination aligned to " + std::to_string(alignment));
  if (copy_writes(copy.to, copy.bytes)) fail(copy.name + " goes where another copy in flight goes");
  if (product_reads(copy.to, copy.bytes)) fail(copy.name + " overwrites what a wgmma in flight reads");
  if (is_unpublished(copy.to, copy.bytes))
    fail(copy.name + " overwrites what threads wrote, without a fence_proxy_async between");
}

void start(BulkCopy copy, std::size_t alignment) {
  check_destination(copy, alignment);
  if (!is_shown_to_copies(*copy.barrier))
    fail(copy.name + " uses an mbarrier without a fence after its initialization");
  std::memset(copy.to, kPoison, copy.bytes);
  std::memset(async_view(copy.to), kPoison, copy.bytes);
  in_flight.push_back(std::move(copy));
}

// A row of the box; zeros outside of the matrix.
std::vector<unsigned char> read_row(const BulkCopy& copy, unsigned row) {
  const TensorMap& map = copy.map;
  std::vector<unsigned char> bytes(std::size_t{map.box_width} * map.element_bytes, 0);
  const std::int64_t y = std::int64_t{copy.y} + row;
  const std::int64_t first = std::max<std::int64_t>(copy.x, 0);
  const std::int64_t last = std::min(std::int64_t{copy.x} + map.box_width, static_cast<std::int64_t>(map.width));
  if (y < 0 || y >= static_cast<std::int64_t>(map.height) || first >= last) return bytes;
  const auto* from = static_cast<const unsigned char*>(map.base) + static_cast<std::uint64_t>(y) * map.row_bytes;
  std::memcpy(bytes.data() + static_cast<std::size_t>(first - copy.x) * map.element_bytes,
              from + static_cast<std::size_t>(first) * map.element_bytes,
              static_cast<std::size_t>(last - first) * map.element_bytes);
  return bytes;
}

void write(const BulkCopy& copy) {
  const std::uintptr_t start = number(copy.to);
  unsigned char* const view = async_view(copy.to);
  std::uintptr_t at = start;
  for (unsigned row = 0; row < copy.map.box_height; ++row) {
    const std::vector<unsigned char> bytes = read_row(copy, row);
    for (std::size_t i = 0; i < bytes.size(); i += kUnit, at += kUnit) {
      const std::uintptr_t offset = swizzled(at, copy.map.swizzle_bytes) - start;
      std::memcpy(copy.to + offset, bytes.data() + i, kUnit);
      std::memcpy(view + offset, bytes.data() + i, kUnit);
    }
  }
}

}  // namespace

void start_bulk_copies() {
  in_flight.clear();
}

bool copies_in_flight() {
  return !in_flight.empty();
}

std::string loose_copies() {
  return in_flight.empty() ? "" : "the block ended before " + in_flight.front().name + " landed: nobody waited for it";
}

bool copy_writes(const unsigned char* begin, std::size_t bytes) {
  return std::any_of(in_flight.begin(), in_flight.end(),
                     [&](const BulkCopy& copy) { return begin < copy.to + copy.bytes && copy.to < begin + bytes; });
}

// The scheduler calls this, which no exception may leave.
void land_copy() {
  const auto chosen = in_flight.begin() + random_source.below(static_cast<unsigned>(in_flight.size()));
  const BulkCopy copy = std::move(*chosen);
  in_flight.erase(chosen);
  if (phase_of(*copy.barrier) != copy.phase) {
    note_failure(": " + copy.name + " landed after its phase of the mbarrier, which was to expect more bytes");
    return;
  }
  write(copy);
  if (const std::string text = complete_bytes(*copy.barrier, copy.bytes); !text.empty()) note_failure(": " + text);
}

void bulk_tensor_copy(void* shared_destination, const TensorMap& map, int x, int y, std::uint64_t* barrier,
                      Where where) {
  need("cp.async.bulk.tensor", 90);
  Mbarrier& found = find_mbarrier(barrier, "bulk copy");
  const std::size_t bytes = std::size_t{map.box_width} * map.element_bytes * map.box_height;
  // A swizzle takes bits of the address for the row: 8 rows must start where those bits are zero.
  const std::size_t alignment = std::max<std::size_t>(128, std::size_t{8} * map.swizzle_bytes);
  start({map, x, y, static_cast<unsigned char*>(shared_destination), bytes, &found, phase_of(found),
         "the copy to " + shared_name(shared_destination) + position(where)},
        alignment);
}

void bulk_copy(void* shared_destination, const void* global_source, unsigned bytes, std::uint64_t* barrier,
               Where where) {
  need("cp.async.bulk", 90);
  Mbarrier& found = find_mbarrier(barrier, "bulk copy");
  const std::string name = "the copy to " + shared_name(shared_destination) + position(where);
  if (bytes == 0 || bytes % kUnit != 0) fail(name + " has " + std::to_string(bytes) + " bytes, no multiple of 16");
  if (number(global_source) % kUnit != 0) fail(name + " needs a source aligned to 16");
  const TensorMap row{global_source, 1, bytes, 1, bytes, bytes, 1, 0};
  start({row, 0, 0, static_cast<unsigned char*>(shared_destination), bytes, &found, phase_of(found), name}, kUnit);
}

}  // namespace emulator
