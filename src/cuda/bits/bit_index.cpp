// bit_index.cpp: packed bits on a device. The base stays there; a tile of distances is made, and the selection takes
// its k smallest of each query, or those within the radius are listed; tiles are merged on the host.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/bits.hpp"
#include "core/max_distance.hpp"
#include "core/order.hpp"
#include "cuda/bits/bit_kernels.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/runtime/workspace.hpp"
#include "cuda/select/select.hpp"
#include "kith/error.hpp"
#include "plan/bits.hpp"

namespace kith::KITH_BACKEND {
namespace {

using bits::Word;
using Hits = std::vector<core::Hit<float>>;

constexpr std::int64_t kBroughtBytes = std::int64_t{64} << 20;  // of rows on their way to the device

// Rows as words on the device, once the stream comes to it.
DeviceBuffer<Word> brought(const BitsView& view, bits::Layout layout, cudaStream_t stream) {
  const std::int64_t bytes = bit_bytes(view.bits);
  const std::int64_t words = (view.bits + 63) / 64;
  DeviceBuffer<Word> made(as_size(view.rows * words), stream);
  const std::int64_t most = std::clamp<std::int64_t>(kBroughtBytes / bytes, 1, view.rows);
  DeviceBuffer<std::uint8_t> raw(as_size(most * bytes), stream);
  std::vector<std::uint8_t> joined;
  for (std::int64_t first = 0; first < view.rows; first += most) {
    const std::int64_t count = std::min(most, view.rows - first);
    joined.resize(as_size(count * bytes));
    for (std::int64_t row = 0; row < count; ++row)
      std::copy_n(view.row(first + row), bytes, joined.data() + row * bytes);
    KITH_CUDA(cudaMemcpyAsync(raw.data(), joined.data(), joined.size(), cudaMemcpyHostToDevice, stream));
    bits::arrange_words({raw.data(), bytes, count}, layout, first, view.rows, words, made.data(), stream);
    KITH_CUDA(cudaStreamSynchronize(stream));  // before the host's copy is written again
  }
  return made;
}

void report(const ProgressCallback& progress, std::int64_t done, std::int64_t total) {
  if (progress && !progress({done, total})) throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
}

class DeviceBitIndex final : public backend::BackendBitIndex {
 public:
  explicit DeviceBitIndex(const backend::BitIndexRequest& request)
      : base_(request.base),
        metric_(request.metric),
        options_(request.options),
        machine_(request.machine),
        words_(brought(base_, bits::Layout::by_word, stream_)) {}

  BitPlan plan(std::int64_t queries, std::int64_t k, bool self) const override {
    return plan::plan_device_bits({base_.rows, queries, base_.bits, k, self, metric_}, options_,
                                  std::get<core::DeviceFacts>(machine_));
  }

  std::int64_t search(const BitPlan& plan, const backend::BitQueries& queries,
                      const NeighborsView<float>& out) const override {
    const float largest = core::largest_within<float>(plan.max_distance);
    return each_block(plan, queries, [&](std::int64_t first_query, std::int64_t count, const auto& each_tile) {
      std::vector<Hits> found(as_size(count));
      each_tile([&](const float* distances, std::int64_t first, std::int64_t rows, Workspace& workspace) {
        take_nearest(plan, distances, first, rows, workspace, found);
      });
      for (std::int64_t q = 0; q < count; ++q) {
        const Hits& hits = found[as_size(q)];
        for (std::int64_t i = 0; i < plan.k; ++i) {
          const std::int64_t at = (first_query + q) * plan.k + i;
          const bool is_there = i < std::ssize(hits) && hits[as_size(i)].key <= largest;
          out.ids[at] = is_there ? hits[as_size(i)].id : core::kNoNeighbor;
          out.distances[at] = is_there ? hits[as_size(i)].key : std::numeric_limits<float>::infinity();
        }
      }
    });
  }

  std::int64_t search_radius(const BitPlan& plan, const backend::BitQueries& queries,
                             const core::RadiusQuery<float>& radii, const RadiusLists<float>& out) const override {
    std::vector<Hits> found(as_size(queries.rows.rows));
    std::vector<std::int64_t> counts(found.size());
    std::int64_t all = 0;
    const std::int64_t pairs =
        each_block(plan, queries, [&](std::int64_t first_query, std::int64_t count, const auto& each_tile) {
          std::vector<float> keys;
          for (std::int64_t q = 0; q < count; ++q) keys.push_back(radii.key_of(first_query + q));
          each_tile([&](const float* distances, std::int64_t first, std::int64_t rows, Workspace& workspace) {
            all += take_within(keys, distances, first, rows, workspace, found.data() + first_query);
            for (std::int64_t q = first_query; q < first_query + count; ++q) {
              if (!radii.count_only) continue;
              counts[as_size(q)] += std::ssize(found[as_size(q)]);
              found[as_size(q)].clear();
            }
            if (all > radii.max_hits && !radii.count_only)
              throw Error(ErrorCode::out_of_memory, "more than " + std::to_string(radii.max_hits) +
                                                        " neighbors lie within the radius; free memory holds no more");
          });
        });
    out.offsets[0] = 0;
    for (std::int64_t q = 0; q < queries.rows.rows; ++q)
      out.offsets[q + 1] = out.offsets[q] + counts[as_size(q)] + std::ssize(found[as_size(q)]);
    if (radii.count_only) return pairs;
    const NeighborsView<float> to = out.allocate(out.offsets[queries.rows.rows]);
    for (std::int64_t q = 0; q < queries.rows.rows; ++q) {
      Hits& hits = found[as_size(q)];
      std::sort(hits.begin(), hits.end());
      for (std::int64_t i = 0; i < std::ssize(hits); ++i) {
        to.ids[out.offsets[q] + i] = hits[as_size(i)].id;
        to.distances[out.offsets[q] + i] = hits[as_size(i)].key;
      }
    }
    return pairs;
  }

 private:
  // Calls use(first query, count, each_tile) for each block of queries, which calls each_tile(work) once; that calls
  // work(distances, first row, rows, workspace) for each tile of the base. Returns the pairs.
  template <class Use>
  std::int64_t each_block(const BitPlan& plan, const backend::BitQueries& queries, Use use) const {
    const std::int64_t words = (base_.bits + 63) / 64;
    const std::int64_t total = queries.rows.rows * base_.rows;
    std::int64_t done = 0;
    const Stream stream;
    Workspace workspace(stream);
    for (std::int64_t first_query = 0; first_query < queries.rows.rows; first_query += plan.query_block) {
      const std::int64_t count = std::min(plan.query_block, queries.rows.rows - first_query);
      BitsView block = queries.rows;
      block.data = queries.rows.row(first_query);
      block.rows = count;
      const DeviceBuffer<Word> query_words = brought(block, bits::Layout::by_row, stream);
      use(first_query, count, [&](const auto& work) {
        for (std::int64_t first = 0; first < base_.rows; first += plan.base_tile) {
          const std::int64_t rows = std::min(plan.base_tile, base_.rows - first);
          workspace.reset();
          auto* const distances = workspace.template allocate<float>(as_size(count * rows));
          bits::bit_distances({query_words.data(), count, words_.data() + first, base_.rows, rows, words, base_.bits,
                               first_query - first, plan.self},
                              metric_, distances, stream);
          work(distances, first, rows, workspace);
          report(queries.progress, done += count * rows, total);
        }
      });
    }
    return total;
  }

  // The k smallest distances of each query, merged into the hits of earlier tiles.
  static void take_nearest(const BitPlan& plan, const float* distances, std::int64_t first, std::int64_t rows,
                           Workspace& workspace, std::vector<Hits>& found) {
    const std::int64_t k = std::min(plan.k, rows);
    const auto places = found.size() * as_size(k);
    select::Rows<float> matrix;
    matrix.values = distances;
    matrix.rows = std::ssize(found);
    matrix.length = static_cast<unsigned>(rows);
    matrix.stride = rows;
    auto* const values = workspace.allocate<float>(places);
    auto* const ids = workspace.allocate<std::int64_t>(places);
    const select::Output<float> output{values, ids, static_cast<unsigned>(k), TopkOutput::sorted, matrix};
    select::select_rows(select::SelectCall<float>{matrix, output, {}, workspace}, SelectMethod::automatic);
    std::vector<float> host_values(places);
    std::vector<std::int64_t> host_ids(places);
    const cudaStream_t stream = workspace.stream();
    KITH_CUDA(cudaMemcpyAsync(host_values.data(), values, places * sizeof(float), cudaMemcpyDeviceToHost, stream));
    KITH_CUDA(cudaMemcpyAsync(host_ids.data(), ids, places * sizeof(std::int64_t), cudaMemcpyDeviceToHost, stream));
    KITH_CUDA(cudaStreamSynchronize(stream));
    for (std::size_t q = 0; q < found.size(); ++q) {
      Hits merged = std::move(found[q]);
      const auto middle = std::ssize(merged);
      for (std::size_t i = 0; i < as_size(k); ++i)
        if (const float key = host_values[q * as_size(k) + i]; !std::isnan(key))
          merged.push_back({key, first + host_ids[q * as_size(k) + i]});
      std::inplace_merge(merged.begin(), merged.begin() + middle, merged.end());
      if (std::ssize(merged) > plan.k) merged.resize(as_size(plan.k));
      found[q] = std::move(merged);
    }
  }

  // Adds the rows of a tile that are within; returns how many.
  static std::int64_t take_within(const std::vector<float>& radii, const float* distances, std::int64_t first,
                                  std::int64_t rows, Workspace& workspace, Hits* found) {
    const cudaStream_t stream = workspace.stream();
    auto* const keys = workspace.allocate<float>(radii.size());
    auto* const hits = workspace.allocate<bits::RadiusHit>(radii.size() * as_size(rows));
    auto* const count = workspace.allocate<unsigned long long>(1);
    KITH_CUDA(cudaMemcpyAsync(keys, radii.data(), radii.size() * sizeof(float), cudaMemcpyHostToDevice, stream));
    KITH_CUDA(cudaMemsetAsync(count, 0, sizeof(unsigned long long), stream));
    bits::append_within(distances, std::ssize(radii), rows, keys, hits, count, stream);
    unsigned long long within = 0;
    KITH_CUDA(cudaMemcpyAsync(&within, count, sizeof within, cudaMemcpyDeviceToHost, stream));
    KITH_CUDA(cudaStreamSynchronize(stream));
    std::vector<bits::RadiusHit> host(within);
    if (within > 0)
      KITH_CUDA(cudaMemcpyAsync(host.data(), hits, within * sizeof(bits::RadiusHit), cudaMemcpyDeviceToHost, stream));
    KITH_CUDA(cudaStreamSynchronize(stream));
    for (const bits::RadiusHit& hit : host) found[hit.query].push_back({hit.distance, first + hit.row});
    return static_cast<std::int64_t>(within);
  }

  BitsView base_;
  BitMetric metric_;
  const Options& options_;
  const plan::Machine& machine_;
  Stream stream_;
  DeviceBuffer<Word> words_;
};

}  // namespace

std::unique_ptr<backend::BackendBitIndex> make_bit_index(const backend::BitIndexRequest& request) {
  // Without a plan nothing fits, and the error says so.
  plan::plan_device_bits({request.base.rows, 1, request.base.bits, 1, false, request.metric}, request.options,
                         std::get<core::DeviceFacts>(request.machine));
  return std::make_unique<DeviceBitIndex>(request);
}

}  // namespace kith::KITH_BACKEND
