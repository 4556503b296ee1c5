#include "api/devices/stripes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kith::api {

// Where stripes end is rounded, not how long they are, so that they are all rows together.
std::vector<Stripe> stripes_of(std::int64_t rows, const std::vector<double>& rates) {
  const double all = std::accumulate(rates.begin(), rates.end(), 0.0);
  std::vector<Stripe> stripes;
  std::int64_t first = 0;
  double before = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    before += rates[i];
    const std::int64_t end =
        i + 1 == rates.size()
            ? rows
            : std::clamp<std::int64_t>(std::llround(static_cast<double>(rows) * (before / all)), first, rows);
    stripes.push_back({first, end - first});
    first = end;
  }
  return stripes;
}

}  // namespace kith::api
