// filter.cu: scores that are not above their query's limit, and no others (register_tiled.cuh computes them, and
// filter_tile.cuh looks at them).
// Cost    estimated, in float, expanded, for a thread and a tile: beside what register_tiled.cuh says, 128 operations
// to
//         finish scores and 128 comparisons. At d = 16 about 2800 instructions, 0.73 of them the product's; at d = 32
//         about 5000, 0.82. The other forms need two operations a coordinate and finish nothing.
// Limits  room and ids below 2^32.
#include "cuda/fused/filter.hpp"

#include "cuda/distance/panels.hpp"
#include "cuda/fused/filter_tile.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND {

namespace {

template <class F, class Form>
__global__ void __launch_bounds__(TileShape<F>::kThreads, TileShape<F>::kBlocks)
    fused_filter_kernel(TileWork<F> work, Form form, CandidateLists<F> lists) {
  using Vector = typename VectorOf<F>::Type;
  using Filter = FilterTile<F, TileShape<F>, true>;
  KITH_SHARED(Vector, limits, TileShape<F>::kPoints / TileShape<F>::kPiece);
  KITH_SHARED(Passed<F>, buffer, Filter::kRoom);
  KITH_SHARED(unsigned, buffered, 1);
  const Filter filter{lists,
                      {work.first_query(), work.first_point(), work.queries.count, work.base.count},
                      reinterpret_cast<F*>(limits),
                      buffer,
                      buffered};
  filter.begin();
  compute_tiles(work, form, filter);
  filter.empty();
}

}  // namespace

template <class F>
void fused_filter(const FilterCall<F>& call) {
  if (call.queries.count == 0 || call.base.count == 0) return;
  with_form<F>(call.form, call.addends != nullptr, call.p, [&]<class Form>(const Form& form) {
    for_each_part(
        call.queries, call.base, call.dims, call.addends, call.workspace,
        [&](const TileWork<F>& work, std::int64_t first) {
          CandidateLists<F> lists = call.lists;
          lists.first_id += static_cast<unsigned>(first);
          launch("fused_filter", fused_filter_kernel<F, Form>,
                 {.blocks = work.blocks(), .threads = TileShape<F>::kThreads, .shared_bytes = work.shared_bytes()},
                 call.workspace.stream(), work, form, lists);
        });
  });
}

template void fused_filter(const FilterCall<float>&);
template void fused_filter(const FilterCall<double>&);

}  // namespace kith::KITH_BACKEND
