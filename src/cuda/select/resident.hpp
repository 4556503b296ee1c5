// resident.hpp: the number of blocks or warps to launch for methods whose scratch memory grows with the row.
// Each takes row after row, so scratch is needed for the resident groups, not for all rows.
#pragma once

#include <algorithm>

#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::select {

struct ResidentTuning {
  std::int64_t groups = 4096;                // more blocks than any device runs at once
  std::size_t bytes = std::size_t{4} << 30;  // of scratch if there is no budget
};

// The number of groups for `rows` rows that need `bytes_each` bytes of scratch: at least one, and so few that they use
// at most half of the budget's remainder.
inline std::int64_t resident_groups(const Workspace& workspace, std::int64_t rows, std::size_t bytes_each,
                                    const ResidentTuning& tuning = {}) {
  std::size_t bytes = tuning.bytes;
  if (workspace.budget() > 0) bytes = std::min(bytes, (workspace.budget() - workspace.used()) / 2);
  const auto affordable = static_cast<std::int64_t>(bytes / std::max<std::size_t>(bytes_each, 1));
  return std::min(rows, std::clamp<std::int64_t>(affordable, 1, tuning.groups));
}

}  // namespace kith::KITH_BACKEND::select
