#include "plan/bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "core/bit_key.hpp"
#include "core/sizes.hpp"
#include "kith/error.hpp"
#include "plan/cpu_threads.hpp"

namespace kith {
namespace plan {
namespace {

constexpr std::int64_t kBitBlockBytes = std::int64_t{256} << 10;  // queries of a block stay in a core's second cache
constexpr std::int64_t kLeastBitBlock = 64;
constexpr std::int64_t kMostBitBlock = 1024;
constexpr std::int64_t kBitTileBytes = std::int64_t{128} << 10;  // and rows of a tile
constexpr std::int64_t kBitTilePairs = 1 << 15;                  // limits are lowered between two tiles
constexpr std::int64_t kMostBitTile = 4096;
constexpr std::int64_t kBitPartRows = 8192;                       // a part of the base worth a task
constexpr std::int64_t kMostBitPartRows = std::int64_t{1} << 31;  // rows of a part are counted in 32 bits
constexpr std::int64_t kBitTasksPerThread = 4;                    // so that threads end together
constexpr std::int64_t kPartHitBytes = 16;                        // a neighbor of a part of the base
constexpr double kBitPackSeconds = 1.5e-10;                       // a word of the base and block of queries
constexpr std::int64_t kDeviceBitPairs = std::int64_t{1} << 26;   // of a tile on a device
constexpr double kDeviceBitBandwidth = 1e12;                      // bytes a second that kernels on a device read
constexpr std::int64_t kLeastBitBudget = std::int64_t{64} << 20;

std::int64_t bit_parts(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

double bit_seconds(const BitPlan& plan, const core::StageCost& cost) {
  const auto words = static_cast<double>(bit_parts(plan.bits, 32));
  const auto rows = static_cast<double>(plan.base_rows);
  const auto queries = static_cast<double>(plan.queries);
  return rows * queries * (words * cost.step + cost.pair) +
         rows * words * kBitPackSeconds * std::max(1.0, queries / kMostBitBlock);
}

std::int64_t bit_part_rows(const BitPlan& plan) {
  return bit_parts(plan.base_rows, plan.base_splits);
}

// Bytes of everything but the answer.
std::int64_t bit_workspace(const BitPlan& plan) {
  const std::int64_t row = bit_parts(plan.bits, 32) * 4;
  const std::int64_t tile = bit_parts(plan.base_tile, core::kSlack) * core::kSlack;
  constexpr std::int64_t kOfQuery = 48;
  std::int64_t per_thread = plan.query_block * (row + kOfQuery + plan.candidates * 8) + tile * (row + 4);
  per_thread += plan.query_block * plan.base_tile * core::kBitHitBytes + plan.candidates * 2 * kPartHitBytes;
  std::int64_t shared = plan.queries * 4;
  if (plan.k == 0 || plan.base_splits > 1) {
    const std::int64_t kept = std::min(plan.k, bit_part_rows(plan));
    shared += plan.queries * plan.base_splits * (40 + kept * kPartHitBytes);
  }
  return per_thread * plan.threads + shared;
}

void set_bit_tiles(BitPlan& plan, std::int64_t block, std::int64_t splits) {
  const std::int64_t row = bit_parts(plan.bits, 32) * 4;
  plan.query_block = std::min(block, plan.queries);
  plan.base_splits = splits;
  const std::int64_t tile =
      std::min(kBitTilePairs / plan.query_block, kBitTileBytes / row) / core::kSlack * core::kSlack;
  plan.base_tile = std::min(std::clamp(tile, core::kSlack, kMostBitTile), bit_part_rows(plan));
  if (plan.k > 0) plan.candidates = std::min(bit_part_rows(plan), plan.k + std::max<std::int64_t>(16, plan.k / 2));
}

// The first of these that fits: whole blocks or smaller ones, each with the base in as many parts as threads want, or
// in as few as can be.
bool fits_bits(BitPlan& plan) {
  const std::int64_t row = bit_parts(plan.bits, 32) * 4;
  const std::int64_t least_splits = bit_parts(plan.base_rows, kMostBitPartRows);
  const std::int64_t tasks = plan.threads > 1 ? plan.threads * kBitTasksPerThread : 1;
  for (std::int64_t block = std::clamp(kBitBlockBytes / row, kLeastBitBlock, kMostBitBlock);; block /= 2) {
    const std::int64_t blocks = bit_parts(plan.queries, block);
    const std::int64_t wanted = std::min(bit_parts(tasks, blocks), bit_parts(plan.base_rows, kBitPartRows));
    for (const std::int64_t splits : {std::max(wanted, least_splits), least_splits}) {
      set_bit_tiles(plan, block, splits);
      plan.workspace_bytes = bit_workspace(plan);
      if (plan.workspace_bytes <= plan.budget_bytes) return true;
    }
    if (block == 1) return false;
  }
}

std::string mebibytes_text(std::int64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

BitPlan begin_bits(const BitProblem& problem, const Options& options) {
  BitPlan plan;
  plan.base_rows = problem.base_rows;
  plan.queries = problem.queries;
  plan.bits = problem.bits;
  plan.k = problem.k;
  plan.self = problem.self;
  plan.metric = problem.metric;
  plan.max_distance = options.max_distance;
  plan.backend = options.backend;
  return plan;
}

BitPlan plan_cpu_bits(const BitProblem& problem, const Options& options, const core::CpuFacts& facts,
                      const core::StageCost& cost) {
  BitPlan plan = begin_bits(problem, options);
  plan.backend = Backend::cpu;
  plan.budget_bytes =
      options.memory_budget > 0 ? options.memory_budget : std::max(kLeastBitBudget, facts.free_memory / 4);
  const double seconds = bit_seconds(plan, cost);
  plan.threads = options.threads > 0 ? options.threads : threads_worth(seconds, facts.threads);
  plan.threads_reason = options.threads > 0            ? "asked for by name"
                        : plan.threads < facts.threads ? "the work is worth no more"
                                                       : facts.threads_source;
  while (!fits_bits(plan)) {
    if (plan.threads == 1)
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("a memory budget of {} bytes is too small: {} of {} rows of {} bits needs at least {} "
                              "bytes",
                              plan.budget_bytes,
                              plan.k > 0 ? fmt::format("k = {}", plan.k) : std::string("a search within a radius"),
                              plan.base_rows, plan.bits, plan.workspace_bytes));
    plan.threads /= 2;
    plan.threads_reason = "the memory budget holds no more";
  }
  plan.seconds = seconds / std::min(plan.threads, std::max(facts.threads, 1));
  plan.reason = "bits are counted in registers; integers decide which pairs get a distance";
  if (!facts.device_obstacle.empty()) plan.reason += fmt::format("; on the CPU since {}", facts.device_obstacle);
  return plan;
}

BitPlan plan_device_bits(const BitProblem& problem, const Options& options, const core::DeviceFacts& facts) {
  BitPlan plan = begin_bits(problem, options);
  plan.backend = facts.backend;
  plan.kernel = facts.name;
  plan.budget_bytes = options.memory_budget > 0 ? options.memory_budget : facts.free_memory / 2;
  const std::int64_t row = bit_parts(plan.bits, 64) * 8;
  plan.query_block = std::min(plan.queries, kMostBitBlock);
  // A tile of distances, what the selection keeps beside it, or hits; the lists of its k nearest.
  const auto bytes_of = [&](std::int64_t tile) {
    const std::int64_t kept = std::min(plan.k, tile);
    return plan.base_rows * row + plan.query_block * (row + tile * (plan.k > 0 ? 24 : 20) + kept * 32) + (1 << 20);
  };
  plan.base_tile = std::clamp<std::int64_t>(kDeviceBitPairs / plan.query_block, 1, plan.base_rows);
  while ((plan.workspace_bytes = bytes_of(plan.base_tile)) > plan.budget_bytes) {
    if (plan.base_tile > 1024) {
      plan.base_tile /= 2;
    } else if (plan.query_block > 1) {
      plan.query_block /= 2;
    } else {
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("a memory budget of {} bytes is too small: {} rows of {} bits stay on the device, which "
                              "takes at least {} bytes",
                              plan.budget_bytes, plan.base_rows, plan.bits, plan.workspace_bytes));
    }
  }
  plan.candidates = std::min(plan.k, plan.base_tile);
  plan.base_splits = bit_parts(plan.base_rows, plan.base_tile);
  plan.reason = "distances of a tile are made from counts of bits, and the nearest selected";
  const double reads = static_cast<double>(bit_parts(plan.queries, 8)) * static_cast<double>(plan.base_rows * row);
  plan.seconds =
      (reads + 12.0 * static_cast<double>(plan.queries) * static_cast<double>(plan.base_rows)) / kDeviceBitBandwidth;
  return plan;
}

}  // namespace plan

std::string to_string(const BitPlan& plan) {
  std::string wanted = plan.k > 0 ? fmt::format("k = {}", plan.k) : "within a radius";
  if (std::isfinite(plan.max_distance)) wanted += fmt::format(" up to a distance of {}", plan.max_distance);
  std::string text = fmt::format("search    {} queries × {} rows × {} packed bits, {}, {}\n", plan.queries,
                                 plan.base_rows, plan.bits, wanted, to_string(plan.metric));
  text += fmt::format("backend   {} ({})", to_string(plan.backend), plan.kernel);
  if (plan.backend == Backend::cpu)
    text += fmt::format(", {} thread{} ({})", plan.threads, plan.threads == 1 ? "" : "s", plan.threads_reason);
  text += fmt::format("\nwhy       {}\n", plan.reason);
  text += fmt::format("tiles     {} queries × {} rows, base in {} part{}, {} candidates per query\n", plan.query_block,
                      plan.base_tile, plan.base_splits, plan.base_splits == 1 ? "" : "s", plan.candidates);
  text += fmt::format("memory    {} of a budget of {}\n", plan::mebibytes_text(plan.workspace_bytes),
                      plan::mebibytes_text(plan.budget_bytes));
  return text + fmt::format("expected  {:.3g} s\n", plan.seconds);
}

std::ostream& operator<<(std::ostream& out, const BitPlan& plan) {
  return out << to_string(plan);
}

}  // namespace kith
