#include "cli/mpi/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "cli/message.hpp"
#include "cli/points.hpp"
#include "cli/report.hpp"
#include "cli/sizes.hpp"
#include "kith/error.hpp"

namespace kith::cli {
namespace {

constexpr const char* kRankGroup = "Ranks";

// Among the ranks of this machine.
int rank_on_machine() {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, my_rank(), MPI_INFO_NULL, &machine);
  int rank = 0;
  MPI_Comm_rank(machine, &rank);
  MPI_Comm_free(&machine);
  return rank;
}

// The list of CUDA_VISIBLE_DEVICES, or of numbers.
std::string device_of(int index) {
  const char* listed = std::getenv("CUDA_VISIBLE_DEVICES");
  if (listed == nullptr) return std::to_string(index);
  const std::vector<std::string> devices = CLI::detail::split(listed, ',');
  if (index < static_cast<int>(devices.size())) return devices[static_cast<std::size_t>(index)];
  throw Error(ErrorCode::no_device,
              fmt::format("CUDA_VISIBLE_DEVICES lists {} devices, too few for the ranks of this machine; raise "
                          "--ranks-per-device",
                          devices.size()));
}

void refuse_stdin(const std::string& path, const char* option) {
  if (path != "-") return;
  throw Error(ErrorCode::invalid_argument, fmt::format("{} -: ranks cannot share standard input; name a file", option));
}

// One-dimensional queries as long as the base's points are one query, which rank 0 has.
bool is_one_query(const io::Part& queries, const io::Array& base) {
  return queries.rows.rank() == 1 && base.cols() != 1 && queries.total == base.cols();
}

}  // namespace

int my_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int rank_count() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void add_rank_options(CLI::App& command, Context& context, RankSettings& settings) {
  add_choice(command, context, "--layout", settings.how.layout,
             {mpi::Layout::automatic, mpi::Layout::stationary, mpi::Layout::replicated, mpi::Layout::grid,
              mpi::Layout::ring, mpi::Layout::landmarks},
             mpi::parse_layout, "What travels between ranks")
      ->group(kRankGroup);
  add_integer(command, "--batch-rows", settings.how.batch_rows,
              "Queries of each rank that are under way together; 0 = by the budget", 0)
      ->group(kRankGroup);
  add_integer(command, "--replicas", settings.how.replicas,
              "Layout grid: groups of ranks that have the whole base; 0 = as many as fit", 0)
      ->group(kRankGroup);
  add_integer(command, "--ranks-per-device", settings.ranks_per_device,
              "CUDA: so many ranks of a machine have its first device, so many the next; 0 = all see all devices", 0)
      ->group(kRankGroup);
  command.add_flag("--explain", settings.explain, "Print what each layout would take on stderr, then search")
      ->group("General");
  command.add_flag("--stats", settings.stats, "Print on stderr what each rank sent, received and waited for")
      ->group("General");
  command.add_flag("--quiet", settings.quiet, "No notes or progress on stderr, only errors")->group("General");
}

void begin(const RankSettings& settings) {
  set_quiet(settings.quiet || my_rank() != 0);
  if (settings.ranks_per_device > 0) {
    const int place = rank_on_machine();
    mpi::together(MPI_COMM_WORLD,
                  [&] { setenv("CUDA_VISIBLE_DEVICES", device_of(place / settings.ranks_per_device).c_str(), 1); });
  }
}

PartsOfInput load_parts(const SearchInput& input) {
  PartsOfInput parts;
  mpi::together(MPI_COMM_WORLD, [&] {
    refuse_stdin(input.base, "--base");
    refuse_stdin(input.queries, "--queries");
    const io::LoadOptions base = input.files.load_options(input.base_array, kBaseArrays);
    parts.base = as_points("base", io::load_part(input.base, my_rank(), rank_count(), base).rows);
    parts.queries = parts.base;
    if (input.queries.empty()) return;
    io::LoadOptions queries = input.files.load_options(input.queries_array, kQueriesArrays);
    if (input.queries_format != "auto") queries.format = io::parse_format(input.queries_format);
    io::Part part = io::load_part(input.queries, my_rank(), rank_count(), queries);
    if (is_one_query(part, parts.base)) {
      part.rows = my_rank() == 0
                      ? io::load(input.queries, queries)
                      : io::Array(part.rows.type(), 2, 0, parts.base.cols(), nullptr, parts.base.cols(), 1, nullptr);
    }
    parts.queries = as_points("queries", part.rows);
    match_queries(parts.base, parts.queries);
  });
  return parts;
}

void print_exchange(const Plan& plan, const mpi::ExchangeReport& mine) {
  constexpr int kValues = 8;
  const double values[kValues] = {static_cast<double>(mine.sent_bytes),
                                  static_cast<double>(mine.received_bytes),
                                  static_cast<double>(mine.memory_bytes),
                                  static_cast<double>(mine.forwarded),
                                  mine.seconds,
                                  mine.waited_seconds,
                                  static_cast<double>(mine.moved_rows),
                                  static_cast<double>(mine.asked_away)};
  std::vector<double> all(static_cast<std::size_t>(rank_count() * kValues));
  MPI_Gather(values, kValues, MPI_DOUBLE, all.data(), kValues, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (my_rank() != 0) return;
  std::string text = fmt::format("layout {}\n{:>6} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12}\n",
                                 to_string(mine.layout), "rank", "seconds", "of waiting", "sent", "received", "copies",
                                 "rows moved", "asked away", "forwarded");
  for (int rank = 0; rank < rank_count(); ++rank) {
    const double* of = all.data() + rank * kValues;
    const auto bytes = [&](int i) { return format_bytes(static_cast<std::int64_t>(of[i])); };
    text += fmt::format("{:>6} {:>12.4f} {:>12.4f} {:>12} {:>12} {:>12} {:>12.0f} {:>12.0f} {:>12.0f}\n", rank, of[4],
                        of[5], bytes(0), bytes(1), bytes(2), of[6], of[7], of[3]);
  }
  print_plan(plan);
  print_to_stderr(text);
}

void print_layouts(const mpi::LayoutPlan& plan) {
  print_to_stderr(to_string(plan));
}

}  // namespace kith::cli
