// device_rows.cu: parts are copied one after the other, or labeled with their queries and sorted.
#include "cuda/radius/device_rows.hpp"

#include "cuda/primitives/move_rows.hpp"
#include "cuda/radius/radius_hits.hpp"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::radius {
namespace {

// Hits of consecutive queries from first_query on; those of the q-th of them end before ends[q].
template <class F>
struct PartHits {
  const F* distances;
  const unsigned* ids;
  const std::int64_t* ends;
  std::int64_t queries;
  std::int64_t first_query;
  std::int64_t count;
};

template <class F>
__global__ void label_part_kernel(Metric metric, PartHits<F> part, LabeledKey<OrderOf<F>>* labeled) {
  const std::int64_t i = thread_index();
  if (i >= part.count) return;
  std::int64_t query = 0;  // the first query whose hits end behind this one
  for (std::int64_t last = part.queries; query < last;) {
    const std::int64_t middle = (query + last) / 2;
    if (part.ends[middle] <= i) {
      query = middle + 1;
    } else {
      last = middle;
    }
  }
  // returned_value() is its own inverse: it changes the sign of inner products only.
  const F key = core::returned_value(metric, part.distances[i]);
  labeled[i] = {ordered_bits(key, false), part.ids[i], static_cast<unsigned>(part.first_query + query)};
}

template <class V>
void copy_to_device(const std::vector<V>& from, V* to, cudaStream_t stream) {
  if (from.empty()) return;
  KITH_CUDA(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(V), cudaMemcpyHostToDevice, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
}

}  // namespace

template <class F>
void DeviceRows<F>::add(const FoundPart<F>& part) {
  if (part.counts.size() == counts_.size() && part.points == base_rows_) {
    NeighborsView<F> to{nullptr, nullptr, Memory::device};
    if (out_.allocate) to = out_.allocate(part.hits);
    const auto queries = static_cast<std::int64_t>(counts_.size());
    return_rows<F>({part.distances, part.ids, part.hits, part.device_counts, queries}, out_.offsets, to, stream_);
    is_written_ = true;
    return;
  }
  for (std::size_t i = 0; i < part.counts.size(); ++i) counts_[as_size(part.first_query) + i] += part.counts[i];
  if (part.ids == nullptr || part.hits == 0) return;
  Part copy{part.first_query, part.counts, part.hits, DeviceBuffer<F>(as_size(part.hits), stream_),
            DeviceBuffer<unsigned>(as_size(part.hits), stream_)};
  KITH_CUDA(cudaMemcpyAsync(copy.distances.data(), part.distances, as_size(part.hits) * sizeof(F),
                            cudaMemcpyDeviceToDevice, stream_));
  KITH_CUDA(cudaMemcpyAsync(copy.ids.data(), part.ids, as_size(part.hits) * sizeof(unsigned), cudaMemcpyDeviceToDevice,
                            stream_));
  if (part.first_query < next_query_) in_order_ = false;
  next_query_ = part.first_query + static_cast<std::int64_t>(part.counts.size());
  parts_.push_back(std::move(copy));
}

template <class F>
void DeviceRows<F>::write(const Metric& metric) && {
  if (is_written_) return;
  std::vector<std::int64_t> offsets(counts_.size() + 1, 0);
  for (std::size_t q = 0; q < counts_.size(); ++q) offsets[q + 1] = offsets[q] + counts_[q];
  if (out_.allocate) {
    const NeighborsView<F> to = out_.allocate(offsets.back());
    if (in_order_) {
      append(to);
    } else {
      sort(metric, offsets.back(), to);
    }
  }
  copy_to_device(offsets, out_.offsets, stream_);
}

template <class F>
void DeviceRows<F>::append(const NeighborsView<F>& to) const {
  std::int64_t at = 0;
  for (const Part& part : parts_) {
    KITH_CUDA(cudaMemcpyAsync(to.distances + at, part.distances.data(), as_size(part.hits) * sizeof(F),
                              cudaMemcpyDeviceToDevice, stream_));
    widen_ids(part.ids.data(), part.hits, to.ids + at, stream_);
    at += part.hits;
  }
}

template <class F>
void DeviceRows<F>::sort(const Metric& metric, std::int64_t count, const NeighborsView<F>& to) const {
  Workspace workspace(stream_);
  auto* labeled = workspace.allocate<LabeledKey<OrderOf<F>>>(as_size(count));
  auto* other = workspace.allocate<LabeledKey<OrderOf<F>>>(as_size(count));
  std::int64_t at = 0;
  for (const Part& part : parts_) {
    std::vector<std::int64_t> ends(part.counts.begin(), part.counts.end());
    for (std::size_t q = 1; q < ends.size(); ++q) ends[q] += ends[q - 1];
    DeviceBuffer<std::int64_t> device_ends(ends.size(), stream_);
    copy_to_device(ends, device_ends.data(), stream_);
    const PartHits<F> hits{part.distances.data(), part.ids.data(),
                           device_ends.data(),    static_cast<std::int64_t>(ends.size()),
                           part.first_query,      part.hits};
    launch("label_part", label_part_kernel<F>, thread_each(part.hits), stream_, metric, hits, labeled + at);
    at += part.hits;
  }
  const auto* sorted = sort_labeled(labeled, other, count, static_cast<std::int64_t>(counts_.size()), workspace);
  auto* ids = workspace.allocate<unsigned>(as_size(count));
  split_hits<F>(metric, sorted, count, to.distances, ids, stream_);
  widen_ids(ids, count, to.ids, stream_);
}

template class DeviceRows<float>;
template class DeviceRows<double>;

}  // namespace kith::KITH_BACKEND::radius
