// for_each_neighborhood(): a functor meets the neighbors that the host finds, each query once, whatever the method and
// however many batches there are.
#include "kith/cuda_neighborhoods.cuh"

#include "device_points.hpp"

namespace kith::test {
namespace {

using Neighborhoods = CudaApi;

constexpr std::int64_t kPointDims = 3;
constexpr std::int64_t kPoints = 1500;

// Depends on every neighbor and on their order.
template <class T>
struct Looked {
  double powers;
  T farthest;
  unsigned long long visits;
};

template <class T>
struct Look {
  const T* power;
  Looked<T>* out;

  __device__ void operator()(std::int64_t query, const cuda::Neighborhood<T>& near) const {
    double sum = 0;
    for (std::int64_t i = 0; i < near.k; ++i)
      sum += static_cast<double>(power[near.ids[i]]) * static_cast<double>(i + 1);
    out[query].powers = sum;
    out[query].farthest = near.distances[near.k - 1];
    atomicAdd(&out[query].visits, 1ULL);
  }
};

// Queries lie `stride` values apart.
template <class T>
void expect_visits(Method method, std::int64_t queries, std::int64_t stride, std::int64_t k) {
  SCOPED_TRACE(testing::Message() << to_string(method) << ", " << queries << " queries, k = " << k);
  const auto base = some_values<T>(kPoints, kPointDims, 1);
  const auto asked = some_values<T>(queries, stride, 2);
  const auto power = some_values<T>(kPoints, 1, 3);
  const MatrixView<T> base_view(base.data(), kPoints, kPointDims);
  const MatrixView<T> query_view(asked.data(), queries, kPointDims, stride, 1);
  const auto right = search(base_view, query_view, k, host_options(method_options(method)));

  const DeviceValues<T> device_base(base);
  const DeviceValues<T> device_queries(asked);
  const DeviceValues<T> device_power(power);
  const DeviceValues<Looked<T>> out(std::vector<Looked<T>>(static_cast<std::size_t>(queries)));
  cudaStream_t stream = nullptr;
  require_cuda(cudaStreamCreate(&stream));
  const Index<T> index(device_base.view(kPoints, kPointDims), method_options(method), stream);
  cuda::for_each_neighborhood(index, device_queries.view(queries, kPointDims, stride), k,
                              Look<T>{device_power.data(), out.data()}, stream);
  const auto found = out.values();
  for (std::int64_t q = 0; q < queries; ++q) {
    const Looked<T>& looked = found[static_cast<std::size_t>(q)];
    double sum = 0;
    for (std::int64_t i = 0; i < k; ++i)
      sum += static_cast<double>(power[static_cast<std::size_t>(right.ids_of(q)[static_cast<std::size_t>(i)])]) *
             static_cast<double>(i + 1);
    ASSERT_EQ(looked.visits, 1U) << "query " << q;
    ASSERT_EQ(looked.powers, sum) << "query " << q;
    ASSERT_EQ(looked.farthest, right.distances_of(q).back()) << "query " << q;
  }
  require_cuda(cudaStreamDestroy(stream));
}

// 2^21 neighbors are a batch: with lists of 1024, more than 2048 queries are several, the last of them smaller.
TEST_F(Neighborhoods, SeveralBatches) {
  for (const Method method : {Method::automatic, Method::shifted_sort}) {
    expect_visits<float>(method, 5000, kPointDims, 1024);
    expect_visits<double>(method, 2049, kPointDims, 1024);
  }
}

TEST_F(Neighborhoods, FewQueriesWithGapsBetweenThem) {
  for (const Method method : {Method::two_stage, Method::triangle, Method::shifted_sort})
    for (const std::int64_t k : {1, 7}) {
      expect_visits<float>(method, 300, kPointDims + 2, k);
      expect_visits<double>(method, 1, kPointDims + 2, k);
    }
}

// The example of the header and of docs/design.md.
struct Brightness {  // photons: their mean power over the disc they cover
  const float* power;
  float* out;
  __device__ void operator()(std::int64_t query, const cuda::Neighborhood<float>& near) const {
    float sum = 0;
    for (std::int64_t i = 0; i < near.k; ++i) sum += power[near.ids[i]];
    const float radius = near.distances[near.k - 1];
    out[query] = sum / (3.14159265F * radius * radius);
  }
};

TEST_F(Neighborhoods, TheExample) {
  const std::int64_t rows = 400;
  const auto photons = some_values<float>(kPoints, kPointDims, 5);
  const auto places = some_values<float>(rows, kPointDims, 6);
  const DeviceValues<float> points(photons);
  const DeviceValues<float> queries(places);
  const DeviceValues<float> power(std::vector<float>(kPoints, 2));
  const DeviceValues<float> out{std::vector<float>(rows)};
  const Index<float> index(points.view(kPoints, 3));
  cuda::for_each_neighborhood(index, queries.view(rows, 3), 50, Brightness{power.data(), out.data()}, nullptr);
  const auto right = search(MatrixView<float>(photons.data(), kPoints, 3), MatrixView<float>(places.data(), rows, 3),
                            50, host_options({}));
  const auto found = out.values();
  for (std::int64_t q = 0; q < rows; ++q) {
    const float radius = right.distances_of(q).back();
    EXPECT_FLOAT_EQ(found[static_cast<std::size_t>(q)], 100 / (3.14159265F * radius * radius)) << "query " << q;
  }
}

TEST_F(Neighborhoods, RefusesWhatSearchRefuses) {
  const DeviceValues<float> points(some_values<float>(10, kPointDims, 4));
  const DeviceValues<Looked<float>> out(std::vector<Looked<float>>(10));
  const Index<float> index(points.view(10, kPointDims));
  for (const std::int64_t k : {0, 11})
    EXPECT_THROW(cuda::for_each_neighborhood(index, points.view(10, kPointDims), k,
                                             Look<float>{points.data(), out.data()}, nullptr),
                 Error);
}

}  // namespace
}  // namespace kith::test
