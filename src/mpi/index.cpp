// index.cpp: what is the same for every layout: arguments are checked and agreed on, a layout is chosen, and its search
// is run.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "api/checked_reduction.hpp"
#include "core/fp_environment.hpp"
#include "core/instantiate.hpp"
#include "core/neighbor_graph.hpp"
#include "core/periodic.hpp"
#include "core/reduce_lists.hpp"
#include "kith/machine.hpp"
#include "kith/mpi.hpp"
#include "mpi/agreement.hpp"
#include "mpi/asked.hpp"
#include "mpi/check_rows.hpp"
#include "mpi/communicator.hpp"
#include "mpi/fetch_rows.hpp"
#include "mpi/landmarks.hpp"
#include "mpi/layout.hpp"
#include "mpi/radius_batches.hpp"
#include "mpi/regional_rows.hpp"
#include "mpi/replica.hpp"
#include "mpi/ring.hpp"
#include "mpi/same_on_all.hpp"
#include "mpi/shard.hpp"
#include "mpi/stationary.hpp"

namespace kith::mpi {
namespace {

using Clock = std::chrono::steady_clock;

// Where the part of each rank begins.
std::vector<std::int64_t> firsts_of(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> firsts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), firsts.begin(), std::int64_t{0});
  return firsts;
}

// Half of a budget that is given for the CPU is the local search's; the other half, or a quarter of what this rank may
// have of the machine's memory, is for buffers and copies.
std::int64_t exchange_budget(const Options& options, Backend backend, int ranks_of_machine) {
  if (options.memory_budget > 0 && backend == Backend::cpu) return options.memory_budget / 2;
  return host_limits().memory_bytes / 4 / ranks_of_machine;
}

void refuse_what_depends_on_shards(const Options& options) {
  if (options.method == Method::shifted_sort)
    throw Error(ErrorCode::invalid_argument,
                "method shifted-sort cannot search shards: its neighbors depend on all points of the base");
  if (options.epsilon != 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("epsilon = {}; what it leaves out depends on how the base is cut, so it must be 0 here",
                            options.epsilon));
}

// Looks for the failure of another rank, which moves messages on, whenever a search says how far it is.
ProgressCallback until_failure(const Communicator& ranks, ProgressCallback asked) {
  return [&ranks, asked = std::move(asked)](const Progress& progress) {
    return !ranks.hears_failure() && (!asked || asked(progress));
  };
}

// Where there are no batches, as on one rank, all queries are one.
std::int64_t batch_rows_of(const LayoutCost& layout, const std::vector<std::int64_t>& queries) {
  const std::int64_t most = *std::max_element(queries.begin(), queries.end());
  return std::max<std::int64_t>(1, layout.batch_rows > 0 ? layout.batch_rows : most);
}

// The same on all ranks, so that all throw.
void check_k(std::int64_t k, std::int64_t points, bool self, const Options& options) {
  const std::int64_t most = points - (self ? 1 : 0);
  if (k >= 1 && (k <= most || options.pad_missing)) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("k = {} but the ranks have {} points{}; k may be 1 to {}", k,
                                                       points, self ? ", each without itself" : "", most));
}

}  // namespace

template <Element T>
struct Index<T>::State {
  Communicator ranks;
  Options options;  // of local searches
  MatrixView<T> rows;
  Backend backend = Backend::cpu;
  std::int64_t budget = 0;
  std::vector<std::int64_t> counts;  // of rows, of each rank
  std::vector<std::int64_t> first_ids;
  std::int64_t points = 0;
  std::optional<Shard<T>> shard;
  // Made for a layout when it is first taken, and kept for the next search.
  Replica<T> replica;
  std::optional<RegionalRows<T>> regions;
  ExchangeReport report;

  State(MPI_Comm comm, MatrixView<T> my_rows, Options given) : ranks(comm), options(std::move(given)), rows(my_rows) {
    require_same(ranks, values_of(options));
    refuse_what_depends_on_shards(options);
    agree_on_shape();
    together(ranks, [&] {
      check_rows(rows, options, first_id(), "base");
      backend = explain_one().backend;
    });
    require_same_powers(ranks, options.metric, backend);
    budget = exchange_budget(options, backend, ranks.ranks_of_machine());
    make_local_options();
    together(ranks, [&] { shard.emplace(rows, ShardIds{first_id(), {}}, options); });
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

  // Where a search would run.
  Plan explain_one() const { return kith::explain({1, 1, dims(), 1, dtype_of<T>()}, options); }

  void make_local_options() {
    if (options.memory_budget > 0 && backend == Backend::cpu)
      options.memory_budget = std::max<std::int64_t>(1, options.memory_budget / 2);
    check_finite = options.check_finite;
    options.check_finite = false;  // rows and queries are checked where they come from
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
      Options checked = options;
      checked.check_finite = check_finite;
      check_rows(asked.queries, checked, firsts[size_of(ranks.rank())], "queries");
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

  Neighbors<D> search(MatrixView<T> queries, std::int64_t k, bool self, const SearchOptions& how) {
    const core::DefaultFpEnvironment environment;
    const Clock::time_point start = Clock::now();
    const Traffic before = ranks.traffic();
    Asked<T> asked = asked_of(queries, k, self);
    check_asked(asked, how);
    check_k(k, points, self, options);
    const LayoutCost layout = mpi::explain(facts_of(asked.counts, k), how).chosen;
    asked.batch_rows = batch_rows_of(layout, asked.counts);
    report = {};
    report.layout = layout.layout;
    Agreement agreement(ranks);
    Neighbors<D> found = search_by(layout, asked, agreement);
    found.report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    finish_report(before, found.report.seconds);
    return found;
  }

  void finish_report(const Traffic& before, double seconds) {
    const Traffic& after = ranks.traffic();
    report.sent_bytes = after.sent - before.sent;
    report.received_bytes = after.received - before.received;
    report.waited_seconds = after.waited_seconds - before.waited_seconds;
    report.seconds = seconds;
  }

  Neighbors<D> search_by(const LayoutCost& layout, const Asked<T>& asked, Agreement& agreement) {
    switch (layout.layout) {
      case Layout::ring:
        return search_ring<T>(ranks, agreement, RingRows<T>{rows, *shard, counts, first_ids}, asked, options);
      case Layout::landmarks: return search_landmarks(asked, agreement);
      case Layout::replicated:
      case Layout::grid: return search_grid(layout, asked, agreement);
      default: return StationarySearch<T>(agreement, Group{ranks, 0, 1, ranks.size()}, *shard, asked, options).search();
    }
  }

  // Groups of ranks that follow each other have all rows; a column is the ranks at the same place of each group.
  Neighbors<D> search_grid(const LayoutCost& layout, const Asked<T>& asked, Agreement& agreement) {
    const int shards = ranks.size() / layout.replicas;
    if (replica.replicas != layout.replicas) {
      const Group column{ranks, ranks.rank() % shards, shards, layout.replicas};
      std::vector<std::int64_t> column_counts;
      std::vector<std::int64_t> column_ids;
      for (int member = 0; member < column.size; ++member) {
        column_counts.push_back(counts[size_of(column.rank_of(member))]);
        column_ids.push_back(first_ids[size_of(column.rank_of(member))]);
      }
      gather_rows(column, agreement, rows, column_counts, column_ids, shards == 1, options, replica);
      replica.replicas = layout.replicas;
    }
    report.memory_bytes = replica.bytes();
    const Group members{ranks, ranks.rank() / shards * shards, 1, shards};
    if (shards > 1) return StationarySearch<T>(agreement, members, *replica.shard, asked, options).search();
    Neighbors<D> found;
    agreement.run([&] { found = replica.shard->search(asked.queries, asked.k, ids_of_queries(asked)); });
    agreement.conclude();
    return found;
  }

  Neighbors<D> search_landmarks(const Asked<T>& asked, Agreement& agreement) {
    if (!regions) {
      RegionalRows<T>& made = regions.emplace();
      try {
        Regrouping<T>(ranks, agreement, rows, first_id(), points, options).run(made);
      } catch (...) {
        regions.reset();
        throw;
      }
      report.moved_rows = made.moved_rows;
    }
    LandmarkCounts asked_of_others;
    Neighbors<D> found = LandmarkSearch<T>(ranks, agreement, *regions, asked, options).search(asked_of_others);
    report.memory_bytes = regions->bytes();
    report.asked_away = asked_of_others.asked_away;
    report.forwarded = asked_of_others.forwarded;
    report.forwards = asked_of_others.forwards;
    return found;
  }

  RadiusNeighbors<D> search_radius(MatrixView<T> queries, std::span<const D> radii, bool self,
                                   const SearchOptions& how) {
    const core::DefaultFpEnvironment environment;
    const Clock::time_point start = Clock::now();
    const Traffic before = ranks.traffic();
    Asked<T> asked = asked_of(queries, 1, self);
    check_asked(asked, how);
    if (how.layout != Layout::automatic && how.layout != Layout::stationary)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("layout {} for a search by radius, which has layout stationary", to_string(how.layout)));
    SearchOptions stationary = how;
    stationary.layout = Layout::stationary;
    asked.batch_rows = batch_rows_of(mpi::explain(facts_of(asked.counts, 1), stationary).chosen, asked.counts);
    std::vector<D> of_each;
    together(ranks, [&] { of_each = checked_radii(radii, asked.queries.rows); });
    report = {};
    Agreement agreement(ranks);
    RadiusNeighbors<D> found =
        RadiusBatches<T>(ranks, agreement, *shard, asked, std::span<const D>(of_each), options).search();
    found.report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    finish_report(before, found.report.seconds);
    return found;
  }

  // One for each query: what one process says of them, its ranks say.
  std::vector<D> checked_radii(std::span<const D> radii, std::int64_t queries) const {
    const auto count = static_cast<std::int64_t>(radii.size());
    const bool products = options.metric.kind == MetricKind::inner_product;
    if (std::isfinite(options.max_distance))
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("max_distance = {} is for the k nearest; a radius search has its radius", options.max_distance));
    if (count != 1 && count != queries)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} radii for {} queries; one for all or one for each is needed", count, queries));
    for (std::size_t i = 0; i < radii.size(); ++i)
      if (std::isnan(radii[i]) || (radii[i] < 0 && !products))
        throw Error(ErrorCode::invalid_argument, fmt::format("radius = {} of query {}; it must be {}", radii[i], i,
                                                             products ? "a number" : "0 or more"));
    std::vector<D> of_each(radii.begin(), radii.end());
    if (count == 1) of_each.assign(size_of(queries), radii.front());
    return of_each;
  }

  Reduced<D> reduce(MatrixView<T> queries, std::int64_t k, MatrixView<D> values, ReduceOp op,
                    const SearchOptions& how) {
    const std::int64_t columns = columns_of(values);
    require_same(ranks,
                 {{"op", to_string(op)}, {"columns of values", std::to_string(core::has_values(op) ? columns : 0)}});
    core::Reduction reduction;
    together(ranks, [&] {
      // What a rank without rows has in their place.
      const MatrixView<D> none(&kNothing, 1, columns);
      reduction = api::checked_reduction(std::max<std::int64_t>(1, rows.rows), dims(), k, rows.rows > 0 ? values : none,
                                         op, options);
    });
    if (options.pad_missing) check_k(k, points, false, Options{});
    Neighbors<D> found = search(queries, k, false, how);
    const Traffic before = ranks.traffic();
    Reduced<D> reduced;
    Agreement agreement(ranks);
    if (core::has_values(op)) {
      reduced.values = reduce_fetched(reduction, found, values, reduction.columns, agreement);
    } else if (op == ReduceOp::covariance) {
      reduced.values = reduce_fetched(reduction, found, rows, dims(), agreement);
    } else {
      agreement.run([&] { reduced.values = reduce_found(reduction, found, MatrixView<T>{}, MatrixView<D>{}); });
      agreement.conclude();
    }
    reduced.report = found.report;
    report.sent_bytes += ranks.traffic().sent - before.sent;
    report.received_bytes += ranks.traffic().received - before.received;
    return reduced;
  }

  // Ranks without rows have no values: theirs are as many as the others have.
  std::int64_t columns_of(MatrixView<D> values) const {
    const auto cols = ranks.all_gather(rows.rows > 0 ? values.cols : std::int64_t{0});
    return rows.rows > 0 ? values.cols : *std::max_element(cols.begin(), cols.end());
  }

  // Of values, or of the neighbors' own coordinates.
  template <Element V>
  Matrix<D> reduce_fetched(const core::Reduction& reduction, Neighbors<D>& found, MatrixView<V> own, std::int64_t cols,
                           Agreement& agreement) {
    const FetchedRows<V> fetched = fetch_rows(ranks, agreement, found.ids, own, cols, first_ids);
    Matrix<D> reduced;
    agreement.run([&] {
      for (std::int64_t& id : found.ids) id = fetched.row_of(id);
      if constexpr (std::is_same_v<V, D>) {
        reduced = reduction.op == ReduceOp::covariance
                      ? reduce_found(reduction, found, covariance_base(fetched.view()), MatrixView<D>{})
                      : reduce_found(reduction, found, MatrixView<T>{}, fetched.view());
      } else {
        reduced = reduce_found(reduction, found, fetched.view(), MatrixView<D>{});
      }
    });
    agreement.conclude();
    return reduced;
  }
  // Where points are of the type of distances, those are rows of points.
  static MatrixView<T> covariance_base(MatrixView<D> rows) {
    if constexpr (std::is_same_v<T, D>) return rows;
    return {};
  }

  static Matrix<D> reduce_found(const core::Reduction& reduction, Neighbors<D>& found, MatrixView<T> base,
                                MatrixView<D> values) {
    Matrix<D> reduced(found.queries, core::reduced_columns(reduction));
    core::reduce_lists<T>(reduction, base, values, {found.ids.data(), found.distances.data()}, 0, found.queries,
                          reduced.data());
    return reduced;
  }

  static constexpr D kNothing = 0;
  bool check_finite = true;  // as it was asked for
};

template <Element T>
Index<T>::Index(MPI_Comm comm, MatrixView<T> my_rows, Options options)
    : state_(std::make_unique<State>(comm, my_rows, std::move(options))) {}
template <Element T>
Index<T>::Index(Index&&) noexcept = default;
template <Element T>
Index<T>& Index<T>::operator=(Index&&) noexcept = default;
template <Element T>
Index<T>::~Index() = default;

template <Element T>
std::int64_t Index<T>::rows() const {
  return state_->points;
}
template <Element T>
std::int64_t Index<T>::first_row() const {
  return state_->first_id();
}
template <Element T>
std::int64_t Index<T>::dims() const {
  return state_->dims();
}
template <Element T>
const ExchangeReport& Index<T>::report() const {
  return state_->report;
}

template <Element T>
auto Index<T>::search(MatrixView<T> my_queries, std::int64_t k, const SearchOptions& how) -> Neighbors<D> {
  return state_->search(my_queries, k, false, how);
}
template <Element T>
auto Index<T>::search_self(std::int64_t k, const SearchOptions& how) -> Neighbors<D> {
  return state_->search(state_->rows, k, true, how);
}
template <Element T>
auto Index<T>::search_radius(MatrixView<T> my_queries, std::span<const D> radii, const SearchOptions& how)
    -> RadiusNeighbors<D> {
  return state_->search_radius(my_queries, radii, false, how);
}
template <Element T>
auto Index<T>::search_radius_self(std::span<const D> radii, const SearchOptions& how) -> RadiusNeighbors<D> {
  return state_->search_radius(state_->rows, radii, true, how);
}

template <Element T>
auto Index<T>::graph(std::int64_t k, const SearchOptions& how) -> Graph<D> {
  Neighbors<D> found = search_self(k, how);
  Graph<D> made;
  made.points = found.queries;
  made.report = std::move(found.report);
  together(state_->ranks, [&] {
    core::SparseRows<D> rows =
        core::rows_of_lists(found.queries, found.k, std::move(found.ids), std::move(found.distances));
    made.indptr = std::move(rows.indptr);
    made.indices = std::move(rows.indices);
    made.data = std::move(rows.data);
  });
  return made;
}

template <Element T>
auto Index<T>::reduce(MatrixView<T> my_queries, std::int64_t k, MatrixView<D> my_values, ReduceOp op,
                      const SearchOptions& how) -> Reduced<D> {
  return state_->reduce(my_queries, k, my_values, op, how);
}

template <Element T>
LayoutPlan Index<T>::explain(std::int64_t queries, std::int64_t k, const SearchOptions& how) {
  State& state = *state_;
  const std::int64_t size = state.ranks.size();
  std::vector<std::int64_t> spread(size_of(size), queries / size);
  for (std::int64_t rank = 0; rank < queries % size; ++rank) ++spread[size_of(rank)];
  require_same(state.ranks, {{"queries", std::to_string(queries)}, {"k", std::to_string(k)}});
  return mpi::explain(state.facts_of(spread, k), how);
}

#define KITH_INSTANTIATE(T) template class Index<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::mpi
