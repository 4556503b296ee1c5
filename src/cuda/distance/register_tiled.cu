// register_tiled.cu: a matrix of scores for many queries (register_tiled.cuh has the idea; Hanák, 3.3 and 5.2).
// Cost    that of register_tiled.cuh. Below about 30 dimensions storing the scores, 4 bytes a pair in float, takes
// longer
//         than computing them.
// Limits  none; scores of full tiles whose rows lie at multiples of 16 bytes are stored 16 bytes at a time.
#include "cuda/distance/panels.hpp"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::distance {

namespace {

__device__ __forceinline__ float4 pack(const float (&values)[4]) {
  return make_float4(values[0], values[1], values[2], values[3]);
}

__device__ __forceinline__ double2 pack(const double (&values)[2]) {
  return make_double2(values[0], values[1]);
}

template <class F>
struct ScoreRows {
  F* data;
  std::int64_t stride;
  bool in_vectors;  // all rows start at multiples of 16 bytes
};

// Stores the scores of a tile.
template <class F>
struct StoreTile {
  using Shape = TileShape<F>;

  const ScoreRows<F>& scores;
  const TileWork<F>& work;

  __device__ __forceinline__ void operator()(const ThreadPairs<F>& pairs, unsigned tile,
                                             const TileScores<F>& values) const {
    const std::int64_t row = work.first_query() + pairs.first_row;
    const std::int64_t column = work.first_point() + std::int64_t{tile} * Shape::kPoints + pairs.first_column;
    const bool full = work.first_query() + Shape::kPoints <= work.queries.count &&
                      work.first_point() + (std::int64_t{tile} + 1) * Shape::kPoints <= work.base.count;
    if (full && scores.in_vectors)
      store<true>(row, column, values);
    else
      store<false>(row, column, values);
  }

 private:
  // Stores the scores from the thread's first pair on. kFull: all pairs exist, and scores lie at multiples of 16 bytes.
  template <bool kFull>
  __device__ __forceinline__ void store(std::int64_t first_row, std::int64_t first_column,
                                        const TileScores<F>& values) const {
    using Pairs = ThreadPairs<F>;
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kRows; ++i) {
      const std::int64_t row = first_row + i / Shape::kPiece * Pairs::kRowsApart + i % Shape::kPiece;
      if (!kFull && row >= work.queries.count) return;
      F* const to = scores.data + row * scores.stride + first_column;
      KITH_UNROLL
      for (unsigned j = 0; j < Shape::kColumns; j += Shape::kPiece) {
        const unsigned offset = j / Shape::kPiece * Pairs::kColumnsApart;
        F piece[Shape::kPiece];
        KITH_UNROLL
        for (unsigned v = 0; v < Shape::kPiece; ++v) piece[v] = values[i][j + v];
        if constexpr (kFull) {
          *reinterpret_cast<typename VectorOf<F>::Type*>(to + offset) = pack(piece);
        } else {
          KITH_UNROLL
          for (unsigned v = 0; v < Shape::kPiece; ++v)
            if (first_column + offset + v < work.base.count) to[offset + v] = piece[v];
        }
      }
    }
  }
};

template <class F, class Form>
__global__ void __launch_bounds__(TileShape<F>::kThreads, TileShape<F>::kBlocks)
    register_tiled_kernel(TileWork<F> work, Form form, ScoreRows<F> scores) {
  compute_tiles(work, form, StoreTile<F>{scores, work});
}

}  // namespace

template <class F>
void register_tiled_scores(const ScoreCall<F>& call) {
  if (call.queries.count == 0 || call.base.count == 0) return;
  const bool in_vectors = reinterpret_cast<std::uintptr_t>(call.scores) % 16 == 0 &&
                          call.score_stride % static_cast<std::int64_t>(TileShape<F>::kPiece) == 0;
  with_form<F>(call.form, call.expanded(), call.p, [&]<class Form>(const Form& form) {
    for_each_part(
        call.queries, call.base, call.dims, call.bias, call.workspace,
        [&](const TileWork<F>& work, std::int64_t first) {
          launch("register_tiled_scores", register_tiled_kernel<F, Form>,
                 {.blocks = work.blocks(), .threads = TileShape<F>::kThreads, .shared_bytes = work.shared_bytes()},
                 call.stream(), work, form, ScoreRows<F>{call.scores + first, call.score_stride, in_vectors});
        });
  });
}

template void register_tiled_scores(const ScoreCall<float>&);
template void register_tiled_scores(const ScoreCall<double>&);

}  // namespace kith::KITH_BACKEND::distance
