// rank_points.hpp: the rows of this rank and what all ranks know of all: checked, agreed on, and with an index of this
// rank's own.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/periodic.hpp"
#include "kith/mpi.hpp"
#include "mpi/agreement.hpp"
#include "mpi/arguments.hpp"
#include "mpi/asked.hpp"
#include "mpi/check_rows.hpp"
#include "mpi/communicator.hpp"
#include "mpi/regions.hpp"
#include "mpi/same_on_all.hpp"
#include "mpi/shard.hpp"

namespace kith::mpi {

template <Element T>
struct RankPoints {
  using D = DistanceOf<T>;

  Communicator ranks;
  Options options;  // of local searches
  MatrixView<T> rows;
  Backend backend = Backend::cpu;
  std::int64_t budget = 0;
  std::vector<std::int64_t> counts;  // of rows, of each rank
  std::vector<std::int64_t> first_ids;
  std::int64_t points = 0;
  std::optional<Shard<T>> shard;

  RankPoints(MPI_Comm comm, MatrixView<T> my_rows, Options given)
      : ranks(comm), options(std::move(given)), rows(my_rows) {
    require_same(ranks, values_of(options));
    refuse_what_depends_on_shards(options);
    agree_on_shape();
    together(ranks, [&] {
      check_memory(rows, "base");
      backend = explain_one().backend;
    });
    require_same_powers(ranks, options.metric, backend);
    budget = exchange_budget(options, backend, ranks.ranks_of_machine());
    make_local_options();
    together(ranks, [&] { make_shard(); });
  }

  std::int64_t first_id() const { return first_ids[size_of(ranks.rank())]; }
  std::int64_t dims() const { return rows.cols; }

  // Rows of each rank, and the dimensions of those that have some.
  void agree_on_shape() {
    counts = ranks.all_gather(rows.rows);
    const auto cols = ranks.all_gather(rows.cols);
    const auto element = ranks.all_gather(dtype_of<T>());
    first_ids = firsts_of(counts);
    points = first_ids.back() + counts.back();
    std::int64_t dims = 0;
    std::size_t from = 0;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      if (counts[rank] < 0)
        throw Error(ErrorCode::invalid_argument, fmt::format("rank {} has {} rows", rank, counts[rank]));
      if (element[rank] != element.front())
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("points are {} on rank 0 but {} on rank {}", to_string(element.front()),
                                to_string(element[rank]), rank));
      if (counts[rank] == 0) continue;
      if (dims == 0) {
        dims = cols[rank];
        from = rank;
      }
      if (cols[rank] == dims && dims > 0) continue;
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("points have {} dimensions on rank {} but {} on rank {}", dims, from, cols[rank], rank));
    }
    if (points == 0) throw Error(ErrorCode::invalid_argument, "no rank has a point; the base needs at least one");
    if (rows.rows == 0) rows = MatrixView<T>(nullptr, 0, dims);
  }

  // The index knows a bad row by its number on this rank; all know it by its id.
  void make_shard() {
    try {
      shard.emplace(rows, ShardIds{first_id(), {}}, options);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::bad_data) check_rows(rows, options, first_id(), "base");
      throw;
    }
  }

  // Where a search would run.
  Plan explain_one() const { return kith::explain({1, 1, dims(), 1, dtype_of<T>()}, options); }

  void make_local_options() {
    if (options.memory_budget > 0 && backend == Backend::cpu)
      options.memory_budget = std::max<std::int64_t>(1, options.memory_budget / 2);
    options.progress = until_failure(ranks, std::move(options.progress));
  }

  Asked<T> asked_of(MatrixView<T> queries, std::int64_t k, bool self) {
    Asked<T> asked;
    asked.queries = queries.rows == 0 ? MatrixView<T>(nullptr, 0, dims()) : queries;
    asked.k = k;
    asked.counts = ranks.all_gather(queries.rows);
    if (self) {
      asked.first_id = first_id();
      asked.first_ids = first_ids;
    }
    return asked;
  }

  void check_asked(const Asked<T>& asked, const SearchOptions& how) {
    require_same(ranks, {{"k", std::to_string(asked.k)},
                         {"layout", to_string(how.layout)},
                         {"batch_rows", std::to_string(how.batch_rows)},
                         {"replicas", std::to_string(how.replicas)}});
    together(ranks, [&] {
      if (asked.self()) return;
      if (asked.queries.rows < 0 || asked.queries.cols != dims())
        throw Error(ErrorCode::invalid_argument, fmt::format("queries are {} × {} but the base has {} dimensions",
                                                             asked.queries.rows, asked.queries.cols, dims()));
      const std::vector<std::int64_t> firsts = firsts_of(asked.counts);
      check_memory(asked.queries, "queries");
      check_rows(asked.queries, options, firsts[size_of(ranks.rank())], "queries");
    });
  }

  LayoutFacts facts_of(const std::vector<std::int64_t>& queries, std::int64_t k) {
    LayoutFacts facts;
    facts.rows = counts;
    facts.queries = queries;
    facts.budgets = ranks.all_gather(budget);
    facts.dims = dims();
    facts.element_bytes = sizeof(T);
    facts.distance_bytes = sizeof(D);
    facts.k = k;
    const char* const no_bounds = why_no_bounds(options.metric, core::is_periodic(options.period));
    facts.no_bounds = no_bounds == nullptr ? "" : no_bounds;
    facts.seconds_per_pair = slowest_pair(std::accumulate(queries.begin(), queries.end(), std::int64_t{0}), k);
    return facts;
  }

  // Predicted for the local rows.
  double slowest_pair(std::int64_t queries, std::int64_t k) {
    double seconds = 0;
    together(ranks, [&] {
      if (!shard->index() || queries == 0) return;
      const Plan plan = shard->index()->explain(queries, std::min(k, rows.rows));
      seconds = plan.seconds / static_cast<double>(queries) / static_cast<double>(rows.rows);
    });
    const auto all = ranks.all_gather(seconds);
    return *std::max_element(all.begin(), all.end());
  }
};

}  // namespace kith::mpi
