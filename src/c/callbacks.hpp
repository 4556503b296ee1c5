// callbacks.hpp: distances that the caller's functions compute, and how these end a call.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "kith.h"
#include "kith/error.hpp"
#include "kith/pair_metric.hpp"
#include "kith/pivots.hpp"

namespace kith::c {

// What a callback returns other than KITH_CONTINUE ends the call.
inline void check_answer(std::int32_t answer, const char* callback) {
  if (answer != KITH_CONTINUE)
    throw Error(ErrorCode::cancelled, fmt::format("{} returned {}, which ends the call", callback, answer));
}

// A function of two rows. `threads`: those that may call it at once, 0 for any number.
class CallbackMetric final : public PairMetric {
 public:
  CallbackMetric(kith_pair_distance function, void* user, int threads)
      : function_(function), user_(user), threads_(threads) {}

  std::string name() const override { return "a C function"; }
  Input input() const override { return Input::rows; }
  int most_threads() const override { return threads_ > 0 ? threads_ : PairMetric::most_threads(); }
  using PairMetric::fill;
  void fill(const RowTile& tile) const override;

 private:
  kith_pair_distance function_;
  void* user_;
  int threads_;
};

// Objects of the caller's.
class CallbackSource final : public PairSource {
 public:
  // Throws Error(invalid_argument) where the description or its distance is null.
  CallbackSource(const kith_objects* objects, const char* role);

  std::int64_t count() const { return objects_.count; }

  double distance(std::int64_t query, std::int64_t object, double bound) const override;
  bool has_lower_bounds() const override { return objects_.lower_bounds != nullptr; }
  void lower_bounds(std::int64_t query, std::int64_t first, std::int64_t count, double* out) const override;

 private:
  kith_objects objects_;
};

}  // namespace kith::c
