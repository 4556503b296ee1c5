#include "device/search/check.hpp"

#include <algorithm>
#include <vector>

#include "cuda/runtime/launch.cuh"

namespace kith::bench::device::search {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::int64_t kChunk = 16384;  // base points of a block

struct Set {
  MatrixView<float> base;
  MatrixView<float> queries;
  MetricKind metric;
  std::int64_t sample;
  bool self;

  __device__ std::int64_t query(std::int64_t i) const { return i * queries.rows / sample; }
};

// What was found of a query of the sample.
struct Finding {
  unsigned wrong_distances;
  unsigned wrong_order;
  unsigned long long listed;      // neighbors
  unsigned long long up_to_last;  // base points with keys no larger than the last one's, or within the radius
};

__device__ double term(MetricKind metric, double x, double y) {
  if (metric == MetricKind::inner_product || metric == MetricKind::cosine) return x * y;
  return metric == MetricKind::manhattan ? fabs(x - y) : (x - y) * (x - y);
}

// Eight sums in double, coordinate c in sum c % 8; multiply, then add.
__device__ double sum(const float* x, const float* y, std::int64_t dims, MetricKind metric) {
  double sums[8] = {};
  for (std::int64_t c = 0; c < dims; c += 8) {
    KITH_UNROLL
    for (int i = 0; i < 8; ++i)
      if (c + i < dims) sums[i] += term(metric, static_cast<double>(x[c + i]), static_cast<double>(y[c + i]));
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

__device__ float distance(const float* x, const float* y, std::int64_t dims, MetricKind metric) {
  const double raw = sum(x, y, dims, metric);
  if (metric != MetricKind::cosine) return static_cast<float>(raw);
  const double norms = sqrt(sum(x, x, dims, metric) * sum(y, y, dims, metric));
  return static_cast<float>(fmin(fmax(1.0 - raw / norms, 0.0), 2.0));
}

__device__ bool comes_before(const Set& set, float distance, std::int64_t id, float other, std::int64_t other_id) {
  if (distance == other) return id < other_id;
  return set.metric == MetricKind::inner_product ? distance > other : distance < other;
}

// The neighbors of a query.
struct List {
  __device__ List(const DeviceAnswer& answer, std::int64_t query)
      : begin(answer.offsets ? answer.offsets[query] : query * answer.k),
        end(answer.offsets ? answer.offsets[query + 1] : begin + answer.k),
        distances(answer.distances + begin),
        ids(answer.ids + begin) {}

  std::int64_t begin;
  std::int64_t end;
  const float* distances;
  const std::int64_t* ids;
};

// Block a query of the sample.
__global__ void check_lists_kernel(Set set, DeviceAnswer answer, Finding* findings) {
  const std::int64_t query = set.query(blockIdx.x);
  const List list(answer, query);
  const float* distances = list.distances;
  const std::int64_t* ids = list.ids;
  if (threadIdx.x == 0) findings[blockIdx.x].listed = static_cast<unsigned long long>(list.end - list.begin);
  for (std::int64_t i = threadIdx.x; i < list.end - list.begin; i += kThreads) {
    const bool there = ids[i] >= 0 && ids[i] < set.base.rows && !(set.self && ids[i] == query);
    const float right =
        there ? distance(set.queries.row(query), set.base.row(ids[i]), set.base.cols, set.metric) : 0.0F;
    if (!there || right != distances[i]) atomicAdd(&findings[blockIdx.x].wrong_distances, 1U);
    const bool ordered = i == 0 || comes_before(set, distances[i - 1], ids[i - 1], distances[i], ids[i]);
    if (!ordered) atomicAdd(&findings[blockIdx.x].wrong_order, 1U);
  }
}

// Block a query of the sample and a chunk of the base.
__global__ void count_kernel(Set set, DeviceAnswer answer, std::int64_t chunks, Finding* findings) {
  const std::int64_t i = blockIdx.x / chunks;
  const std::int64_t query = set.query(i);
  const List list(answer, query);
  const float last = answer.offsets ? answer.radius : answer.distances[list.end - 1];
  const std::int64_t last_id = answer.offsets ? set.base.rows : answer.ids[list.end - 1];
  const std::int64_t first = blockIdx.x % chunks * kChunk;
  const std::int64_t end = min(set.base.rows, first + kChunk);
  unsigned long long count = 0;
  for (std::int64_t point = first + threadIdx.x; point < end; point += kThreads) {
    const float found = distance(set.queries.row(query), set.base.row(point), set.base.cols, set.metric);
    if (!comes_before(set, last, last_id, found, point) && !(set.self && point == query)) ++count;
  }
  if (count > 0) atomicAdd(&findings[i].up_to_last, count);
}

__global__ void fingerprint_kernel(DeviceAnswer answer, std::int64_t count, unsigned long long* sum) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  unsigned long long mine = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step) {
    unsigned long long bits =
        static_cast<unsigned long long>(answer.ids[i]) << 32 | __float_as_uint(answer.distances[i]);
    bits = (bits ^ static_cast<unsigned long long>(i)) * 0x9e3779b97f4a7c15ULL;
    mine += bits ^ (bits >> 29);
  }
  atomicAdd(sum, mine);
}

template <class V>
std::vector<V> copied(const cuda::DeviceBuffer<V>& from, cudaStream_t stream) {
  std::vector<V> values(from.size());
  KITH_CUDA(cudaMemcpyAsync(values.data(), from.data(), values.size() * sizeof(V), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return values;
}

template <class V>
cuda::DeviceBuffer<V> zeros(std::int64_t count, cudaStream_t stream) {
  cuda::DeviceBuffer<V> buffer(static_cast<std::size_t>(count), stream);
  KITH_CUDA(cudaMemsetAsync(buffer.data(), 0, buffer.size() * sizeof(V), stream));
  return buffer;
}

}  // namespace

Checker::Checker(MetricKind metric, const MatrixView<float>& base, const MatrixView<float>& queries,
                 std::int64_t samples, cudaStream_t stream, bool self)
    : base_(base),
      queries_(queries),
      metric_(metric),
      samples_(std::min(samples, queries.rows)),
      stream_(stream),
      self_(self) {}

std::string Checker::fault(const DeviceAnswer& answer) const {
  const Set set{base_, queries_, metric_, samples_, self_};
  auto findings = zeros<Finding>(samples_, stream_);
  cuda::launch("check_lists", check_lists_kernel, {.blocks = samples_, .threads = kThreads}, stream_, set, answer,
               findings.data());
  const std::int64_t chunks = cuda::ceil_div(base_.rows, kChunk);
  cuda::launch("count", count_kernel, {.blocks = samples_ * chunks, .threads = kThreads}, stream_, set, answer, chunks,
               findings.data());
  std::int64_t i = 0;
  for (const Finding& finding : copied(findings, stream_)) {
    const std::string query = "query " + std::to_string(i++ * queries_.rows / samples_) + ": ";
    if (finding.wrong_distances > 0) return query + std::to_string(finding.wrong_distances) + " wrong distances or ids";
    if (finding.wrong_order > 0) return query + "not in the order of (distance, id)";
    if (finding.up_to_last != finding.listed)
      return query + std::to_string(finding.up_to_last) + " base points where " + std::to_string(finding.listed) +
             " are listed";
  }
  return "";
}

unsigned long long Checker::fingerprint(const DeviceAnswer& answer, std::int64_t neighbors) const {
  auto sum = zeros<unsigned long long>(1, stream_);
  cuda::launch("fingerprint", fingerprint_kernel, {.blocks = 256, .threads = kThreads}, stream_, answer, neighbors,
               sum.data());
  return copied(sum, stream_).front();
}

}  // namespace kith::bench::device::search
