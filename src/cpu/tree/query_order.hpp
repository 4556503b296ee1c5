// query_order.hpp: the order in which a tree is asked, and the leaf that each query begins with.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/prepared_rows.hpp"
#include "cpu/tree/tree.hpp"

namespace kith::cpu {

// Whether queries are the base itself.
template <Element T>
bool is_base(const PreparedRows<T>& base, const PreparedRows<T>& queries) {
  const MatrixView<T>& a = base.view;
  const MatrixView<T>& b = queries.view;
  return a.data == b.data && a.rows == b.rows && a.cols == b.cols && a.row_stride == b.row_stride &&
         a.col_stride == b.col_stride;
}

struct OrderedQuery {
  std::int64_t query;
  std::int64_t leaf;  // −1: nobody has looked for one
};

// Queries first … first + count − 1 of a search, in the order of leaves where there are enough of them.
template <Element T>
class QueryOrder {
 public:
  // `self`: the queries are the points of the tree; first must then be 0 and count all of them.
  QueryOrder(const Tree<DistanceOf<T>>& tree, const PreparedRows<T>& queries, std::int64_t first, std::int64_t count,
             bool self, int threads);

  OrderedQuery operator[](std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    if (self_) return {tree_.ids[at], i / kLeafPoints};
    if (sorted_.empty()) return {first_ + i, -1};
    return {first_ + static_cast<std::int64_t>(sorted_[at] & 0xFFFFFFFFU),
            static_cast<std::int64_t>(sorted_[at] >> 32U)};
  }

 private:
  const Tree<DistanceOf<T>>& tree_;
  std::int64_t first_;
  bool self_;
  std::vector<std::uint64_t> sorted_;  // the leaf, and the query in the lower half
};

}  // namespace kith::cpu
