// passes.cpp: the fused pass over all pairs in fp16 alone, as chips with wgmma have it and as all others do, side by
// side: one device shows what either reaches. Limits let through what those of a search for a few neighbors do.
#include <fmt/format.h>

#include <limits>
#include <memory>

#include "cuda/distance/fused_filter.hpp"
#include "cuda/points/fp16_store.hpp"
#include "cuda/select/select.hpp"
#include "cuda/tensor/tensor_rows.hpp"
#include "device/search/problem.hpp"

namespace kith::bench::device::search {
namespace {

struct PassShape {
  std::int64_t queries = 0;
  std::int64_t points = 0;
  std::int64_t dims = 0;
  std::int64_t samples = 8192;  // of the points, by which limits are found
  std::int64_t rank = 2;        // of the sample that is the limit

  double pairs() const { return static_cast<double>(queries) * static_cast<double>(points); }
  double expected() const {  // that pass the limit of a query
    return static_cast<double>(rank) * static_cast<double>(points) / static_cast<double>(samples);
  }
};

// Points in fp16, limits, and room for what passes them.
class PassProblem {
 public:
  PassProblem(const PassShape& shape, cudaStream_t stream)
      : shape_(shape),
        stream_(stream),
        capacity_(static_cast<unsigned>(8 * shape.expected()) + 64),
        queries_(shape.queries, shape.dims, true, stream),
        limits_(static_cast<std::size_t>(shape.queries), stream),
        scores_(static_cast<std::size_t>(shape.queries) * capacity_, stream),
        ids_(static_cast<std::size_t>(shape.queries) * capacity_, stream),
        counts_(static_cast<std::size_t>(shape.queries), stream) {
    const Points queries(shape.queries, shape.dims, Data::gaussian, 2, stream);
    const Points points(shape.points, shape.dims, Data::gaussian, 1, stream);
    const auto rows = [&](const Points& from) {
      return cuda::PointRows<float>{from.view().data, from.rows(), shape.dims};
    };
    base_ = std::make_unique<cuda::Fp16Base>(rows(points), shape.dims, true, stream);
    queries_.round(rows(queries), base_->frame);
    find_limits();
  }

  void clear() { KITH_CUDA(cudaMemsetAsync(counts_.data(), 0, counts_.size() * sizeof(unsigned), stream_)); }
  void run_portable() { cuda::distance::fp16_filter({queries(), points(), base_->store.bias(0), lists(), stream_}); }
  void run_wgmma() {
    cuda::tensor::tensor_filter(
        {cuda::tensor::fp16_product(queries(), points(), base_->store.bias(0)), lists(), {}, stream_});
  }

  // Of a query, in the mean. Waits for the stream.
  double passed() const {
    std::vector<unsigned> counts(counts_.size());
    KITH_CUDA(cudaMemcpyAsync(counts.data(), counts_.data(), counts.size() * sizeof(unsigned), cudaMemcpyDeviceToHost,
                              stream_));
    KITH_CUDA(cudaStreamSynchronize(stream_));
    double sum = 0;
    for (const unsigned count : counts) sum += count;
    return sum / static_cast<double>(counts.size());
  }

 private:
  cuda::Fp16Rows queries() const { return queries_.rows(0, shape_.queries); }
  cuda::Fp16Rows points() const { return base_->store.rows(0, shape_.points); }
  cuda::distance::CandidateLists<float> lists() {
    return {.limits = limits_.data(),
            .capacity = capacity_,
            .scores = scores_.data(),
            .ids = ids_.data(),
            .first_id = 0,
            .counts = counts_.data()};
  }

  // A pass over the sample that lets everything through has all its scores. Points are independent of each other: the
  // first are as good a sample as any.
  void find_limits() {
    namespace select = cuda::select;
    const std::vector<float> none(limits_.size(), std::numeric_limits<float>::infinity());
    KITH_CUDA(
        cudaMemcpyAsync(limits_.data(), none.data(), none.size() * sizeof(float), cudaMemcpyHostToDevice, stream_));
    clear();
    cuda::distance::CandidateLists<float> all = lists();
    const auto size = static_cast<std::size_t>(shape_.queries * shape_.samples);
    cuda::DeviceBuffer<float> scores(size, stream_);
    cuda::DeviceBuffer<unsigned> ids(size, stream_);
    all.capacity = static_cast<unsigned>(shape_.samples);
    all.scores = scores.data();
    all.ids = ids.data();
    cuda::distance::fp16_filter({queries(), base_->store.rows(0, shape_.samples), base_->store.bias(0), all, stream_});
    select::Rows<float> rows;
    rows.values = scores.data();
    rows.rows = shape_.queries;
    rows.length = all.capacity;
    rows.stride = shape_.samples;
    const select::Output<float> output{limits_.data(), nullptr, static_cast<unsigned>(shape_.rank),
                                       TopkOutput::kth_only, rows};
    const SelectTuning tuning;
    cuda::Workspace workspace(stream_);
    select::select_rows(select::SelectCall<float>{rows, output, tuning, workspace}, SelectMethod::radix_select);
    KITH_CUDA(cudaStreamSynchronize(stream_));
  }

  PassShape shape_;
  cudaStream_t stream_;
  unsigned capacity_;
  cuda::Fp16Store queries_;
  std::unique_ptr<cuda::Fp16Base> base_;
  cuda::DeviceBuffer<float> limits_;
  cuda::DeviceBuffer<float> scores_;
  cuda::DeviceBuffer<unsigned> ids_;
  cuda::DeviceBuffer<unsigned> counts_;
};

std::string shape_text(const PassShape& shape) {
  return fmt::format("{} × {} × {}", shape.queries, shape.points, shape.dims);
}

std::vector<Row> measure_passes(const PassShape& shape, Harness& harness) {
  PassProblem problem(shape, harness.stream());
  std::vector<Contender> contenders;
  const auto add = [&](const char* name, void (PassProblem::*run)()) {
    Contender contender;
    contender.row.problem = shape_text(shape);
    contender.row.contender = name;
    contender.row.facts = {{"queries", shape.queries}, {"base_rows", shape.points}, {"dims", shape.dims}};
    contender.prepare = [&problem] { problem.clear(); };
    contender.run = [&problem, run] { (problem.*run)(); };
    contender.check = [&problem, &shape](bool /*first*/) -> std::string {
      const double passed = problem.passed();
      if (passed > shape.expected() / 2 && passed < shape.expected() * 2) return {};
      return fmt::format("{:.1f} points pass the limit of a query, where {:.1f} should", passed, shape.expected());
    };
    contenders.push_back(std::move(contender));
  };
  add("portable fp16", &PassProblem::run_portable);
  if (cuda::tensor::has_tensor_filter(cuda::tensor::Element::fp16, shape.dims))
    add("sm_90 fp16", &PassProblem::run_wgmma);
  std::vector<Row> rows = harness.race(std::move(contenders));
  for (Row& row : rows) {
    if (!row.timed()) continue;
    const double rate = shape.pairs() * static_cast<double>(shape.dims) / row.median_ms() * 1e-9;
    row.facts["tfma_per_s"] = rate;
    row.note = fmt::format("{:.0f} TFMA/s", rate);
  }
  return rows;
}

}  // namespace

Suite passes_suite(const Settings& settings) {
  Suite suite{"search/passes", "the fused pass in fp16 alone, with wgmma and without", "", {}, device_ceilings, {}};
  for (const std::int64_t dims : {16, 32, 64, 128, 256, 768}) {
    const PassShape shape = settings.quick ? PassShape{20, 600, dims, 160, 4} : PassShape{10000, 1000000, dims};
    suite.cases.push_back({fmt::format("d{}", dims), shape_text(shape), "portable fp16, sm_90 fp16",
                           [=](Harness& harness) { return measure_passes(shape, harness); }});
  }
  return suite;
}

}  // namespace kith::bench::device::search
