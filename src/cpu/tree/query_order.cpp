#include "cpu/tree/query_order.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>

#include "core/instantiate.hpp"
#include "cpu/parallel.hpp"
#include "cpu/tree/walk_query.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kFewestSorted = 256;  // queries that are worth an order
constexpr std::int64_t kLeavesLookedFor = 1024;

}  // namespace

template <Element T>
QueryOrder<T>::QueryOrder(const Tree<DistanceOf<T>>& tree, const PreparedRows<T>& queries, std::int64_t first,
                          std::int64_t count, bool self, int threads)
    : tree_(tree), first_(first), self_(self) {
  using F = DistanceOf<T>;
  if (self || count < kFewestSorted) return;
  sorted_.resize(static_cast<std::size_t>(count));
  const core::Form form = core::form_of(queries.metric);
  const TreeView<F> view = tree.view();
  parallel_for(threads, (count + kLeavesLookedFor - 1) / kLeavesLookedFor, [&](std::int64_t task, int) {
    WalkQuery<T> query(queries, tree);
    const std::int64_t last = std::min(count, (task + 1) * kLeavesLookedFor);
    for (std::int64_t i = task * kLeavesLookedFor; i < last; ++i) {
      query.set(queries, first + i);
      const auto leaf = static_cast<std::uint64_t>(near_leaf(form, queries.metric.p, view, query.row()));
      sorted_[static_cast<std::size_t>(i)] = leaf << 32U | static_cast<std::uint64_t>(i);
    }
  });
  hwy::Sorter()(sorted_.data(), sorted_.size(), hwy::SortAscending());
}

#define KITH_INSTANTIATE(T) template class QueryOrder<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
