// Search of a base that lies in parts on the ranks of an MPI communicator; library kith_mpi (docs/scale.md).
//
// Ids follow the order of ranks: the first rank's rows come first. Answers are those of one process that has all rows,
// bit for bit, whatever the number of ranks and the layout (kith/shards.hpp says why).
//
// Everything here is collective: all ranks of the communicator call it, in the same order and with the same k, metric
// and options; where these differ, all ranks get the same Error(invalid_argument). Each rank gives queries of its own,
// possibly none, and gets their neighbors. When anything fails on one rank, all ranks throw the same Error, which names
// the lowest rank that failed; nothing waits for it forever. Messages are at most 1 GiB each, and MPI is called by the
// calling thread alone, so MPI_THREAD_FUNNELED is enough. A rank that is killed ends the program: the communicator's
// errors are fatal.
//
// Rows, queries and values are host memory; a backend for devices brings them to its device itself. Not supported are
// method shifted-sort and epsilon > 0, whose answers depend on how the base is cut.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"
#include "kith/graph.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"
#include "kith/radius.hpp"
#include "kith/reduce.hpp"
#include "kith/search.hpp"

namespace kith::mpi {

// Where rows and queries go.
enum class Layout {
  automatic,   // the one that should take least time and fits the memory budget
  stationary,  // rows stay; queries come to all ranks in batches, lists go back to the queries' ranks
  replicated,  // all rows come to all ranks, once; queries stay
  grid,        // groups of ranks have all rows, once; within a group as stationary
  ring,        // queries and lists stay; rows go round from rank to rank
  landmarks,  // rows are put together by region, once; queries go to their region's rank, then where a bound sends them
};

KITH_API const char* to_string(Layout layout) noexcept;  // "auto", "stationary", ...
KITH_API Layout parse_layout(std::string_view name);     // throws Error(invalid_argument) listing them
KITH_API std::vector<std::string> layout_names();        // without "auto"

struct SearchOptions {
  Layout layout = Layout::automatic;
  // Queries of each rank that are under way together, of layouts stationary, grid and landmarks; 0 = by the budget.
  std::int64_t batch_rows = 0;
  // Layout grid: groups that have all rows, a divisor of the number of ranks; 0 = as many as fit the budget.
  int replicas = 0;
};

// What a layout would take. Bytes are those of rows, queries and lists between ranks, not messages about them; those of
// layout landmarks are an estimate for uniform points.
struct LayoutCost {
  Layout layout = Layout::stationary;
  int replicas = 1;                 // groups that have all rows
  std::int64_t batch_rows = 0;      // queries of each rank in a batch; 0 where there are no batches
  std::int64_t received_bytes = 0;  // by the rank that receives most
  std::int64_t total_bytes = 0;     // received by all ranks together
  std::int64_t memory_bytes = 0;    // of the rank that needs most, beside its rows, queries, answers and local search
  double search_seconds = 0;        // of the slowest rank
  double exchange_seconds = 0;      // of bytes and messages, if nothing overlapped
  std::string problem;              // why it cannot be taken here; empty: it can
};

// What the choice goes by, besides SearchOptions.
struct LayoutFacts {
  std::vector<std::int64_t> rows;     // of each rank
  std::vector<std::int64_t> queries;  // of each rank
  std::vector<std::int64_t> budgets;  // bytes that buffers and copies may take, of each rank
  std::int64_t dims = 0;
  std::int64_t element_bytes = 4;
  std::int64_t distance_bytes = 4;
  std::int64_t k = 0;
  std::string no_bounds;                // why the metric has no bounds for landmarks; empty: it has
  double seconds_per_pair = 0;          // of a query and a point, on the slowest rank
  double link_bytes_per_second = 10e9;  // into a rank
  double message_seconds = 20e-6;
};

struct LayoutPlan {
  LayoutCost chosen;
  std::string reason;
  std::vector<LayoutCost> layouts;  // all, in the order of Layout
};

// The plan for ranks that need not be there. Throws Error(invalid_argument) for a layout, a batch or a number of
// replicas that cannot be, and Error(out_of_memory) where a rank's budget is too small, naming the least that would do.
KITH_API LayoutPlan explain(const LayoutFacts& facts, const SearchOptions& how = {});

// A table for people.
KITH_API std::string to_string(const LayoutPlan& plan);

// What the last search on this rank did.
struct ExchangeReport {
  Layout layout = Layout::stationary;
  std::int64_t sent_bytes = 0;  // as LayoutCost counts them
  std::int64_t received_bytes = 0;
  std::int64_t memory_bytes = 0;  // of copies of rows that the index keeps for its next search
  // Layout landmarks:
  std::int64_t moved_rows = 0;  // that came here when rows were put together by region
  std::int64_t asked_away = 0;  // own queries that lie in another rank's region
  std::int64_t forwarded = 0;   // own queries that had to be asked of more ranks than their region's
  std::int64_t forwards = 0;    // of how many more but this one, all queries together
  double seconds = 0;
  double waited_seconds = 0;  // of these, for messages
};

// Work of each rank that is no search, such as reading a file: what it throws on one rank, all throw. Collective.
KITH_API void together(MPI_Comm comm, const std::function<void()>& work);

// The lists, or rows, of all ranks, in the order of ranks, on rank `root`; an answer without any on the others.
// Collective.
template <class D>
KITH_API Neighbors<D> gather(MPI_Comm comm, const Neighbors<D>& mine, int root = 0);
template <class D>
KITH_API RadiusNeighbors<D> gather(MPI_Comm comm, const RadiusNeighbors<D>& mine, int root = 0);
template <class D>
KITH_API Graph<D> gather(MPI_Comm comm, const Graph<D>& mine, int root = 0);

template <Element T>
class KITH_API Index {
 public:
  using D = DistanceOf<T>;

  // Keeps a view of this rank's rows, possibly none, which must outlive the index and not change. The communicator is
  // duplicated. options.memory_budget and threads are this rank's own.
  Index(MPI_Comm comm, MatrixView<T> my_rows, Options options = {});
  Index(Index&&) noexcept;
  Index& operator=(Index&&) noexcept;
  ~Index();  // collective, and before MPI_Finalize()

  std::int64_t rows() const;       // of all ranks
  std::int64_t first_row() const;  // the id of this rank's first row
  std::int64_t dims() const;

  // The k nearest of each query of this rank: 1 ≤ k ≤ rows(). The report's plan is that of the rank's last local
  // search.
  Neighbors<D> search(MatrixView<T> my_queries, std::int64_t k, const SearchOptions& how = {});
  // The k nearest of each of this rank's rows, itself left out by its id.
  Neighbors<D> search_self(std::int64_t k, const SearchOptions& how = {});
  // All points within the radii: one for all of this rank's queries, or one for each. Layout stationary.
  RadiusNeighbors<D> search_radius(MatrixView<T> my_queries, std::span<const D> radii, const SearchOptions& how = {});
  RadiusNeighbors<D> search_radius_self(std::span<const D> radii, const SearchOptions& how = {});
  // Rows of the graph for this rank's rows: indptr begins at 0, indices are ids.
  Graph<D> graph(std::int64_t k, const SearchOptions& how = {});
  // What is made of the k nearest. `my_values` has a row for each of this rank's rows: those of neighbors are fetched
  // from their ranks when the lists are complete.
  Reduced<D> reduce(MatrixView<T> my_queries, std::int64_t k, MatrixView<D> my_values, ReduceOp op,
                    const SearchOptions& how = {});

  // The plan of a search of so many queries, spread evenly over the ranks, without doing it.
  LayoutPlan explain(std::int64_t queries, std::int64_t k, const SearchOptions& how = {});

  const ExchangeReport& report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kith::mpi
