// failure_text.cpp: texts of failures: the kernel, the block, its lanes or threads, and their positions in the source.
#include <cstdio>
#include <map>

#include "async.hpp"
#include "block.hpp"

namespace emulator {

namespace {

// Lanes or threads, grouped by their position in the source.
using Places = std::map<std::string, std::vector<unsigned>>;

// "lanes 0-3, 7"
std::string named(const char* singular, const std::vector<unsigned>& numbers) {
  std::string text = std::string(singular) + (numbers.size() > 1 ? "s" : "");
  const char* separator = " ";
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += separator + std::to_string(numbers[i]);
    if (end - i > 1) text += "-" + std::to_string(numbers[end - 1]);
    separator = ", ";
    i = end;
  }
  return text;
}

std::string list(const char* singular, const Places& places) {
  std::string text;
  for (const auto& [place, numbers] : places)
    text += (text.empty() ? "" : "; ") + named(singular, numbers) + " " + place;
  return text;
}

const char* name_of(Op op) {
  constexpr const char* kNames[] = {"__syncwarp",         "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",
                                    "__shfl_xor_sync",    "__ballot_sync",     "__any_sync",        "__all_sync",
                                    "__match_any_sync",   "__match_all_sync",  "__reduce_add_sync", "__reduce_min_sync",
                                    "__reduce_max_sync",  "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync",
                                    "__reduce_or_sync",   "__reduce_xor_sync", "elect.sync",        "bar.sync",
                                    "bar.arrive",         "setmaxnreg",        "wgmma.fence",       "wgmma",
                                    "wgmma.commit_group", "wgmma.wait_group"};
  return kNames[static_cast<unsigned>(op)];
}

std::string describe(const BarrierArrival& arrival) {
  constexpr const char* kNames[] = {"__syncthreads", "__syncthreads_or", "__syncthreads_and", "__syncthreads_count"};
  return kNames[static_cast<unsigned>(arrival.kind)] + position(arrival.where);
}

std::string triple(const uint3& v) {
  return "(" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + ")";
}

std::string place_of(const Warp& warp, unsigned lane) {
  const auto in = [lane](unsigned mask) { return (mask >> lane & 1U) != 0; };
  if (!in(warp.lanes)) return "missing from the block";
  if (in(warp.left)) return "left the kernel";
  if (in(warp.at_warp_op)) return "in " + describe(warp.arrivals[lane]);
  if (in(warp.at_event)) {
    const EventWait& wait = block.events[block.first_thread(warp) + lane];
    return "waiting for " + wait.describe(wait.event) + position(wait.where);
  }
  if (in(warp.at_barrier)) return "in " + describe(block.barrier[block.first_thread(warp) + lane]);
  return "not there yet";
}

}  // namespace

std::string position(const Where& where) {
  const std::string file = where.file;
  return " at " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(where.line);
}

void note_failure(const std::string& text) {
  if (block.failure.empty()) block.failure = "kernel " + block.kernel->name + ", block " + triple(here.block) + text;
}

std::string running_thread() {
  return ", thread " + triple(here.thread) + ": ";
}

std::string describe(const Arrival& arrival) {
  char mask[16];
  std::snprintf(mask, sizeof mask, "(0x%08x)", arrival.mask);
  // Lanes that start products of different operands at one place must not look as if they agreed.
  const std::string detail = arrival.op == Op::wgmma ? ", operands #" + std::to_string(arrival.detail) + "," : "";
  return name_of(arrival.op) + (mask + detail + position(arrival.where));
}

// The lanes of the mask that the waiting lane passed.
std::string describe_stuck(const Warp& warp, unsigned lane) {
  Places places;
  for (unsigned other = 0; other < kLanes; ++other)
    if ((warp.arrivals[lane].mask >> other & 1U) != 0) places[place_of(warp, other)].push_back(other);
  return ", warp " + std::to_string(block.first_thread(warp) / kLanes) + ": " + list("lane", places);
}

std::string describe_barriers() {
  Places places;
  for (unsigned thread = 0; thread < block.threads; ++thread)
    places[place_of(block.warps[thread / kLanes], thread % kLanes)].push_back(thread);
  return ": " + list("thread", places);
}

}  // namespace emulator
