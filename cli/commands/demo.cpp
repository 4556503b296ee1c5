// kith demo: makes up points, searches them, and proves the answer with a loop that shares no code with the library.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/signals.hpp"
#include "cli/sizes.hpp"
#include "cli/stdout.hpp"
#include "kith/kith.hpp"
#include "support/generator.hpp"

namespace kith::cli {
namespace {

struct DemoArguments {
  std::int64_t rows = 100000;
  std::int64_t dims = 64;
  std::int64_t queries = 1000;
  std::int64_t k = 10;
  std::uint64_t seed = 1;
  Backend backend = Backend::automatic;
  int threads = 0;
};

// Distances that the proof computes: about a second of work.
constexpr std::int64_t kProofTerms = 700'000'000;

using Hit = std::pair<float, std::int64_t>;

// The definition, word for word: all distances in double, summed in the order that docs/design.md fixes (eight lanes),
// rounded once, sorted by (distance, id).
std::vector<Hit> obvious_neighbors(const std::vector<float>& base, const float* query, std::int64_t dims,
                                   std::int64_t k) {
  std::vector<Hit> hits;
  const auto rows = static_cast<std::int64_t>(base.size()) / dims;
  for (std::int64_t id = 0; id < rows; ++id) {
    const float* point = base.data() + id * dims;
    double lane[8] = {};
    for (std::int64_t col = 0; col < dims; ++col) {
      const double difference = static_cast<double>(point[col]) - static_cast<double>(query[col]);
      lane[col % 8] += difference * difference;
    }
    const double sum = ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
    hits.emplace_back(static_cast<float>(std::sqrt(sum)), id);
  }
  std::partial_sort(hits.begin(), hits.begin() + k, hits.end());
  hits.resize(static_cast<std::size_t>(k));
  return hits;
}

struct Proof {
  std::int64_t queries = 0;
  std::int64_t different = 0;  // queries whose neighbors are not the same to the bit
  double seconds = 0;
};

Proof prove(const std::vector<float>& base, const std::vector<float>& queries, std::int64_t dims,
            const Neighbors<float>& found) {
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t affordable = std::max<std::int64_t>(1, kProofTerms / static_cast<std::int64_t>(base.size()));
  Proof proof;
  proof.queries = std::min(found.queries, affordable);
  for (std::int64_t i = 0; i < proof.queries; ++i) {
    throw_if_interrupted();
    const std::int64_t query = i * found.queries / proof.queries;
    const std::vector<Hit> expected = obvious_neighbors(base, queries.data() + query * dims, dims, found.k);
    const auto ids = found.ids_of(query);
    const auto distances = found.distances_of(query);
    bool same = true;
    for (std::size_t rank = 0; rank < expected.size(); ++rank) {
      same = same && expected[rank] == Hit(distances[rank], ids[rank]);
    }
    proof.different += same ? 0 : 1;
  }
  proof.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return proof;
}

Json proof_json(const Proof& proof) {
  return {{"queries", proof.queries}, {"different", proof.different}, {"seconds", proof.seconds}};
}

Neighbors<float> run_search(MatrixView<float> base, MatrixView<float> queries, std::int64_t k, Options options) {
  ProgressBar bar("searching", "distances");
  options.progress = bar.callback();
  const Index<float> index(base, options);
  Neighbors<float> found = index.search(queries, k);
  throw_if_interrupted();
  return found;
}

void say(const Context& context, const std::string& text) {
  if (context.json) return;
  write_stdout(text);
  flush_stdout();
}

void say_search(const Context& context, const Neighbors<float>& found) {
  const auto queries = static_cast<double>(found.queries);
  const auto distances = queries * static_cast<double>(found.report.plan.problem.base_rows);
  std::string nearest;
  for (std::int64_t rank = 0; rank < std::min<std::int64_t>(3, found.k); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    nearest += fmt::format("{}point {} at {}", rank > 0 ? ", " : "", found.ids[at], found.distances[at]);
  }
  say(context, fmt::format("\nSearched in {}: {} queries/s, {} distances/s.\nNearest to query 0: {}.\n\n",
                           format_seconds(found.report.seconds), format_count(queries / found.report.seconds),
                           format_count(distances / found.report.seconds), nearest));
}

void say_proof(const Context& context, const Neighbors<float>& found, const Proof& proof) {
  if (proof.different > 0) return;
  const double loop = proof.seconds / static_cast<double>(proof.queries);
  const double search = found.report.seconds / static_cast<double>(found.queries);
  say(context,
      fmt::format("Checked {} queries against a plain double-precision loop: ids and distances agree exactly.\n"
                  "The loop took {} a query, the search {}: {:.0f} times faster.\n",
                  format_integer(proof.queries), format_seconds(loop), format_seconds(search), loop / search));
}

void print_object(const SearchReport& report, const Proof& proof) {
  Json object = json_object("demo");
  object["plan"] = to_json(report.plan);
  object["report"] = to_json(report);
  object["proof"] = proof_json(proof);
  print_json(object);
}

void run(const DemoArguments& settings, const Context& context) {
  Options options;
  options.backend = settings.backend;
  options.threads = settings.threads;
  const Problem problem = {settings.rows, settings.queries, settings.dims, settings.k, DType::float32};
  const Plan plan = explain(problem, options);
  say(context, fmt::format("{} clustered points and {} queries in {} dimensions; the {} nearest of each.\n\n{}",
                           format_integer(settings.rows), format_integer(settings.queries), settings.dims, settings.k,
                           to_string(plan)));
  const support::PointGenerator generator({support::PointKind::clustered, settings.dims, settings.seed, 0});
  const std::vector<float> base = generator.rows<float>(0, settings.rows);
  const std::vector<float> queries = generator.rows<float>(settings.rows, settings.queries);

  const InterruptScope scope;
  const Neighbors<float> found =
      run_search(MatrixView<float>(base.data(), settings.rows, settings.dims),
                 MatrixView<float>(queries.data(), settings.queries, settings.dims), settings.k, options);
  say_search(context, found);
  const Proof proof = prove(base, queries, settings.dims, found);
  say_proof(context, found, proof);
  if (context.json) print_object(found.report, proof);
  if (proof.different > 0) {
    throw Error(ErrorCode::internal, fmt::format("{} of {} checked queries have other neighbors than the plain loop",
                                                 proof.different, proof.queries));
  }
}

}  // namespace

void add_demo(CLI::App& app, Context& context) {
  auto [command, settings] = add_command<DemoArguments>(
      app, context, "demo", "Make up points, search them and prove the answer, in a few seconds", run);
  const std::string group = "Problem";
  add_integer(*command, "--rows", settings->rows, "Points; default 100000", 1)->group(group);
  add_integer(*command, "--dims", settings->dims, "Dimensions; default 64", 1)->group(group);
  add_integer(*command, "--queries", settings->queries, "Queries; default 1000", 1)->group(group);
  add_integer(*command, "-k", settings->k, "Neighbors of each query; default 10")->group(group);
  add_integer(*command, "--seed", settings->seed, "Seed of the points; default 1", 0)->group(group);
  add_backend(*command, context, settings->backend, searching_backends());
  add_threads(*command, settings->threads);
  add_general_options(*command, context, "Print a JSON object instead of the story");
}

}  // namespace kith::cli
