// stages.cpp: the distance stages alone, on a tile of the distance matrix. Everything they need lies ready: points, and
// their norms where scores come from products. Without cuBLASLt there is no gemm.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/key.hpp"
#include "cuda/distance/fused_filter.hpp"
#include "cuda/distance/scores.hpp"
#include "cuda/primitives/matrix_multiply.hpp"
#include "device/search/problem.hpp"

namespace kith::bench::device::search {
namespace {

using core::Form;

struct Tile {
  std::int64_t queries = 0;
  std::int64_t points = 0;
  std::int64_t dims = 0;

  double pairs() const { return static_cast<double>(queries) * static_cast<double>(points); }
};

struct Kind {
  const char* name;
  void (*run)(const cuda::distance::ScoreCall<float>&);
  Form form;
  bool expanded;
};

// No score is stored: NaN is a limit that nothing passes, and the memory of the scores has some.
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

struct Stage {
  std::string name;
  Form form;
  std::function<void()> run;  // fills the tile with scores, enqueued on the stream
};

// Memory is freed with the last of them.
std::vector<Stage> all_stages(const Tile& tile, cudaStream_t stream) {
  std::vector<Stage> stages;
  const auto buffers = std::make_shared<Buffers>(tile, stream);
  for (const Kind& kind : kKinds)
    if (kind.run != &cuda::distance::gemm_scores<float> || cuda::can_multiply())
      stages.push_back({kind.name, kind.form, [&kind, tile, buffers] { run(kind, tile, *buffers); }});
  return stages;
}

// Stages that compute squared distances, in turns.
std::vector<Row> measure(const Tile& tile, Harness& harness) {
  std::vector<Contender> contenders;
  for (Stage& stage : all_stages(tile, harness.stream())) {
    if (stage.form != Form::squared) continue;
    Contender contender;
    contender.row.problem = fmt::format("{} × {} × {}", tile.queries, tile.points, tile.dims);
    contender.row.contender = stage.name;
    contender.row.facts = {{"queries", tile.queries}, {"base_rows", tile.points}, {"dims", tile.dims}};
    contender.run = std::move(stage.run);
    contenders.push_back(std::move(contender));
  }
  std::vector<Row> rows = harness.race(std::move(contenders));
  for (Row& row : rows)
    if (row.timed()) row.facts["g_distances_per_s"] = tile.pairs() / row.median_ms() * 1e-6;
  return rows;
}

}  // namespace

Case stage_case(const std::string& figure, std::int64_t queries, std::int64_t points, std::int64_t dims,
                const Settings& settings) {
  Tile tile{queries, points, dims};
  if (settings.quick) tile = {std::min<std::int64_t>(queries, 20), std::min<std::int64_t>(points, 600), dims};
  return {figure, fmt::format("{} × {} × {}", tile.queries, tile.points, tile.dims), "distance stages",
          [=](Harness& harness) { return measure(tile, harness); }};
}

std::vector<Ceiling> search_ceilings(bool quick, const cuda::Stream& stream) {
  const Tile tile = quick ? Tile{16, 256, 128} : Tile{8192, 65536, 128};
  std::vector<Ceiling> ceilings = device_ceilings(quick, stream);
  for (Stage& stage : all_stages(tile, stream))
    ceilings.push_back({std::move(stage.name), "TFMA/s", tile.pairs() * static_cast<double>(tile.dims) * 1e-12,
                        std::move(stage.run), true});
  return ceilings;
}

}  // namespace kith::bench::device::search
