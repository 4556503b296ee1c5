// products.hpp: when distances may come from products.
#pragma once

#include <cstdint>

#include "core/key.hpp"

namespace kith::plan {

// With fewer dimensions the norm, one more coordinate, costs more than the subtractions it saves.
inline constexpr std::int64_t kExpandFrom = 8;

// From so many queries on, more than half failing a pass is evidence against it.
inline constexpr std::int64_t kJudgedQueries = 32;

inline bool can_multiply(core::Form form) {
  return form == core::Form::squared || form == core::Form::dot;
}

}  // namespace kith::plan
