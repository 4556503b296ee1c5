#include "history.hpp"

#include <algorithm>
#include <tuple>

namespace kith::select_bench {

double History::estimate_ms(const Shape& shape, const Entry& entry) const {
  const Past* nearest = nullptr;
  for (const Past& past : past_) {
    const bool comparable = past.entry.contender.label == entry.contender.label && past.entry.sorted == entry.sorted &&
                            past.shape.pattern == shape.pattern;
    if (!comparable || past.entry.k > entry.k || past.shape.length > shape.length) continue;
    if (nearest == nullptr ||
        std::tie(past.entry.k, past.shape.length) >= std::tie(nearest->entry.k, nearest->shape.length))
      nearest = &past;
  }
  if (nearest == nullptr) return 0;
  const double deeper = static_cast<double>(entry.k) / nearest->entry.k;
  const double longer = static_cast<double>(shape.length) / nearest->shape.length;
  const double more = static_cast<double>(shape.rows) / static_cast<double>(nearest->shape.rows);
  return nearest->ms * deeper * longer * std::max(more, 1.0);
}

}  // namespace kith::select_bench
