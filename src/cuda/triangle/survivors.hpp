// survivors.hpp: level 2 with a reach that stays (Chen et al.: partial filtering): what lies within it is stored, and
// selected from afterwards. No list has to be kept meanwhile, so k has no limit.
#pragma once

#include <functional>
#include <string>

#include "cuda/triangle/level2.hpp"

namespace kith::KITH_BACKEND::triangle {

// A row of `room` places for each query, in the order of their positions.
template <class F>
struct Survivors {
  unsigned* counts = nullptr;  // of a query; may be above the room, and nothing is then written behind it
  F* keys = nullptr;           // null: they are only counted
  unsigned* ids = nullptr;
  std::int64_t room = 0;
};

// Rows end with places of these numbers and on, which no point has, and of NaN, which comes last.
constexpr unsigned kPaddingId = 0x80000000U;

// The k best of each row, which are there in any case, to where their query belongs.
template <class F>
void select_survivors(const Level2<F>& work, const Survivors<F>& survivors, const std::string& select,
                      Workspace& workspace);

// Enqueues the work and leaves the survivors of its queries.
template <class F>
using StoreSurvivors = std::function<void(const Level2<F>&, const Survivors<F>&)>;

// Twice: once to count, then to store, as many queries at a time as the budget of bytes has room for (0: no limit).
// Waits for the stream in between. `select` is a selection method.
template <class F>
void search_survivors(const Level2<F>& work, const StoreSurvivors<F>& store, const std::string& select,
                      std::size_t budget, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
