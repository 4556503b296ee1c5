#include "cpu/listed_batches.hpp"

#include <algorithm>
#include <vector>

#include "cpu/parallel.hpp"

namespace kith::cpu {
namespace {

// Pairs that take as long as a query does for itself.
constexpr std::int64_t kPairsOfQuery = 512;
// Pairs of a task: enough that taking one costs nothing beside it, and few enough that threads end together.
constexpr std::int64_t kLeastOfTask = std::int64_t{1} << 16;
constexpr std::int64_t kPartsOfThread = 16;

std::int64_t work_of(const core::Batches& batches, std::int64_t batch) {
  return batches.pairs(batch) + batches.queries(batch).count * kPairsOfQuery;
}

// Where tasks begin among the listed batches, and where the last one ends.
std::vector<std::size_t> cut_into_tasks(const ListedBatches& asked, int threads) {
  std::int64_t all = 0;
  for (const std::int64_t batch : asked.listed) all += work_of(asked.batches, batch);
  const std::int64_t enough = std::max(kLeastOfTask, all / (kPartsOfThread * threads));
  std::vector<std::size_t> starts{0};
  std::int64_t work = 0;
  for (std::size_t i = 0; i < asked.listed.size(); ++i) {
    work += work_of(asked.batches, asked.listed[i]);
    if (work < enough && i + 1 < asked.listed.size()) continue;
    starts.push_back(i + 1);
    work = 0;
  }
  return starts;
}

}  // namespace

std::int64_t ListedBatches::pairs() const {
  std::int64_t sum = 0;
  for (const std::int64_t batch : listed) sum += batches.pairs(batch);
  return sum;
}

void for_each_batch(const ListedBatches& asked, int threads,
                    const std::function<void(core::RowRange rows, core::RowRange queries, int worker)>& search) {
  const std::vector<std::size_t> starts = cut_into_tasks(asked, threads);
  parallel_for(threads, static_cast<std::int64_t>(starts.size()) - 1, [&](std::int64_t task, int worker) {
    const auto at = static_cast<std::size_t>(task);
    for (std::size_t i = starts[at]; i < starts[at + 1]; ++i)
      search(asked.batches.base(asked.listed[i]), asked.batches.queries(asked.listed[i]), worker);
  });
}

}  // namespace kith::cpu
