// stripes.hpp: which rows of the base each of several devices has.
#pragma once

#include <cstdint>
#include <vector>

namespace kith::api {

struct Stripe {
  std::int64_t first = 0;
  std::int64_t rows = 0;
};

// Rows in their order, as many for each as its rate is of all rates, rounded: none may come of it. Rates are positive.
std::vector<Stripe> stripes_of(std::int64_t rows, const std::vector<double>& rates);

}  // namespace kith::api
