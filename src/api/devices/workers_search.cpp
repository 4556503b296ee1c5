// workers_search.cpp: the k nearest on several devices: each worker finds those of its stripe, block after block of
// queries, and the calling thread merges the lists of a block while the workers are at the next.
#include <algorithm>
#include <array>

#include "api/devices/report.hpp"
#include "api/devices/workers.hpp"
#include "api/index_state.hpp"
#include "backend/host.hpp"
#include "core/instantiate.hpp"
#include "core/max_distance.hpp"
#include "kith/shards.hpp"

namespace kith::api {
namespace {

// A block is worth its start: some 20 ms of a device that multiplies 10¹⁴ coordinates a second, and so many queries
// that they fill one.
constexpr double kBlockCoordinates = 2e12;
constexpr std::int64_t kLeastBlock = 4096;
// Lists of two blocks, of all workers, take no more host memory than the budget of a device, or than this.
constexpr std::int64_t kListBytes = std::int64_t{256} << 20;

}  // namespace

template <Element T>
std::int64_t Workers<T>::rows_of_block(std::int64_t queries, std::int64_t k) const {
  constexpr auto kPlaceBytes = static_cast<std::int64_t>(sizeof(std::int64_t) + sizeof(D));
  std::int64_t places = 0;
  std::int64_t most_rows = 1;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (parts_[i]->streams) return queries;
    places += std::min(k, workers_[i].stripe.rows);
    most_rows = std::max(most_rows, workers_[i].stripe.rows);
  }
  const double coordinates = static_cast<double>(most_rows) * static_cast<double>(base_.cols);
  const double worth = kBlockCoordinates / coordinates;
  const std::int64_t wanted =
      worth >= static_cast<double>(queries) ? queries : std::max(kLeastBlock, static_cast<std::int64_t>(worth));
  const std::int64_t bytes = options_.memory_budget > 0 ? std::min(options_.memory_budget, kListBytes) : kListBytes;
  const std::int64_t most = std::clamp<std::int64_t>(std::min(wanted, bytes / (2 * places * kPlaceBytes)), 1, queries);
  const std::int64_t blocks = (queries + most - 1) / most;
  return (queries + blocks - 1) / blocks;  // alike, so that no device ends with a few
}

template <Element T>
SearchReport Workers<T>::search_stripe(const Index<T>& index, const Stripe& stripe, const Asked<T>& asked,
                                       const Block& block, const SearchLimits* limits, Lists& lists) const {
  lists.k = std::min(lists.k, stripe.rows);
  lists.ids.resize(static_cast<std::size_t>(block.count * lists.k));
  lists.distances.resize(lists.ids.size());
  const MatrixView<T> queries = asked.queries.rows_from(block.first, block.count);
  const NeighborsView<D> found{lists.ids.data(), lists.distances.data()};
  SearchReport report = limits == nullptr ? index.search_into(queries, lists.k, found)
                                          : index.search_into(queries, lists.k, found, *limits);
  for (std::int64_t& id : lists.ids)
    if (id != core::kNoNeighbor) id += stripe.first;
  if (!asked.exclude_self) return report;
  const D missing = core::missing_distance<D>(options_.metric);
  const std::int64_t last = std::min(block.first + block.count, stripe.first + stripe.rows);
  for (std::int64_t self = std::max(block.first, stripe.first); self < last; ++self) {
    const std::int64_t from = (self - block.first) * lists.k;
    std::int64_t* const ids = lists.ids.data() + from;
    D* const distances = lists.distances.data() + from;
    const std::int64_t at = std::find(ids, ids + lists.k, self) - ids;
    if (at == lists.k) continue;  // copies of it with smaller ids fill the list
    std::copy(ids + at + 1, ids + lists.k, ids + at);
    std::copy(distances + at + 1, distances + lists.k, distances + at);
    ids[lists.k - 1] = core::kNoNeighbor;
    distances[lists.k - 1] = missing;
  }
  return report;
}

template <Element T>
void Workers<T>::search(const Asked<T>& asked, std::int64_t k, const NeighborsView<D>& out, const SearchLimits* limits,
                        const ProgressCallback& progress, SearchReport& report) {
  constexpr std::int64_t kSlots = 2;
  const std::int64_t queries = asked.queries.rows;
  const std::int64_t width = k + (asked.exclude_self ? 1 : 0);
  const std::int64_t step = rows_of_block(queries, width);
  const std::int64_t blocks = (queries + step - 1) / step;
  std::vector<SearchReport> reports(workers_.size());  // each is its worker's
  std::array<std::vector<Lists>, kSlots> slots;
  with_rows_named(asked.exclude_self ? MatrixView<T>() : asked.queries, [&] {
    // Queries that are refused leave the caller's memory as it was.
    if (blocks > 1 && !asked.exclude_self) cpu::check_queries(asked.queries, options_);
    WorkerCall call(workers_, progress, queries * base_.rows);
    const auto block_of = [&](std::int64_t number) {
      return Block{number * step, std::min(step, queries - number * step)};
    };
    const auto start = [&](std::int64_t number) {
      std::vector<Lists>& lists = slots[static_cast<std::size_t>(number % kSlots)];
      lists.resize(workers_.size());
      return call.start([&, number](std::size_t worker) {
        const Block block = block_of(number);
        lists[worker].k = width;
        take_part(call, worker, block, [&](const Index<T>& index) {
          SearchReport found = search_stripe(index, workers_[worker].stripe, asked, block, limits, lists[worker]);
          if (number > 0) return add_counts(reports[worker], found);
          found.plan.seconds *= static_cast<double>(queries) / static_cast<double>(block.count);
          reports[worker] = std::move(found);
        });
      });
    };
    std::array<std::size_t, kSlots> jobs{};
    for (std::int64_t number = 0; number < std::min(kSlots, blocks); ++number)
      jobs[static_cast<std::size_t>(number)] = start(number);
    for (std::int64_t number = 0; number < blocks; ++number) {
      const auto slot = static_cast<std::size_t>(number % kSlots);
      call.wait(jobs[slot]);
      std::vector<NeighborLists<D>> parts;
      for (const Lists& lists : slots[slot])
        if (!lists.ids.empty()) parts.push_back({lists.ids.data(), lists.distances.data(), lists.k});
      const Block block = block_of(number);
      merge_neighbors<D>(parts, block.count, k, options_.metric,
                         {out.ids + block.first * k, out.distances + block.first * k}, options_.threads);
      if (number + kSlots < blocks) jobs[slot] = start(number + kSlots);
    }
  });
  join({base_.rows, queries, base_.cols, width, dtype_of<T>(), asked.exclude_self}, reports, report);
}

#define KITH_INSTANTIATE(T)                                                                                      \
  template std::int64_t Workers<T>::rows_of_block(std::int64_t, std::int64_t) const;                             \
  template SearchReport Workers<T>::search_stripe(const Index<T>&, const Stripe&, const Asked<T>&, const Block&, \
                                                  const SearchLimits*, Lists&) const;                            \
  template void Workers<T>::search(const Asked<T>&, std::int64_t, const NeighborsView<D>&, const SearchLimits*,  \
                                   const ProgressCallback&, SearchReport&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::api
