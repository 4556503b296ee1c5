// wgmma.cpp: products of warpgroups. A product is computed when the last lane of a warp starts it, for the 16 rows of
// that warp; its sums are kept here until a wait writes them to the registers. Operands must then be what they were.
#include "emulator/wgmma.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>

#include "async.hpp"
#include "block.hpp"
#include "wgmma_operand.hpp"

namespace emulator {

namespace {

constexpr unsigned kWarpRows = 16;
constexpr unsigned kRows = 64;
constexpr unsigned kGroupWarps = 4;
constexpr unsigned kMaxColumns = 256;

// What a lane has in flight or is about to use. Registers are known by the addresses of their variables.
struct SumsInFlight {
  unsigned char* registers;
  std::vector<unsigned> values;
  Element element;
  std::uint64_t last;  // the product that writes them last
};

struct Fenced {
  const void* address;
  std::uint64_t content;
};

struct LeftInFlight {
  const void* address;
  std::uint64_t content;
  std::uint64_t product;
};

struct LaneProducts {
  std::vector<SumsInFlight> sums;
  std::vector<Fenced> fenced;
  std::vector<LeftInFlight> lefts;
  std::uint64_t started = 0;
  std::vector<std::uint64_t> groups;  // how many products had been started at each commit
  unsigned left[4] = {};
};

struct ProductInFlight {
  Product product;
  std::uint64_t index;
  std::uint64_t content;
  Where where;
};

struct WarpProducts {
  std::uint64_t computed = 0;
  std::deque<ProductInFlight> in_flight;
};

struct Started {
  std::uint64_t signature;
  Where where;
};

// The products of a warpgroup in their order, which its warps must agree on.
struct Warpgroup {
  std::vector<Started> started;
};

LaneProducts lane_products[kMaxThreads];
WarpProducts warp_products[kMaxThreads / kLanes];
Warpgroup warpgroups[kMaxThreads / kLanes / kGroupWarps];
bool used = false;  // by this block

unsigned warp_index() {
  return block.first_thread(*block.warp) / kLanes;
}

LaneProducts& running_lane() {
  return lane_products[block.first_thread(*block.warp) + here.lane];
}

// FNV-1a
std::uint64_t hash(const void* data, std::size_t bytes, std::uint64_t value = 0xCBF29CE484222325) {
  const auto* byte = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) value = (value ^ byte[i]) * 0x100000001B3;
  return value;
}

std::uint64_t signature_of(const Product& product) {
  const std::uint64_t words[] = {static_cast<unsigned>(product.element), product.columns, product.adds ? 1U : 0U,
                                 product.left_in_registers ? 1U : 0U};
  std::uint64_t value = hash(words, sizeof words);
  for (const OperandTile* tile : {&product.left, &product.right}) {
    if (tile == &product.left && product.left_in_registers) continue;
    const std::uint64_t fields[] = {reinterpret_cast<std::uintptr_t>(tile->start), tile->leading_bytes,
                                    tile->stride_bytes, tile->swizzle_bytes};
    value = hash(fields, sizeof fields, value);
  }
  return value;
}

bool is_poison(const unsigned char* registers, std::size_t bytes) {
  return std::all_of(registers, registers + bytes, [](unsigned char byte) { return byte == kPoison; });
}

SumsInFlight* find_sums(LaneProducts& lane, const void* registers) {
  const auto found = std::find_if(lane.sums.begin(), lane.sums.end(),
                                  [&](const SumsInFlight& sums) { return sums.registers == registers; });
  return found == lane.sums.end() ? nullptr : &*found;
}

void check_untouched(const SumsInFlight& sums, const char* what) {
  if (!is_poison(sums.registers, sums.values.size() * sizeof(unsigned)))
    fail(std::string(what) + ": sums were written before wgmma.wait_group");
}

void check_fenced(const LaneProducts& lane, const Registers& registers, const char* name, Where where) {
  const auto found = std::find_if(lane.fenced.begin(), lane.fenced.end(),
                                  [&](const Fenced& fenced) { return fenced.address == registers.address; });
  if (found == lane.fenced.end())
    fail("wgmma" + position(where) + ": no wgmma.fence orders its " + name + " after earlier uses");
  if (found->content != hash(registers.address, registers.bytes))
    fail("wgmma" + position(where) + ": its " + name + " changed since wgmma.fence");
}

// Takes the sums from the registers, or continues with those in flight.
void take_sums(LaneProducts& lane, const Product& product, void* registers, Where where) {
  const std::size_t count = product.columns / 2;
  SumsInFlight* sums = find_sums(lane, registers);
  if (sums == nullptr) {
    check_fenced(lane, {registers, count * sizeof(unsigned)}, "sums", where);
    lane.sums.push_back({static_cast<unsigned char*>(registers), std::vector<unsigned>(count), product.element, 0});
    sums = &lane.sums.back();
    std::memcpy(sums->values.data(), registers, count * sizeof(unsigned));
    std::memset(registers, kPoison, count * sizeof(unsigned));
  }
  check_untouched(*sums, "wgmma");
  if (sums->values.size() != count || sums->element != product.element)
    fail("wgmma" + position(where) + ": its sums are those of a product of another shape in flight");
  sums->last = lane.started;
}

// The tile must have been brought by copies that have landed, or written by threads with a fence.
void check_tile(const OperandTile& tile, unsigned rows, const char* name, Where where) {
  const auto refuse = [&](const unsigned char* address, const std::string& why) {
    fail("wgmma" + position(where) + ": its " + name + " operand, at " + shared_name(address) + ", " + why);
  };
  if (const std::string problem = problem_of(tile, rows); !problem.empty()) refuse(tile.start, problem);
  const unsigned char* view = async_view(tile.start);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned unit = 0; unit < 2; ++unit) {
      const unsigned char* address = unit_address(tile, row, unit);
      if (copy_writes(address, kUnitBytes)) refuse(address, "is what a copy has not brought yet");
      if (std::memcmp(address, view + (address - tile.start), kUnitBytes) != 0)
        refuse(address, "was written without a fence_proxy_async since");
    }
}

std::vector<unsigned char> left_bytes(const Product& product, unsigned warp) {
  if (!product.left_in_registers) return gather(product.left, warp % kGroupWarps * kWarpRows, kWarpRows);
  std::vector<unsigned char> bytes(std::size_t{kWarpRows} * kStepBytes);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      std::memcpy(&bytes[(lane / 4 + i % 2 * 8) * kStepBytes + lane % 4 * 4 + i / 2 * kUnitBytes],
                  &lane_products[warp * kLanes + lane].left[i], sizeof(unsigned));
  return bytes;
}

std::uint64_t content_of(const Product& product, unsigned warp) {
  const std::vector<unsigned char> right = gather(product.right, 0, product.columns);
  std::uint64_t value = hash(right.data(), right.size());
  if (product.left_in_registers) return value;
  const std::vector<unsigned char> left = left_bytes(product, warp);
  return hash(left.data(), left.size(), value);
}

float added(float sum, float a, float b) {
  return sum + a * b;
}

// Integers wrap around, as on the device.
int added(int sum, int a, int b) {
  return static_cast<int>(static_cast<unsigned>(sum) + static_cast<unsigned>(a * b));
}

// Adds to the sums of all lanes of the warp.
template <class Number>
void multiply(const Product& product, unsigned warp, SumsInFlight* const (&sums)[kLanes]) {
  const std::vector<Number> left = decode<Number>(left_bytes(product, warp), product.element);
  const std::vector<Number> right = decode<Number>(gather(product.right, 0, product.columns), product.element);
  const std::size_t depth = left.size() / kWarpRows;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned i = 0; i < product.columns / 2; ++i) {
      const Number* x = &left[(lane / 4 + i / 2 % 2 * 8) * depth];
      const Number* y = &right[(i / 4 * 8 + lane % 4 * 2 + i % 2) * depth];
      unsigned& word = sums[lane]->values[i];
      Number sum = product.adds ? std::bit_cast<Number>(word) : Number{0};
      for (std::size_t k = 0; k < depth; ++k) sum = added(sum, x[k], y[k]);
      word = std::bit_cast<unsigned>(sum);
    }
}

// The first lane to run after all have arrived computes for its warp.
void compute(const Product& product, std::uint64_t index, std::uint64_t signature, Where where) {
  const unsigned warp = warp_index();
  WarpProducts& mine = warp_products[warp];
  Warpgroup& group = warpgroups[warp / kGroupWarps];
  if (group.started.size() == index) group.started.push_back({signature, where});
  if (group.started[index].signature != signature)
    fail("the warps of warpgroup " + std::to_string(warp / kGroupWarps) + " disagree: one starts wgmma" +
         position(where) + ", another" + position(group.started[index].where) + ", with other operands or shape");

  check_tile(product.right, product.columns, "right", where);
  if (!product.left_in_registers) check_tile(product.left, kRows, "left", where);
  SumsInFlight* sums[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    std::vector<SumsInFlight>& all = lane_products[warp * kLanes + lane].sums;
    sums[lane] = &*std::find_if(all.begin(), all.end(), [&](const SumsInFlight& one) { return one.last == index; });
  }
  if (element_bytes(product.element) == 2)
    multiply<float>(product, warp, sums);
  else
    multiply<int>(product, warp, sums);
  mine.in_flight.push_back({product, index, content_of(product, warp), where});
  ++mine.computed;
  release_event(&group);
}

// Whether all warps of the warpgroup have started so many products.
bool all_started(unsigned warp, std::uint64_t products) {
  const WarpProducts* first = &warp_products[warp / kGroupWarps * kGroupWarps];
  return std::all_of(first, first + kGroupWarps, [&](const WarpProducts& other) { return other.computed >= products; });
}

std::string describe_event(const void* event) {
  const auto group = static_cast<unsigned>(static_cast<const Warpgroup*>(event) - warpgroups);
  return "the other warps of warpgroup " + std::to_string(group) + " to start the same products";
}

void retire_operands(unsigned warp, std::uint64_t products) {
  std::deque<ProductInFlight>& in_flight = warp_products[warp].in_flight;
  for (; !in_flight.empty() && in_flight.front().index < products; in_flight.pop_front())
    if (content_of(in_flight.front().product, warp) != in_flight.front().content)
      fail("an operand of wgmma" + position(in_flight.front().where) + " was overwritten before wgmma.wait_group");
}

void write_sums(LaneProducts& lane, std::uint64_t products) {
  std::erase_if(lane.lefts, [&](const LeftInFlight& left) { return left.product < products; });
  std::erase_if(lane.sums, [&](const SumsInFlight& sums) {
    if (sums.last >= products) return false;
    check_untouched(sums, "wgmma.wait_group");
    std::memcpy(sums.registers, sums.values.data(), sums.values.size() * sizeof(unsigned));
    // The next use as sums needs another fence.
    std::erase_if(lane.fenced, [&](const Fenced& fenced) { return fenced.address == sums.registers; });
    return true;
  });
}

}  // namespace

void start_products() {
  if (!used) return;
  used = false;
  for (LaneProducts& lane : lane_products) lane = {};
  for (WarpProducts& warp : warp_products) warp = {};
  for (Warpgroup& group : warpgroups) group = {};
}

std::string loose_products() {
  for (unsigned warp = 0; warp < block.warp_count; ++warp)
    if (!warp_products[warp].in_flight.empty())
      return "warp " + std::to_string(warp) + " left before a wgmma.wait_group for wgmma" +
             position(warp_products[warp].in_flight.front().where);
  return {};
}

bool product_reads(const unsigned char* begin, std::size_t bytes) {
  const auto reads = [&](const OperandTile& tile, unsigned rows) {
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned unit = 0; unit < 2; ++unit) {
        const unsigned char* address = unit_address(tile, row, unit);
        if (address < begin + bytes && begin < address + kUnitBytes) return true;
      }
    return false;
  };
  for (unsigned warp = 0; warp < block.warp_count; ++warp)
    for (const ProductInFlight& one : warp_products[warp].in_flight)
      if (reads(one.product.right, one.product.columns) ||
          (!one.product.left_in_registers && reads(one.product.left, kRows)))
        return true;
  return false;
}

void wgmma_fence(std::initializer_list<Registers> registers, Where where) {
  need_sm90a("wgmma.fence");
  used = true;
  LaneProducts& lane = running_lane();
  for (const Registers& one : registers) {
    if (const SumsInFlight* sums = find_sums(lane, one.address)) {
      check_untouched(*sums, "wgmma.fence");
      continue;
    }
    const std::uint64_t content = hash(one.address, one.bytes);
    for (const LeftInFlight& left : lane.lefts)
      if (left.address == one.address && left.content != content)
        fail("wgmma.fence" + position(where) + ": a left operand was written before wgmma.wait_group");
    std::erase_if(lane.fenced, [&](const Fenced& fenced) { return fenced.address == one.address; });
    lane.fenced.push_back({one.address, content});
  }
  warp_op(Op::wgmma_fence, ~0U, 0, 0, 0, where);
}

void wgmma(const Product& product, void* sums, const unsigned* left, Where where) {
  need_sm90a("wgmma");
  if (block.threads < (warp_index() / kGroupWarps + 1) * kGroupWarps * kLanes)
    fail("wgmma" + position(where) + ": the warpgroup has fewer than 128 threads");
  if (product.columns == 0 || product.columns > kMaxColumns || product.columns % 8 != 0)
    fail("wgmma has 8 to 256 columns, not " + std::to_string(product.columns) + position(where));
  LaneProducts& lane = running_lane();
  if (product.left_in_registers) {
    check_fenced(lane, {left, sizeof lane.left}, "left operand", where);
    std::memcpy(lane.left, left, sizeof lane.left);
    lane.lefts.push_back({left, hash(left, sizeof lane.left), lane.started});
  }
  take_sums(lane, product, sums, where);
  const std::uint64_t index = lane.started++;
  const std::uint64_t signature = signature_of(product);
  warp_op(Op::wgmma, ~0U, 0, 0, static_cast<unsigned>(signature ^ signature >> 32U), where);
  if (warp_products[warp_index()].computed == index) compute(product, index, signature, where);
}

void wgmma_commit(Where where) {
  used = true;
  LaneProducts& lane = running_lane();
  lane.groups.push_back(lane.started);
  warp_op(Op::wgmma_commit, ~0U, 0, 0, 0, where);
}

void wgmma_wait(unsigned pending, std::initializer_list<Registers> sums, Where where) {
  LaneProducts& lane = running_lane();
  const unsigned warp = warp_index();
  warp_op(Op::wgmma_wait, ~0U, 0, 0, pending, where);
  if (lane.groups.size() > pending) {
    const std::uint64_t products = lane.groups[lane.groups.size() - 1 - pending];
    Warpgroup& group = warpgroups[warp / kGroupWarps];
    while (!all_started(warp, products)) wait_for_event(&group, describe_event, where);
    retire_operands(warp, products);
    write_sums(lane, products);
  }
  for (const Registers& one : sums)
    if (find_sums(lane, one.address) != nullptr)
      fail("wgmma.wait_group" + position(where) + " does not cover the sums that it names; were they committed?");
}

}  // namespace emulator
