#include "mpi/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "kith/error.hpp"
#include "kith/machine.hpp"

namespace kith::mpi {

std::vector<std::int64_t> firsts_of(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> firsts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), firsts.begin(), std::int64_t{0});
  return firsts;
}

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

ProgressCallback until_failure(const Communicator& ranks, ProgressCallback asked) {
  return [&ranks, asked = std::move(asked)](const Progress& progress) {
    return !ranks.hears_failure() && (!asked || asked(progress));
  };
}

std::int64_t batch_rows_of(const LayoutCost& layout, const std::vector<std::int64_t>& queries) {
  const std::int64_t most = *std::max_element(queries.begin(), queries.end());
  return std::max<std::int64_t>(1, layout.batch_rows > 0 ? layout.batch_rows : most);
}

void check_k(std::int64_t k, std::int64_t points, bool self, const Options& options) {
  const std::int64_t most = points - (self ? 1 : 0);
  if (k >= 1 && (k <= most || options.pad_missing)) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("k = {} but the ranks have {} points{}; k may be 1 to {}", k,
                                                       points, self ? ", each without itself" : "", most));
}

}  // namespace kith::mpi
