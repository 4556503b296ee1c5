// register_tiled.cu: all scores of many queries (register_tiled.cuh has the idea, Hanák, 3.3 and 5.2).
// Cost    register_tiled.cuh estimates the instructions. Below some 30 dimensions storing the scores, 4 bytes a pair in
//         float, takes longer than computing them.
// Limits  none; scores of rows that lie at multiples of 16 bytes are stored 16 bytes at a time.
#include "cuda/distance/register_tiled.cuh"

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND {

namespace {

__device__ __forceinline__ float4 pack(const float (&values)[4]) {
  return make_float4(values[0], values[1], values[2], values[3]);
}

__device__ __forceinline__ double2 pack(const double (&values)[2]) {
  return make_double2(values[0], values[1]);
}

template <class F>
struct ScoreRows {
  using Shape = TileShape<F>;

  F* data;
  std::int64_t stride;
  bool in_vectors;  // all rows start at multiples of 16 bytes
  std::int64_t rows;
  std::int64_t columns;

  __device__ __forceinline__ void operator()(const ThreadPairs<F>& pairs, std::int64_t first_row,
                                             std::int64_t first_column,
                                             const F (&scores)[Shape::kSide][Shape::kSide]) const {
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kSide; ++i) {
      const std::int64_t row = first_row + pairs.row(i);
      if (row >= rows) continue;
      KITH_UNROLL
      for (unsigned j = 0; j < Shape::kSide; j += Shape::kPiece) {
        F piece[Shape::kPiece];
        KITH_UNROLL
        for (unsigned v = 0; v < Shape::kPiece; ++v) piece[v] = scores[i][j + v];
        store(row, first_column + pairs.column(j), piece);
      }
    }
  }

 private:
  __device__ __forceinline__ void store(std::int64_t row, std::int64_t column, const F (&piece)[Shape::kPiece]) const {
    F* const to = data + row * stride + column;
    if (in_vectors && column + Shape::kPiece <= columns) {
      *reinterpret_cast<typename VectorOf<F>::Type*>(to) = pack(piece);
      return;
    }
    KITH_UNROLL
    for (unsigned v = 0; v < Shape::kPiece; ++v)
      if (column + v < columns) to[v] = piece[v];
  }
};

template <class F, class Form>
__global__ void __launch_bounds__(TileShape<F>::kThreads, TileShape<F>::kBlocks)
    register_tiled_kernel(TileWork<F> work, Form form, ScoreRows<F> scores) {
  compute_tiles(work, form, scores);
}

}  // namespace

template <class F>
void register_tiled_scores(const ScoreCall<F>& call) {
  if (call.queries.count == 0 || call.base.count == 0) return;
  const TileWork<F> work = plan_tiles(call.queries, call.base, call.dims, call.addends);
  const bool in_vectors = reinterpret_cast<std::uintptr_t>(call.scores) % 16 == 0 &&
                          call.score_stride % static_cast<std::int64_t>(TileShape<F>::kPiece) == 0;
  const ScoreRows<F> scores{call.scores, call.score_stride, in_vectors, call.queries.count, call.base.count};
  with_form<F>(call.form, call.expanded(), call.p, [&]<class Form>(const Form& form) {
    launch("register_tiled_scores", register_tiled_kernel<F, Form>,
           {.blocks = work.blocks(), .threads = TileShape<F>::kThreads, .shared_bytes = work.shared_bytes()},
           call.stream(), work, form, scores);
  });
}

template void register_tiled_scores(const ScoreCall<float>&);
template void register_tiled_scores(const ScoreCall<double>&);

}  // namespace kith::KITH_BACKEND
