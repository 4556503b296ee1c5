// fused_filter_kernel.cuh: the kernel of fused_filter.hpp and its launch, a template over the kind of lists: one kernel
// that chose the list at run time made searches of few dimensions slower by a tenth and more.
#pragma once

#include "cuda/distance/fused_filter_tile.cuh"
#include "cuda/distance/panels.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/least_shared.hpp"

namespace kith::KITH_BACKEND::distance {

template <class F, class Form, class Lists>
__global__ void __launch_bounds__(TileShape<F>::kThreads, TileShape<F>::kBlocks)
    fused_filter_kernel(TileWork<F> work, Form form, Lists lists) {
  using Vector = typename VectorOf<F>::Type;
  using Filter = FilterTile<F, TileShape<F>, Lists>;
  KITH_SHARED(Vector, limits, TileShape<F>::kPoints / TileShape<F>::kPiece);
  KITH_SHARED(PassedPair<F>, buffer, Filter::kCapacity);
  KITH_SHARED(unsigned, buffered, 1);
  static_assert(TileShape<F>::kMaxBytes + TileShape<F>::kPoints * sizeof(F) +
                    Filter::kCapacity * sizeof(PassedPair<F>) + sizeof(unsigned) <=
                kLeastShared);
  const Filter filter{lists,
                      {work.first_query(), work.first_point(), work.queries.count, work.base.count},
                      reinterpret_cast<F*>(limits),
                      buffer,
                      buffered};
  filter.begin();
  compute_tiles(work, form, filter);
  filter.flush();
}

template <class F, class Lists>
void fused_filter(const FilterCall<F, Lists>& call) {
  if (call.queries.count == 0 || call.base.count == 0) return;
  with_form<F>(call.form, call.bias != nullptr, call.p, [&]<class Form>(const Form& form) {
    for_each_part(
        call.queries, call.base, call.dims, call.bias, call.workspace,
        [&](const TileWork<F>& work, std::int64_t first) {
          Lists lists = call.lists;
          lists.first_id += static_cast<unsigned>(first);
          launch("fused_filter", fused_filter_kernel<F, Form, Lists>,
                 {.blocks = work.blocks(), .threads = TileShape<F>::kThreads, .shared_bytes = work.shared_bytes()},
                 call.workspace.stream(), work, form, lists);
        });
  });
}

}  // namespace kith::KITH_BACKEND::distance
