#include "search_device/stages.hpp"

#include <memory>

#include "cuda/distance/fused_filter.hpp"
#include "cuda/distance/scores.hpp"
#include "cuda/primitives/matrix_multiply.hpp"
#include "search_device/points.hpp"

namespace kith::search_bench {
namespace {

using core::Form;

struct Kind {
  const char* name;
  void (*run)(const cuda::distance::ScoreCall<float>&);
  Form form;
  bool expanded;
};

// No score is stored: NaN is a limit that nothing passes, and the place of the scores has some.
void fused_products(const cuda::distance::ScoreCall<float>& call) {
  KITH_CUDA(cudaMemsetAsync(call.scores, 0xFF, static_cast<std::size_t>(call.queries.count) * sizeof(float),
                            call.workspace.stream()));
  cuda::distance::CandidateLists<float> lists;
  lists.limits = call.scores;
  cuda::distance::fused_filter(cuda::distance::FilterCall<float>{call.queries, call.base, call.dims, call.form, call.p,
                                                                 call.bias, lists, call.workspace});
}

constexpr Kind kKinds[] = {
    {"direct, squares", cuda::distance::direct_scores<float>, Form::squared, false},
    {"tiled, squares", cuda::distance::tiled_scores<float>, Form::squared, false},
    {"register-tiled, squares", cuda::distance::register_tiled_scores<float>, Form::squared, false},
    {"register-tiled, products", cuda::distance::register_tiled_scores<float>, Form::squared, true},
    {"register-tiled, products, none stored", fused_products, Form::squared, true},
    {"register-tiled, manhattan", cuda::distance::register_tiled_scores<float>, Form::absolute, false},
    {"gemm, products", cuda::distance::gemm_scores<float>, Form::squared, true}};

struct Buffers {
  Buffers(const Tile& tile, cudaStream_t stream)
      : queries(static_cast<std::size_t>(tile.queries * tile.dims), stream),
        points(static_cast<std::size_t>(tile.points * tile.dims), stream),
        bias(static_cast<std::size_t>(tile.points), stream),
        scores(static_cast<std::size_t>(tile.queries * tile.points), stream),
        workspace(stream) {
    for (cuda::DeviceBuffer<float>* buffer : {&queries, &points, &bias})
      fill_gaussian(buffer->data(), buffer->size(), stream);
  }

  cuda::DeviceBuffer<float> queries;
  cuda::DeviceBuffer<float> points;
  cuda::DeviceBuffer<float> bias;
  cuda::DeviceBuffer<float> scores;
  cuda::Workspace workspace;
};

void run(const Kind& kind, const Tile& tile, Buffers& buffers) {
  buffers.workspace.reset();
  kind.run({{buffers.queries.data(), tile.queries, tile.dims},
            {buffers.points.data(), tile.points, tile.dims},
            tile.dims,
            kind.form,
            2,
            kind.expanded ? buffers.bias.data() : nullptr,
            buffers.scores.data(),
            tile.points,
            buffers.workspace});
}

}  // namespace

std::string describe(const Tile& tile) {
  return std::to_string(tile.queries) + " × " + std::to_string(tile.points) + " × " + std::to_string(tile.dims);
}

std::vector<Stage> all_stages(const Tile& tile, cudaStream_t stream) {
  std::vector<Stage> stages;
  const auto buffers = std::make_shared<Buffers>(tile, stream);
  for (const Kind& kind : kKinds)
    if (kind.run != &cuda::distance::gemm_scores<float> || cuda::can_multiply())
      stages.push_back({kind.name, kind.form, [&kind, tile, buffers] { run(kind, tile, *buffers); }});
  return stages;
}

}  // namespace kith::search_bench
