// listed_batches.hpp: batches that threads share, several in a task.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/batches.hpp"
#include "cpu/progress.hpp"

namespace kith::cpu {

struct ListedBatches {
  const core::Batches& batches;
  std::span<const std::int64_t> listed;  // those that are searched
  std::int64_t k;                        // places of an answer
  bool exclude_self;                     // queries are the base, and no neighbors of themselves

  std::int64_t pairs() const;
};

// Calls search(base rows, queries, worker) for each batch, those of a task one after the other by the same worker.
void for_each_batch(const ListedBatches& asked, int threads,
                    const std::function<void(core::RowRange rows, core::RowRange queries, int worker)>& search);

}  // namespace kith::cpu
