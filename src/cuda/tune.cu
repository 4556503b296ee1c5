// Measures what the steps of a plan cost on the current device. A cost that grows with the dimensions is the difference
// of two times, so that starting kernels and storing scores, which cost the same in both, fall out.
#include <algorithm>
#include <functional>
#include <vector>

#include "cuda/distance/exact_keys.hpp"
#include "cuda/distance/fused_filter.hpp"
#include "cuda/distance/scores.hpp"
#include "cuda/functions.hpp"
#include "cuda/points/fp16_store.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/tensor/tensor_rows.hpp"

namespace kith::KITH_BACKEND {
namespace {

using backend::MeasuredCost;
using backend::TuneSize;

constexpr unsigned kThreads = 256;

__device__ float random_value(std::int64_t place) {
  auto bits = static_cast<unsigned>(place) * 2654435761U;
  bits = (bits ^ (bits >> 15)) * 2246822519U;
  return static_cast<float>(bits >> 8) * 0x1p-23F - 1.0F;
}

__global__ void fill_kernel(float* values, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step)
    values[i] = random_value(i);
}

DeviceBuffer<float> random_values(std::int64_t count, cudaStream_t stream) {
  DeviceBuffer<float> values(static_cast<std::size_t>(count), stream);
  const std::int64_t blocks =
      std::min<std::int64_t>(ceil_div(count, kThreads),
                             multiprocessor_count() * device_policy().hardware.threads_per_multiprocessor / kThreads);
  launch("tune_fill", fill_kernel, {.blocks = blocks, .threads = kThreads}, stream, values.data(), count);
  return values;
}

class Tuner {
 public:
  explicit Tuner(const TuneSize& size)
      : size_(size),
        queries_(random_values(size.queries * size.many_dims, stream_)),
        points_(random_values(std::max(size.points * size.many_dims, size.read_values), stream_)),
        scores_(static_cast<std::size_t>(std::max(size.queries * size.points, size.read_values / size.few_dims)),
                stream_),
        workspace_(stream_) {}

  std::vector<MeasuredCost> measure() {
    std::vector<MeasuredCost> costs;
    const double pairs = static_cast<double>(size_.queries) * static_cast<double>(size_.points);
    if (can_multiply()) {
      costs.push_back(
          {"multiply", of_dims(pairs, [this](auto dims) { run(distance::gemm_scores<float>, dims, true); })});
      costs.push_back({"multiply_fp16", fp16_cost(pairs)});
    }
    measure_fused_fp16(pairs, costs);
    costs.push_back({"register_tiled",
                     of_dims(pairs, [this](auto dims) { run(distance::register_tiled_scores<float>, dims, true); })});
    costs.push_back({"tiled", of_dims(pairs, [this](auto dims) { run(distance::tiled_scores<float>, dims, false); })});
    costs.push_back(
        {"direct", of_dims(pairs, [this](auto dims) { run(distance::direct_scores<float>, dims, false); })});
    costs.push_back({"exact", keys_cost()});
    costs.push_back({"read", read_cost()});
    costs.push_back({"start", start_cost()});
    return costs;
  }

 private:
  using Scores = void (*)(const distance::ScoreCall<float>&);

  // The median of some runs, after one that is not timed.
  double seconds(const std::function<void()>& work) {
    work();
    std::vector<double> samples;
    for (int round = 0; round < size_.rounds; ++round) {
      before_.record(stream_);
      work();
      after_.record(stream_);
      after_.synchronize();
      samples.push_back(static_cast<double>(after_.since(before_)) * 1e-3);
    }
    std::nth_element(samples.begin(), samples.begin() + size_.rounds / 2, samples.end());
    return samples[static_cast<std::size_t>(size_.rounds / 2)];
  }

  // Of a unit, from times of few and of many. Where noise is all there is, the start counts as work.
  static double difference(double few_seconds, double few, double many_seconds, double many) {
    const double cost = (many_seconds - few_seconds) / (many - few);
    return cost > 0 ? cost : many_seconds / many;
  }

  double of_dims(double steps, const std::function<void(std::int64_t dims)>& work) {
    const double few = seconds([&] { work(size_.few_dims); });
    const double many = seconds([&] { work(size_.many_dims); });
    return difference(few, steps * static_cast<double>(size_.few_dims), many,
                      steps * static_cast<double>(size_.many_dims));
  }

  void run(Scores stage, std::int64_t dims, bool expanded) {
    score(stage, {queries_.data(), size_.queries, dims}, {points_.data(), size_.points, dims}, dims, expanded);
  }

  // Any values will do for bias.
  void score(Scores stage, const PointRows<float>& queries, const PointRows<float>& base, std::int64_t dims,
             bool expanded) {
    workspace_.reset();
    stage({queries, base, dims, core::Form::squared, 2, expanded ? points_.data() : nullptr, scores_.data(), base.count,
           workspace_});
  }

  // Of work(queries, base) on fp16 of so many dimensions.
  template <class Work>
  double fp16_seconds(std::int64_t dims, const Work& work) {
    const PointRows<float> points{points_.data(), size_.points, dims};
    const Fp16Frame frame = make_fp16_frame(points, dims, true, stream_);
    Fp16Store queries(size_.queries, dims, true, stream_);
    Fp16Store base(size_.points, dims, true, stream_);
    queries.prepare({queries_.data(), size_.queries, dims}, frame);
    base.prepare(points, frame);
    return seconds([&] {
      workspace_.reset();
      work(queries.rows(0, size_.queries), base);
    });
  }

  double fp16_cost(double pairs) {
    const auto product = [this](const Fp16Rows& queries, const Fp16Store& base) {
      distance::fp16_gemm_scores(
          {queries, base.rows(0, size_.points), base.bias(0), scores_.data(), size_.points, workspace_});
    };
    const double few = fp16_seconds(size_.few_dims, product);
    const double many = fp16_seconds(size_.many_dims, product);
    return difference(few, pairs * static_cast<double>(size_.few_dims), many,
                      pairs * static_cast<double>(size_.many_dims));
  }

  // Limits that let nothing pass: what passes is rare.
  void measure_fused_fp16(double pairs, std::vector<MeasuredCost>& costs) {
    DeviceBuffer<float> limits(static_cast<std::size_t>(size_.queries), stream_);
    KITH_CUDA(cudaMemsetAsync(limits.data(), 0xFF, limits.size() * sizeof(float), stream_));  // NaN
    const bool tests_products = tensor::has_tensor_filter(tensor::Element::fp16, size_.many_dims);
    const auto filter = [&](const Fp16Rows& queries, const Fp16Store& base) {
      distance::CandidateLists<float> lists;
      lists.limits = limits.data();
      const Fp16Rows points = base.rows(0, size_.points);
      if (tests_products)
        tensor::tensor_filter({tensor::fp16_product(queries, points, base.bias(0)), lists, {}, stream_});
      else
        distance::fp16_filter({queries, points, base.bias(0), lists, stream_});
    };
    const double few = fp16_seconds(size_.few_dims, filter);
    const double many = fp16_seconds(size_.many_dims, filter);
    if (tests_products) {  // the longer of the two counts, not their sum
      costs.push_back({"fused_fp16", many / pairs / static_cast<double>(size_.many_dims)});
      costs.push_back({"fused_fp16_pair", few / pairs});
      return;
    }
    const double coordinate = difference(few, pairs * static_cast<double>(size_.few_dims), many,
                                         pairs * static_cast<double>(size_.many_dims));
    costs.push_back({"fused_fp16", coordinate});
    const double pair = few / pairs - coordinate * static_cast<double>(size_.few_dims);
    costs.push_back({"fused_fp16_pair", pair > 0 ? pair : few / pairs});
  }

  // Of some queries, so that reading the base is not all of it.
  double keys_cost() {
    constexpr std::int64_t kQueries = 64;
    const std::int64_t queries = std::min(kQueries, size_.queries);
    const double pairs = static_cast<double>(queries) * static_cast<double>(size_.points);
    return of_dims(pairs, [&](std::int64_t dims) {
      distance::all_keys(distance::KeyCall<float>{{{queries_.data(), queries, dims}},
                                                  {{points_.data(), size_.points, dims}},
                                                  dims,
                                                  MetricKind::sqeuclidean,
                                                  stream_},
                         scores_.data(), size_.points);
    });
  }

  // One query reads every point once.
  double read_cost() {
    const std::int64_t dims = size_.few_dims;
    const auto time = [&](std::int64_t rows) {
      return seconds([&] {
        score(distance::direct_scores<float>, {queries_.data(), 1, dims}, {points_.data(), rows, dims}, dims, false);
      });
    };
    const std::int64_t rows = size_.read_values / dims;
    const auto bytes = [&](std::int64_t count) { return static_cast<double>(count * dims) * sizeof(float); };
    const double few = time(rows / 2);
    return difference(few, bytes(rows / 2), time(rows), bytes(rows));
  }

  // A search that has nothing to do but to start its kernels.
  double start_cost() {
    constexpr std::int64_t kRows = 64;
    constexpr std::int64_t kDims = 4;
    const auto base = MatrixView<float>::on_device(points_.data(), kRows, kDims);
    const auto query = MatrixView<float>::on_device(queries_.data(), 1, kDims);
    Plan plan;
    plan.problem = {kRows, 1, kDims, 1, DType::float32};
    plan.metric = MetricKind::sqeuclidean;
    plan.method = Method::two_stage;
    plan.distance = DistanceStage::direct;
    plan.passes = {{DistanceStage::direct}, {DistanceStage::exact}};
    plan.query_block = 1;
    plan.base_tile = kRows;
    plan.candidates = kRows / 2;
    plan.workspace_bytes = std::int64_t{64} << 20;
    Options options;
    options.metric = plan.metric;
    const auto stream = static_cast<cudaStream_t>(stream_);
    const auto index = make_index<float>({base, options, {}, stream});
    index->prepare(nullptr);
    DeviceBuffer<std::int64_t> id(1, stream_);
    return seconds([&] {
      SearchReport report;
      index->begin({query, false, options.progress, true, stream})
          ->search(plan, {id.data(), scores_.data(), Memory::device}, report);
    });
  }

  TuneSize size_;
  Stream stream_;
  Event before_;
  Event after_;
  DeviceBuffer<float> queries_;
  DeviceBuffer<float> points_;
  DeviceBuffer<float> scores_;
  Workspace workspace_;
};

}  // namespace

std::vector<backend::MeasuredCost> measure_costs(const backend::TuneSize& size) {
  return Tuner(size).measure();
}

}  // namespace kith::KITH_BACKEND
