// kith-mpi search, graph and radius: those of kith, by several ranks. Rank 0 writes the answer.

#include <fmt/format.h>

#include <optional>

#include "cli/message.hpp"
#include "cli/mpi/commands.hpp"
#include "cli/mpi/ranks.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/search_input.hpp"
#include "cli/signals.hpp"
#include "kith/mpi.hpp"

namespace kith::cli {
namespace {

struct Arguments {
  SearchInput input;
  std::int64_t k = 0;
  std::optional<double> radius;
  SearchSettings search;
  OutputSettings output;
  RankSettings ranks;

  bool is_self() const { return input.queries.empty(); }
};

// Files and their formats are checked before the work, and by rank 0, which writes.
void check_output(const Arguments& arguments, Content content, const Context& context) {
  mpi::together(MPI_COMM_WORLD, [&] {
    if (my_rank() != 0) return;
    if (arguments.output.as_text())
      throw Error(ErrorCode::invalid_argument, "the answer goes to a file: name it with -o");
    check_output(arguments.output, content, context);
  });
}

void save(const Arguments& arguments, const io::NamedArrays& arrays) {
  mpi::together(MPI_COMM_WORLD, [&] {
    if (my_rank() == 0) io::save_together({arguments.output.with(arrays)});
  });
}

// Calls visit(index, queries) with the index of this rank's rows, which returns the plan of a local search.
template <class Visit>
void search_parts(const Arguments& arguments, Visit visit) {
  PartsOfInput parts = load_parts(arguments.input);
  io::visit_points(parts.base, [&](auto rows) {
    using T = typename decltype(rows)::value_type;
    Options options;
    mpi::together(MPI_COMM_WORLD, [&] { options = arguments.search.options(); });
    const InterruptScope scope;
    ProgressBar bar("searching", "distances");
    options.progress = bar.callback();
    mpi::Index<T> index(MPI_COMM_WORLD, rows, options);
    const MatrixView<T> queries = arguments.is_self() ? rows : parts.queries.view<T>();
    if (arguments.ranks.explain && arguments.k > 0) {
      std::int64_t mine = queries.rows;
      std::int64_t all = 0;
      MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      print_layouts(index.explain(all, arguments.k, arguments.ranks.how));
    }
    const Plan plan = visit(index, queries);
    if (arguments.ranks.stats) print_exchange(plan, index.report());
  });
}

void run_search(const Arguments& arguments, const Context& context) {
  begin(arguments.ranks);
  check_output(arguments, {Shape::neighbors, arguments.k}, context);
  search_parts(arguments, [&](auto& index, auto queries) {
    const auto mine = arguments.is_self() ? index.search_self(arguments.k, arguments.ranks.how)
                                          : index.search(queries, arguments.k, arguments.ranks.how);
    const auto all = mpi::gather(MPI_COMM_WORLD, mine);
    save(arguments, {{"ids", io::Array::borrow(all.ids.data(), all.queries, all.k)},
                     {"distances", io::Array::borrow(all.distances.data(), all.queries, all.k)}});
    return all.report.plan;
  });
}

void run_graph(const Arguments& arguments, const Context& context) {
  begin(arguments.ranks);
  check_output(arguments, {Shape::named}, context);
  search_parts(arguments, [&](auto& index, auto) {
    const auto graph = mpi::gather(MPI_COMM_WORLD, index.graph(arguments.k, arguments.ranks.how));
    const std::vector<std::int64_t> shape = {graph.points, graph.points};
    save(arguments, {{"indptr", io::Array::borrow(graph.indptr)},
                     {"indices", io::Array::borrow(graph.indices)},
                     {"data", io::Array::borrow(graph.data)},
                     {"shape", io::Array::borrow(shape)}});
    return graph.report.plan;
  });
}

void run_radius(const Arguments& arguments, const Context& context) {
  begin(arguments.ranks);
  check_output(arguments, {Shape::named}, context);
  search_parts(arguments, [&](auto& index, auto queries) {
    using D = typename std::remove_reference_t<decltype(index)>::D;
    const std::vector<D> radii{static_cast<D>(*arguments.radius)};
    const auto mine = arguments.is_self() ? index.search_radius_self(radii, arguments.ranks.how)
                                          : index.search_radius(queries, radii, arguments.ranks.how);
    const auto all = mpi::gather(MPI_COMM_WORLD, mine);
    save(arguments, {{"offsets", io::Array::borrow(all.offsets)},
                     {"ids", io::Array::borrow(all.ids)},
                     {"distances", io::Array::borrow(all.distances)}});
    return all.report.plan;
  });
}

// Options that all three have.
void add_options(CLI::App& command, Context& context, Arguments& arguments, const std::string& formats) {
  add_search_options(command, context, arguments.search);
  add_period(command, arguments.search);
  add_rank_options(command, context, arguments.ranks);
  add_output_options(command, context, arguments.output, formats);
  command.get_option("--output")->required()->description("Where the answer goes: " + formats);
}

void add_input(CLI::App& command, Context& context, Arguments& arguments) {
  add_search_input(command, context, arguments.input);
  command.get_option("--queries")
      ->required(false)
      ->description("The points to find neighbors of; default: each base point, itself left out");
}

}  // namespace

void add_mpi_search(CLI::App& app, Context& context) {
  auto [command, arguments] =
      add_command<Arguments>(app, context, "search", "The k nearest base points of each query", run_search);
  add_input(*command, context, *arguments);
  add_k(*command, arguments->k, "Neighbors of each query, from 1 to the number of base points");
  add_options(*command, context, *arguments, "npz, h5, csv, json with arrays ids and distances");
  add_max_distance(*command, arguments->search);
}

void add_mpi_graph(CLI::App& app, Context& context) {
  auto [command, arguments] =
      add_command<Arguments>(app, context, "graph", "The k-nearest-neighbor graph of a set of points", run_graph);
  add_base(*command, arguments->input.base, arguments->input.base_array);
  add_input_options(*command, context, arguments->input.files);
  add_k(*command, arguments->k, "Neighbors of each point, itself left out: from 1 to the number of points - 1");
  add_options(*command, context, *arguments, "npz, h5, json with the CSR arrays indptr indices data shape");
  add_max_distance(*command, arguments->search);
}

void add_mpi_radius(CLI::App& app, Context& context) {
  auto [command, arguments] =
      add_command<Arguments>(app, context, "radius", "All base points within a distance of each query", run_radius);
  add_input(*command, context, *arguments);
  command->add_option("--radius", arguments->radius, "The distance; of inner_product the least product")
      ->required()
      ->group("Search");
  add_options(*command, context, *arguments, "npz, h5, json with arrays offsets, ids and distances");
}

}  // namespace kith::cli
