// rungs.hpp: from a plan to the work of a search on a device, and from there to its report.
#pragma once

#include <algorithm>

#include "cuda/search/brute_search.hpp"
#include "kith/search.hpp"

namespace kith::KITH_BACKEND {

// `integers`: all coordinates are integers of one byte.
BruteWork work_of(const Plan& plan, bool integers);

// Adds what was done on each rung.
void add_steps(const BruteWork& work, const std::vector<RungReport>& done, SearchReport& report);

// A base that is on the device as a whole.
template <class F>
class ResidentBase final : public BaseSource<F> {
 public:
  explicit ResidentBase(const PointStore<F>& store) : store_(store) {}

  const unsigned long long* longest() const override { return store_.longest(); }
  void for_each_tile(std::int64_t most, const std::function<void(const BaseTile<F>&)>& use) override {
    for (std::int64_t first = 0; first < store_.count(); first += most)
      use({&store_, first, std::min(most, store_.count() - first), first});
  }

 private:
  const PointStore<F>& store_;
};

}  // namespace kith::KITH_BACKEND
