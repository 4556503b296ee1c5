// kith-mpi explain: what each layout would take on ranks that need not be there; or a table of the model for many
// sizes of a cluster.

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "cli/message.hpp"
#include "cli/mpi/commands.hpp"
#include "cli/mpi/ranks.hpp"
#include "cli/options.hpp"
#include "cli/sizes.hpp"
#include "cli/stdout.hpp"
#include "kith/mpi.hpp"
#include "kith/plan.hpp"

namespace kith::cli {
namespace {

struct ExplainArguments {
  Problem problem;
  std::int64_t ranks = 8;
  std::string device = "h200";
  double link = 50e9;
  double message = 20e-6;
  std::int64_t memory = std::int64_t{16} << 30;
  mpi::SearchOptions how;
  bool model = false;
};

std::vector<std::int64_t> spread(std::int64_t total, std::int64_t ranks) {
  std::vector<std::int64_t> parts(static_cast<std::size_t>(ranks), total / ranks);
  for (std::int64_t rank = 0; rank < total % ranks; ++rank) ++parts[static_cast<std::size_t>(rank)];
  return parts;
}

// Seconds of a pair are those of a search of a shard with one of the batches that make it busy.
struct Shard {
  mpi::LayoutFacts facts;
  bool fits = true;  // on the device; else it is streamed from the host
};

Shard shard_of(const ExplainArguments& arguments) {
  constexpr std::int64_t kBatch = 16384;
  Problem shard = arguments.problem;
  shard.base_rows = std::max<std::int64_t>(1, shard.base_rows / arguments.ranks);
  shard.queries = std::min(shard.queries, kBatch);
  shard.k = std::min(shard.k, shard.base_rows);
  const Plan plan = kith::explain(shard, {}, arguments.device);
  mpi::LayoutFacts facts;
  facts.rows = spread(arguments.problem.base_rows, arguments.ranks);
  facts.queries = spread(arguments.problem.queries, arguments.ranks);
  facts.budgets.assign(facts.rows.size(), arguments.memory);
  facts.dims = arguments.problem.dims;
  facts.k = arguments.problem.k;
  facts.seconds_per_pair = plan.seconds / static_cast<double>(shard.queries) / static_cast<double>(shard.base_rows);
  facts.link_bytes_per_second = arguments.link;
  facts.message_seconds = arguments.message;
  return {facts, plan.base_fits};
}

// Layout stationary, which few queries of a large base have. Nothing is taken to overlap.
void print_model(ExplainArguments arguments) {
  constexpr std::array kGpus = {8, 64, 256, 1024};
  constexpr std::array kNeighbors = {10, 100, 1024};
  std::string text =
      fmt::format("{} queries × {} points × {} dimensions, device {}, {} a second into each rank\n",
                  format_integer(arguments.problem.queries), format_integer(arguments.problem.base_rows),
                  arguments.problem.dims, arguments.device, format_bytes(static_cast<std::int64_t>(arguments.link)));
  text += fmt::format("{:>6} {:>6} {:>12} {:>14} {:>12} {:>12}\n", "GPUs", "k", "search s", "bytes in", "exchange s",
                      "efficiency");
  for (const int gpus : kGpus)
    for (const int k : kNeighbors) {
      arguments.ranks = gpus;
      arguments.problem.k = k;
      arguments.how.layout = mpi::Layout::stationary;
      const Shard shard = shard_of(arguments);
      const mpi::LayoutCost cost = mpi::explain(shard.facts, arguments.how).chosen;
      text += fmt::format("{:>6} {:>6} {:>12.4g} {:>14} {:>12.4g} {:>10.2f} % {}\n", gpus, k, cost.search_seconds,
                          format_bytes(cost.received_bytes), cost.exchange_seconds,
                          100 * cost.search_seconds / (cost.search_seconds + cost.exchange_seconds),
                          shard.fits ? "" : "shards are streamed from the host");
    }
  write_stdout(text);
}

void run(const ExplainArguments& arguments, const Context&) {
  if (my_rank() != 0) return;
  if (arguments.model) return print_model(arguments);
  write_stdout(to_string(mpi::explain(shard_of(arguments).facts, arguments.how)));
}

}  // namespace

void add_mpi_explain(CLI::App& app, Context& context) {
  auto [command, arguments] = add_command<ExplainArguments>(
      app, context, "explain", "What each layout would take on a cluster of known GPUs; nothing is searched", run);
  Problem& problem = arguments->problem;
  problem.base_rows = 1'000'000'000;
  problem.queries = 1'000'000;
  problem.dims = 128;
  problem.k = 10;
  add_integer(*command, "--rows", problem.base_rows, "Base points, default 1,000,000,000", 1)->group("Problem");
  add_integer(*command, "--dims", problem.dims, "Dimensions, default 128", 1)->group("Problem");
  add_integer(*command, "--queries", problem.queries, "Queries, default 1,000,000", 1)->group("Problem");
  add_integer(*command, "-k", problem.k, "Neighbors of each query, default 10", 1)->group("Problem");
  add_integer(*command, "--ranks", arguments->ranks, "Ranks, each with a device, default 8", 1)->group("Machine");
  std::vector<std::string> names;
  for (const KnownDevice& device : known_devices()) names.push_back(device.name);
  add_choice(
      *command, context, "--device", arguments->device, names,
      [](const std::string& name) {
        kith::explain({1, 1, 1, 1}, {}, name);
      },
      "The device of each rank, default h200")
      ->group("Machine");
  command->add_option("--link", arguments->link, "Bytes a second into a rank, default 50e9")->group("Machine");
  command->add_option("--latency", arguments->message, "Seconds of a message, default 20e-6")->group("Machine");
  add_memory(*command, arguments->memory);
  add_choice(*command, context, "--layout", arguments->how.layout,
             {mpi::Layout::automatic, mpi::Layout::stationary, mpi::Layout::replicated, mpi::Layout::grid,
              mpi::Layout::ring, mpi::Layout::landmarks},
             mpi::parse_layout, "What travels between ranks")
      ->group("Machine");
  command->add_flag("--model", arguments->model, "A table: 8 to 1024 ranks, k = 10, 100 and 1024")->group("General");
}

}  // namespace kith::cli
