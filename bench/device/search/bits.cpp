// bits.cpp: rows of packed bits of the host, of an index that has its base on the device. Times are by the host's
// clock, from the queries to the answer in the host's memory, beside what it would take to read the base once.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/parallel.hpp"
#include "common/random_bits.hpp"
#include "device/search/problem.hpp"
#include "kith/bits.hpp"

namespace kith::bench::device::search {
namespace {

struct BitsProblem {
  std::int64_t queries;
  std::int64_t base_rows;
  std::int64_t bits;
  std::int64_t k;
  BitMetric metric = BitMetric::hamming;
};

constexpr BitsProblem kBitsProblems[] = {
    {1, 1000000, 1024, 10},     {1000, 1000000, 1024, 10},
    {1000, 1000000, 1024, 100}, {1000, 1000000, 1024, 10, BitMetric::jaccard},
    {1000, 1000000, 256, 10},   {10000, 1000000, 1024, 10},
};

std::string problem_text(const BitsProblem& problem) {
  return fmt::format("{} × {} × {} bits, k {}, {}", problem.queries, problem.base_rows, problem.bits, problem.k,
                     to_string(problem.metric));
}

using Words = std::vector<std::uint64_t>;

Words random_words(std::int64_t count, std::uint64_t seed) {
  Words words(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = random_bits(seed * 0x1000000000ULL + i);
  return words;
}

class BitsRun {
 public:
  BitsRun(const BitsProblem& problem, Harness& harness)
      : problem_(problem),
        harness_(harness),
        words_(problem.bits / 64),
        base_(random_words(problem.base_rows * words_, 1)),
        queries_(random_words(problem.queries * words_, 2)),
        index_(view(base_, problem.base_rows), problem.metric, options()) {}

  std::vector<Row> rows() {
    Contender contender;
    contender.row.problem = problem_text(problem_);
    contender.row.contender = "bits";
    contender.run = [this] { found_ = index_.search(view(queries_, problem_.queries), problem_.k); };
    contender.prepare = [this] { found_ = {}; };
    contender.check = [this](bool first) { return first ? fault() : same_as_first(); };
    std::vector<Row> rows = harness_.race({contender}, {.on_host_clock = true});
    if (rows[0].timed()) conclude(rows[0]);
    return rows;
  }

 private:
  BitsView view(const Words& words, std::int64_t rows) const {
    return {reinterpret_cast<const std::uint8_t*>(words.data()), rows, problem_.bits};
  }

  static Options options() {
    Options options;
    options.backend = kBackend;
    return options;
  }

  void conclude(Row& row) const {
    const double bytes = static_cast<double>(base_.size()) * 8;
    const double pairs = static_cast<double>(problem_.queries) * static_cast<double>(problem_.base_rows);
    const double read_ms = bytes * 1e-12 / std::max(harness_.best_rate("read"), 1e-9) * 1e3;
    row.facts = {{"queries", problem_.queries},
                 {"base_rows", problem_.base_rows},
                 {"bits", problem_.bits},
                 {"k", problem_.k},
                 {"metric", to_string(problem_.metric)},
                 {"base_bytes", bytes},
                 {"read_ms", read_ms},
                 {"g_pairs_per_s", pairs / row.median_ms() * 1e-6},
                 {"t_words_per_s", pairs * static_cast<double>(words_) / row.median_ms() * 1e-9},
                 {"predicted_ms", found_.report.plan.seconds * 1e3},
                 {"rows_checked", std::min(problem_.queries, harness_.limits().samples)}};
    row.note = fmt::format("{:.1f} G pairs/s, reading the base once takes {:.3f} ms",
                           row.facts["g_pairs_per_s"].get<double>(), read_ms);
  }

  float distance(std::int64_t query, std::int64_t row) const {
    std::int64_t differ = 0;
    std::int64_t both = 0;
    std::int64_t either = 0;
    for (std::int64_t w = 0; w < words_; ++w) {
      const std::uint64_t x = queries_[static_cast<std::size_t>(query * words_ + w)];
      const std::uint64_t y = base_[static_cast<std::size_t>(row * words_ + w)];
      differ += std::popcount(x ^ y);
      both += std::popcount(x & y);
      either += std::popcount(x | y);
    }
    if (problem_.metric == BitMetric::hamming)
      return static_cast<float>(static_cast<double>(differ) / static_cast<double>(problem_.bits));
    return either == 0 ? 0.0F : static_cast<float>(static_cast<double>(either - both) / static_cast<double>(either));
  }

  // Of a sample of the queries, by definition.
  std::string fault() {
    first_ = found_;
    const std::int64_t some = std::min(harness_.limits().samples, problem_.queries);
    std::vector<std::pair<float, std::int64_t>> all(static_cast<std::size_t>(problem_.base_rows));
    for (std::int64_t i = 0; i < some; ++i) {
      const std::int64_t query = i * (problem_.queries / some);
      for_parts(problem_.base_rows, 4096, all_threads(), [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t row = from; row < to; ++row) all[static_cast<std::size_t>(row)] = {distance(query, row), row};
      });
      std::partial_sort(all.begin(), all.begin() + problem_.k, all.end());
      for (std::int64_t n = 0; n < problem_.k; ++n) {
        const auto& [right, id] = all[static_cast<std::size_t>(n)];
        const auto at = static_cast<std::size_t>(n);
        if (found_.ids_of(query)[at] != id || found_.distances_of(query)[at] != right)
          return fmt::format("query {}: neighbor {} is {} at {}, not {} at {}", query, n, found_.ids_of(query)[at],
                             found_.distances_of(query)[at], id, right);
      }
    }
    return "";
  }

  std::string same_as_first() const {
    return found_.ids == first_.ids && found_.distances == first_.distances ? ""
                                                                            : "another answer than in the first run";
  }

  BitsProblem problem_;
  Harness& harness_;
  std::int64_t words_;  // of a row
  Words base_;
  Words queries_;
  BitIndex index_;
  BitNeighbors found_;
  BitNeighbors first_;
};

}  // namespace

Suite bits_suite(const Settings& settings) {
  Suite suite{"search/bits", "rows of packed bits of the host", "", {.samples = 16}, device_ceilings, {}};
  for (BitsProblem problem : kBitsProblems) {
    if (settings.quick) {
      problem.base_rows = 600;
      problem.queries = std::min<std::int64_t>(problem.queries, 20);
    }
    suite.cases.push_back(
        {"", problem_text(problem), "bits", [problem](Harness& harness) { return BitsRun(problem, harness).rows(); }});
  }
  return suite;
}

}  // namespace kith::bench::device::search
