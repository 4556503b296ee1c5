// searched.hpp: points on the device and an index of them, whose answers are compared with the oracle.
#pragma once

#include <string>

#include "device_index.hpp"
#include "kith/error.hpp"
#include "point_set.hpp"
#include "support/pairwise.hpp"

namespace kith::test {

// Calls check<T>(row, seed) with T float or double for pairwise coverage of parameters of these sizes and of T.
template <class Check>
void for_each_pair(std::vector<std::size_t> sizes, std::uint64_t seed, Check check) {
  sizes.push_back(2);
  const auto rows = pairwise(sizes, seed);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    set_schedule(i % kSchedules);
    if (rows[i].back() == 0)
      check.template operator()<float>(rows[i], static_cast<unsigned>(i + 1));
    else
      check.template operator()<double>(rows[i], static_cast<unsigned>(i + 1));
  }
}

// The message with which work is refused.
template <class Work>
std::string refusal(ErrorCode code, Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code() == code ? error.what() : "another code";
  }
  return "nothing";
}

// Wanted has the k of a search, and plan_for(Problem).
template <class T, class Wanted>
class SearchedPoints {
 public:
  SearchedPoints(const PointSet<T>& base, const Metric& metric, bool check_finite = true)
      : base_(base),
        metric_(metric),
        points_(base.values, stream_),
        index_(base.on_device(points_.data()), metric, stream_, {check_finite}) {}

  // Copies the queries in the stream's order, without waiting.
  SearchReport search(const PointSet<T>& queries, const Wanted& wanted, cudaStream_t stream) const {
    DeviceArray<T> there(queries.values, stream);
    DeviceArray<T> copied(std::vector<T>(queries.values.size()), stream);
    KITH_CUDA(cudaMemcpyAsync(copied.data(), there.data(), queries.values.size() * sizeof(T), cudaMemcpyDeviceToDevice,
                              stream));
    return check(queries.on_device(copied.data()), queries, wanted, stream);
  }
  SearchReport search(const PointSet<T>& queries, const Wanted& wanted) const {
    return search(queries, wanted, stream_);
  }
  SearchReport search_self(const Wanted& wanted) const { return check(view(), base_, wanted, stream_); }

  // The ids of an answer that is not checked.
  std::vector<std::int64_t> ids(const PointSet<T>& queries, const Wanted& wanted) const {
    DeviceArray<T> there(queries.values, stream_);
    return answer_to(queries.on_device(there.data()), wanted, stream_).ids;
  }

  std::unique_ptr<backend::BackendSearch<T>> begin(const MatrixView<T>& queries) const {
    return index_.begin(queries, stream_);
  }
  const Metric& metric() const { return metric_; }
  MatrixView<T> view() const { return base_.on_device(points_.data()); }
  cudaStream_t stream() const { return stream_; }

 private:
  struct Answer {
    std::vector<T> distances;
    std::vector<std::int64_t> ids;
    SearchReport report;
  };

  // What is refused leaves the answer as it was.
  Answer answer_to(const MatrixView<T>& queries, const Wanted& wanted, cudaStream_t stream) const {
    const auto count = static_cast<std::size_t>(queries.rows * wanted.k);
    Answer answer{std::vector<T>(count, T{-2}), std::vector<std::int64_t>(count, -2), {}};
    DeviceArray<T> distances(answer.distances, stream);
    DeviceArray<std::int64_t> ids(answer.ids, stream);
    const Plan plan = wanted.plan_for({base_.rows, queries.rows, queries.cols, wanted.k, dtype_of<T>()});
    try {
      index_.begin(queries, stream)->search(plan, {ids.data(), distances.data(), Memory::device}, answer.report);
    } catch (const Error&) {
      EXPECT_EQ(distances.values(), answer.distances);
      EXPECT_EQ(ids.values(), answer.ids);
      throw;
    }
    answer.distances = distances.values();
    answer.ids = ids.values();
    return answer;
  }

  SearchReport check(const MatrixView<T>& queries, const PointSet<T>& same, const Wanted& wanted,
                     cudaStream_t stream) const {
    const Answer answer = answer_to(queries, wanted, stream);
    expect_right(answer, same, wanted.k);
    return answer.report;
  }

  // Powers may be rounded differently on a device.
  void expect_right(const Answer& answer, const PointSet<T>& queries, std::int64_t k) const {
    const double relative = metric_.kind == MetricKind::minkowski && !kEmulated ? 1e-6 : 0;
    for (std::int64_t q = 0; q < queries.rows; ++q) {
      const std::vector<Neighbor<T>> truth = in_order(metric_, base_, queries, q);
      for (std::int64_t i = 0; i < k; ++i) {
        const auto at = static_cast<std::size_t>(q * k + i);
        const Neighbor<T>& right = truth[static_cast<std::size_t>(i)];
        ASSERT_EQ(answer.ids[at], right.id)
            << "query " << q << ", rank " << i << ", " << answer.distances[at] << " instead of " << right.distance;
        if (relative == 0) {
          ASSERT_EQ(answer.distances[at], right.distance) << "query " << q << ", rank " << i;
        } else {
          ASSERT_NEAR(answer.distances[at], right.distance, relative * static_cast<double>(right.distance));
        }
      }
    }
  }

  PointSet<T> base_;
  Metric metric_;
  device::Stream stream_;
  DeviceArray<T> points_;
  DeviceIndex<T> index_;
};

}  // namespace kith::test
