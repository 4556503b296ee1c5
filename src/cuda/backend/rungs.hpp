// rungs.hpp: from a plan to the work of a search on a device, and from there to its report.
#pragma once

#include <algorithm>

#include "cuda/search/brute_search.hpp"
#include "kith/search.hpp"

namespace kith::KITH_BACKEND {

// `span` as core::ScoreBounds has it.
BruteWork work_of(const Plan& plan, double span);

// Adds what was done on each rung.
void add_steps(const BruteWork& work, const std::vector<RungReport>& done, SearchReport& report);

// A few queries, spread over all, by which the others are judged.
template <class T>
MatrixView<T> some_rows(const MatrixView<T>& queries) {
  constexpr std::int64_t kSome = 64;
  const std::int64_t step = std::max<std::int64_t>(1, queries.rows / kSome);
  return {queries.data, queries.rows / step, queries.cols, queries.row_stride * step, queries.col_stride};
}

// A base that is on the device as a whole.
template <class F>
class ResidentBase final : public BaseSource<F> {
 public:
  ResidentBase(const PointStore<F>& store, KeptHalfs& kept, RungMemory& memory)
      : store_(store), kept_(kept), memory_(memory) {}

  const unsigned long long* longest() const override { return store_.longest(); }
  void for_each_tile(std::int64_t most, const std::function<void(const BaseTile<F>&)>& use) override {
    for (std::int64_t first = 0; first < store_.count(); first += most) use(tile(first, most));
  }
  void for_first_tile(std::int64_t most, const std::function<void(const BaseTile<F>&)>& use) override {
    use(tile(0, most));
  }
  const HalfFrame& half_frame() override {
    halfs_ = &kept_.get(as_floats(store_.working(0, store_.count())), store_.dims(), store_.addends(0) != nullptr);
    return halfs_->frame;
  }
  const HalfLongest* longest_halfs() const override { return halfs_ == nullptr ? nullptr : halfs_->store.longest(); }
  RungMemory& memory() override { return memory_; }

 private:
  BaseTile<F> tile(std::int64_t first, std::int64_t most) const {
    return {&store_, first, std::min(most, store_.count() - first), first,
            halfs_ == nullptr ? nullptr : &halfs_->store};
  }

  const PointStore<F>& store_;
  KeptHalfs& kept_;
  RungMemory& memory_;
  const HalfBase* halfs_ = nullptr;
};

}  // namespace kith::KITH_BACKEND
