// pair_index.cpp: brute force by a formula or a functor on a device. Two ways lead to the k nearest of a query:
//   exact    distances of all points, in double, tile by tile; the selection takes the nearest of each tile
//   scored   scores of a sample say which score about k points and some more do not exceed, a kernel lists the points
//            whose score is at most that, and those with the least scores get distances in double. If what was left out
//            is provably farther than the k-th of these, they are the answer; otherwise the query goes the exact way.
// Scores are computed in float where core/formula_error.hpp has a bound for that, and are distances themselves
// otherwise. The base stays on the device; answers are merged on the host.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/pairs.hpp"
#include "core/formula_error.hpp"
#include "core/sample_plan.hpp"
#include "cuda/pairs/formula_pairs.hpp"
#include "cuda/pairs/nvrtc.hpp"
#include "cuda/pairs/pair_points.hpp"
#include "cuda/primitives/move_rows.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/runtime/workspace.hpp"
#include "cuda/select/select.hpp"
#include "kith/cuda_pair_kernel.cuh"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {
namespace {

using backend::PairDeviceWork;
using backend::PairRows;

constexpr std::int64_t kBroughtBytes = std::int64_t{64} << 20;  // of rows on their way to the device
constexpr std::int64_t kTilePairs = std::int64_t{1} << 26;      // of a matrix
constexpr std::int64_t kMostQueries = 2048;                     // of a block
constexpr std::int64_t kFilterPairs = std::int64_t{1} << 34;    // of a launch
constexpr std::int64_t kMargin = 16;                            // candidates beyond k that get a distance

std::int64_t aligned(std::int64_t count) {
  return (count + kPairAlignment - 1) / kPairAlignment * kPairAlignment;
}

// Points by coordinates on the device, zeros past their end.
template <class D>
struct StoredPoints {
  DeviceBuffer<D> values;
  std::int64_t count = 0;
  std::int64_t stride = 0;
  double largest = 0;  // magnitude of a coordinate
};

template <class D>
StoredPoints<D> brought(const PairRows<D>& from, std::int64_t first, std::int64_t count, cudaStream_t stream) {
  StoredPoints<D> made;
  made.count = count;
  made.stride = aligned(count);
  made.values = DeviceBuffer<D>(as_size(made.stride * from.dims), stream);
  KITH_CUDA(cudaMemsetAsync(made.values.data(), 0, made.values.size() * sizeof(D), stream));
  const auto row_bytes = from.dims * static_cast<std::int64_t>(sizeof(D));
  const std::int64_t most = std::clamp<std::int64_t>(kBroughtBytes / row_bytes, 1, count);
  DeviceBuffer<D> rows(as_size(most * from.dims), stream);
  std::vector<D> host(as_size(most * from.dims));
  for (std::int64_t at = 0; at < count; at += most) {
    const std::int64_t now = std::min(most, count - at);
    from.copy(first + at, now, host.data());
    const auto end = host.begin() + now * from.dims;
    for (auto value = host.begin(); value != end; ++value) {
      // NaN, and what is infinite, have no bound.
      const double magnitude = std::abs(static_cast<double>(*value));
      if (!(magnitude <= made.largest)) made.largest = std::isnan(magnitude) ? HUGE_VAL : magnitude;
    }
    KITH_CUDA(
        cudaMemcpyAsync(rows.data(), host.data(), as_size(now) * as_size(row_bytes), cudaMemcpyHostToDevice, stream));
    pairs::store_by_coordinates(rows.data(), at, now, from.dims, made.stride, made.values.data(), stream);
    KITH_CUDA(cudaStreamSynchronize(stream));  // before the host's copy is written again
  }
  return made;
}

template <class V>
std::vector<V> taken(const V* from, std::int64_t count, cudaStream_t stream) {
  std::vector<V> values(as_size(count));
  KITH_CUDA(cudaMemcpyAsync(values.data(), from, values.size() * sizeof(V), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return values;
}

class Meter {
 public:
  Meter(const ProgressCallback& callback, std::int64_t total) : callback_(callback), total_(total) {}
  void add(std::int64_t pairs) {
    done_ += pairs;
    if (callback_ && !callback_({done_, total_}))
      throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
  }

 private:
  const ProgressCallback& callback_;
  std::int64_t total_;
  std::int64_t done_ = 0;
};

// Selected values and ids, rows of k.
template <class D>
struct Selection {
  D* values;
  std::int64_t* ids;
  std::int64_t k;
};

template <class D>
Selection<D> selected(const select::Rows<D>& rows, std::int64_t k, TopkOutput form, Workspace& workspace) {
  const bool kth = form == TopkOutput::kth_only;
  const auto places = as_size(rows.rows * (kth ? 1 : k));
  const Selection<D> found{workspace.allocate<D>(places), kth ? nullptr : workspace.allocate<std::int64_t>(places), k};
  const select::Output<D> output{found.values, found.ids, static_cast<unsigned>(k), form, rows};
  select::select_rows(select::SelectCall<D>{rows, output, {}, workspace}, SelectMethod::automatic);
  return found;
}

template <class D>
class DevicePairIndex final : public backend::BackendPairIndex<D> {
 public:
  using Hits = std::vector<core::Hit<D>>;
  using Take = std::function<void(std::int64_t, Hits)>;

  explicit DevicePairIndex(const backend::PairIndexRequest<D>& request)
      : formula_(request.formula), functor_(request.functor), dims_(request.base.dims), budget_(request.memory_budget) {
    if (request.base.rows > std::numeric_limits<int>::max() - kPairAlignment)
      throw Error(ErrorCode::invalid_argument, "a base on a device has at most 2^31 points");
    if (budget_ == 0) {
      std::size_t free_bytes = 0;
      std::size_t all_bytes = 0;
      KITH_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
      budget_ = static_cast<std::int64_t>(free_bytes / 2 + spare_device_bytes() / 2);
    }
    const std::int64_t bytes = aligned(request.base.rows) * dims_ * kBytes;
    if (bytes > budget_)
      throw Error(ErrorCode::out_of_memory, "a memory budget of " + std::to_string(budget_) + " bytes is too small: " +
                                                std::to_string(request.base.rows) + " points of " +
                                                std::to_string(dims_) + " dimensions stay on the device, which takes " +
                                                std::to_string(bytes) + " bytes");
    base_ = brought(request.base, 0, request.base.rows, stream_);
  }

  PairDeviceWork nearest(const PairRows<D>& queries, std::int64_t k, const ProgressCallback& progress,
                         const Take& take) const override {
    PairDeviceWork work;
    const core::SamplePlan sample = core::plan_sample(base_.count, k + kMargin);
    const bool scored = sample.rank > 0 && k + kMargin < sample.capacity;
    choose_tiles(queries.rows, k, scored ? &sample : nullptr, work);
    Meter meter(progress, queries.rows * base_.count);
    const Stream stream;
    Workspace workspace(stream);
    StoredPoints<D> sampled;
    if (scored) sampled = sample_of(sample, stream);
    for (std::int64_t first = 0; first < queries.rows; first += work.query_block) {
      const std::int64_t count = std::min(work.query_block, queries.rows - first);
      const StoredPoints<D> block = brought(queries, first, count, stream);
      std::vector<Hits> found(as_size(count));
      std::vector<std::int64_t> rest;
      if (scored) {
        rest = nearest_by_scores(block, sampled, sample, k, workspace, found, work);
      } else {
        for (std::int64_t q = 0; q < count; ++q) rest.push_back(q);
      }
      meter.add((count - std::ssize(rest)) * base_.count);
      if (!rest.empty()) nearest_exactly(queries, first, block, rest, k, workspace, found, work, meter);
      for (std::int64_t q = 0; q < count; ++q) take(first + q, std::move(found[as_size(q)]));
    }
    return work;
  }

  PairDeviceWork within(const PairRows<D>& queries, std::span<const D> radii, const ProgressCallback& progress,
                        const Take& take) const override {
    PairDeviceWork work;
    choose_tiles(queries.rows, 0, nullptr, work);
    Meter meter(progress, queries.rows * base_.count);
    const Stream stream;
    Workspace workspace(stream);
    for (std::int64_t first = 0; first < queries.rows; first += work.query_block) {
      const std::int64_t count = std::min(work.query_block, queries.rows - first);
      std::vector<Hits> found(as_size(count));
      std::vector<D> of_each;
      for (std::int64_t q = 0; q < count; ++q) of_each.push_back(radii[radii.size() == 1 ? 0 : as_size(first + q)]);
      each_tile(brought(queries, first, count, stream), workspace, work, meter,
                [&](const D* distances, std::int64_t from, std::int64_t rows, std::int64_t stride) {
                  take_within(distances, from, rows, stride, of_each, workspace, found);
                });
      for (std::int64_t q = 0; q < count; ++q) {
        Hits& hits = found[as_size(q)];
        std::sort(hits.begin(), hits.end());
        take(first + q, std::move(hits));
      }
    }
    return work;
  }

  PairDeviceWork distances(const PairRows<D>& queries, const ProgressCallback& progress, D* out) const override {
    PairDeviceWork work;
    choose_tiles(queries.rows, 0, nullptr, work);
    Meter meter(progress, queries.rows * base_.count);
    const Stream stream;
    Workspace workspace(stream);
    for (std::int64_t first = 0; first < queries.rows; first += work.query_block) {
      const std::int64_t count = std::min(work.query_block, queries.rows - first);
      each_tile(brought(queries, first, count, stream), workspace, work, meter,
                [&](const D* distances, std::int64_t from, std::int64_t rows, std::int64_t stride) {
                  KITH_CUDA(cudaMemcpy2DAsync(out + first * base_.count + from, as_size(base_.count) * sizeof(D),
                                              distances, as_size(stride) * sizeof(D), as_size(rows) * sizeof(D),
                                              as_size(count), cudaMemcpyDeviceToHost, stream));
                  stream.synchronize();
                });
    }
    return work;
  }

 private:
  static constexpr auto kBytes = static_cast<std::int64_t>(sizeof(D));

  // Fewer queries, then fewer points at a time make it fit.
  void choose_tiles(std::int64_t queries, std::int64_t k, const core::SamplePlan* sample, PairDeviceWork& work) const {
    work.budget_bytes = budget_;
    work.query_block = std::min(queries, kMostQueries);
    const std::int64_t kept = std::min(k, base_.count);
    for (;; work.query_block = (work.query_block + 1) / 2) {
      work.base_tile =
          std::min(aligned(base_.count), std::max<std::int64_t>(kPairAlignment, kTilePairs / aligned(work.query_block) /
                                                                                    kPairAlignment * kPairAlignment));
      for (;; work.base_tile = aligned(work.base_tile / 2)) {
        // A matrix and what the selection keeps beside it, or hits; lists; points.
        const std::int64_t exact = work.base_tile * (k > 0 ? 3 * kBytes : 8 + 2 * kBytes);
        const std::int64_t scored =
            sample == nullptr ? 0 : sample->samples * 3 * kBytes + sample->capacity * (4 * kBytes + 8);
        work.workspace_bytes = work.query_block * (std::max(exact, scored) + kept * 48 + 64) +
                               aligned(work.query_block) * dims_ * kBytes * 2 + (1 << 20) +
                               (sample == nullptr ? 0 : aligned(sample->samples) * dims_ * kBytes);
        if (work.workspace_bytes + base_bytes() <= budget_) return;
        if (work.base_tile <= kPairAlignment) break;
      }
      if (work.query_block == 1)
        throw Error(ErrorCode::out_of_memory, "a memory budget of " + std::to_string(budget_) +
                                                  " bytes is too small: the base and a tile take at least " +
                                                  std::to_string(work.workspace_bytes + base_bytes()) + " bytes");
    }
  }
  std::int64_t base_bytes() const { return base_.stride * dims_ * kBytes; }

  std::shared_ptr<const DevicePairs> kernels(bool scores_in_float) const {
    // A functor is the caller's; nothing owns it here.
    if (functor_ != nullptr) return {std::shared_ptr<const DevicePairs>(), functor_};
    return pairs::formula_pairs(*formula_, {sizeof(D), scores_in_float ? 4 : 8});
  }

  PairTile tile_of(const StoredPoints<D>& queries, const StoredPoints<D>& base, std::int64_t first,
                   std::int64_t count) const {
    PairTile tile;
    tile.queries = queries.values.data();
    tile.query_stride = queries.stride;
    tile.query_count = static_cast<unsigned>(queries.count);
    tile.base = base.values.data() + first;
    tile.base_stride = base.stride;
    tile.base_count = static_cast<unsigned>(count);
    tile.dims = static_cast<unsigned>(dims_);
    return tile;
  }

  static select::Rows<D> rows_of(const D* values, std::int64_t rows, std::int64_t length, std::int64_t stride) {
    select::Rows<D> made;
    made.values = values;
    made.rows = rows;
    made.length = static_cast<unsigned>(length);
    made.stride = stride;
    return made;
  }

  StoredPoints<D> sample_of(const core::SamplePlan& plan, cudaStream_t stream) const {
    StoredPoints<D> made;
    made.count = plan.samples;
    made.stride = aligned(plan.samples);
    made.values = DeviceBuffer<D>(as_size(made.stride * dims_), stream);
    KITH_CUDA(cudaMemsetAsync(made.values.data(), 0, made.values.size() * sizeof(D), stream));
    pairs::sample_points(base_.values.data(), base_.stride, plan.step, plan.samples, dims_, made.values.data(),
                         made.stride, stream);
    return made;
  }

  // Of coordinates as large as those of base and queries: none where distances are scores.
  std::optional<core::FormulaError> error_of(const StoredPoints<D>& queries) const {
    if (formula_ == nullptr || sizeof(D) == 8) return std::nullopt;
    return core::formula_error(*formula_, dims_, std::max(base_.largest, queries.largest));
  }

  // Returns the queries without a proof; `found` has the others' neighbors.
  std::vector<std::int64_t> nearest_by_scores(const StoredPoints<D>& queries, const StoredPoints<D>& sampled,
                                              const core::SamplePlan& sample, std::int64_t k, Workspace& workspace,
                                              std::vector<Hits>& found, PairDeviceWork& work) const {
    const cudaStream_t stream = workspace.stream();
    const std::optional<core::FormulaError> error = error_of(queries);
    work.scores_in_float = error.has_value();
    const auto launched = kernels(error.has_value());
    const auto launch = [&](PairWork kind, const PairTile& tile) { launched->launch(kind, sizeof(D), tile, stream); };
    workspace.reset();
    const std::int64_t count = queries.count;
    const std::int64_t width = k + kMargin;
    work.candidates = width;

    PairTile tile = tile_of(queries, sampled, 0, sampled.count);
    auto* const scores = workspace.allocate<D>(as_size(count * sampled.count));
    tile.out = scores;
    tile.out_stride = sampled.count;
    launch(PairWork::scores, tile);
    const D* const limits =
        selected(rows_of(scores, count, sampled.count, sampled.count), sample.rank, TopkOutput::kth_only, workspace)
            .values;

    auto* const values = workspace.allocate<D>(as_size(count * sample.capacity));
    auto* const ids = workspace.allocate<unsigned>(as_size(count * sample.capacity));
    auto* const counts = workspace.allocate<unsigned>(as_size(count));
    pairs::clear_lists(count, sample.capacity, values, ids, counts, stream);
    const std::int64_t most =
        std::max<std::int64_t>(kFilterPairs / aligned(count) / kPairAlignment, 1) * kPairAlignment;
    for (std::int64_t first = 0; first < base_.count; first += most) {
      tile = tile_of(queries, base_, first, std::min(most, base_.count - first));
      tile.out = values;
      tile.out_stride = sample.capacity;
      tile.limits = limits;
      tile.counts = counts;
      tile.ids = ids;
      tile.capacity = static_cast<unsigned>(sample.capacity);
      tile.first_id = static_cast<unsigned>(first);
      launch(PairWork::filter, tile);
    }
    select::Rows<D> listed = rows_of(values, count, sample.capacity, sample.capacity);
    listed.ids = ids;
    listed.id_stride = sample.capacity;
    const Selection<D> best = selected(listed, width, TopkOutput::sorted, workspace);

    auto* const chosen = workspace.allocate<unsigned>(as_size(count * width));
    auto* const keys = workspace.allocate<D>(as_size(count * width));
    narrow_ids(best.ids, count * width, chosen, stream);
    tile = tile_of(queries, base_, 0, width);
    tile.ids = chosen;
    tile.capacity = static_cast<unsigned>(base_.count);
    tile.out = keys;
    tile.out_stride = width;
    launch(PairWork::candidates, tile);
    select::Rows<D> keyed = rows_of(keys, count, width, width);
    keyed.ids = chosen;
    keyed.id_stride = width;
    const Selection<D> nearest = selected(keyed, k, TopkOutput::sorted, workspace);
    work.keys += count * width;

    const auto host_limits = taken(limits, count, stream);
    const auto host_counts = taken(counts, count, stream);
    const auto host_scores = taken(best.values, count * width, stream);
    const auto host_keys = taken(nearest.values, count * k, stream);
    const auto host_ids = taken(nearest.ids, count * k, stream);
    const ZeroSigns zeros(host_keys, keys, chosen, width, stream);
    std::vector<std::int64_t> rest;
    for (std::int64_t q = 0; q < count; ++q) {
      const std::int64_t listed_count = host_counts[as_size(q)];
      // What was left out has a score of at least this.
      const D least = listed_count >= width ? host_scores[as_size(q * width + width - 1)] : host_limits[as_size(q)];
      const bool proven = listed_count <= sample.capacity && host_keys[as_size(q * k + k - 1)] < bound(least, error);
      if (!proven) {
        rest.push_back(q);
        continue;
      }
      for (std::int64_t i = 0; i < k; ++i)
        found[as_size(q)].push_back(zeros.of(q, {host_keys[as_size(q * k + i)], host_ids[as_size(q * k + i)]}));
    }
    return rest;
  }

  // The selection from lists with ids returns 0 for −0, which a formula may be; the keys it was given say which.
  class ZeroSigns {
   public:
    ZeroSigns(const std::vector<D>& found, const D* keys, const unsigned* ids, std::int64_t width, cudaStream_t stream)
        : width_(width) {
      if (std::find(found.begin(), found.end(), D{0}) == found.end()) return;
      const std::int64_t places = std::ssize(found) / (width - kMargin) * width;
      keys_ = taken(keys, places, stream);
      ids_ = taken(ids, places, stream);
    }
    core::Hit<D> of(std::int64_t query, core::Hit<D> hit) const {
      for (std::int64_t i = query * width_; hit.key == 0 && i < (query + 1) * width_; ++i)
        if (ids_[as_size(i)] == hit.id) return {keys_[as_size(i)], hit.id};
      return hit;
    }

   private:
    std::int64_t width_;
    std::vector<D> keys_;
    std::vector<unsigned> ids_;
  };

  // What the distance of a point with at least this score, rounded, is not below.
  static D bound(D score, const std::optional<core::FormulaError>& error) {
    if (!error) return score;
    const double least = core::distance_above(static_cast<float>(score), *error);
    const auto rounded = static_cast<D>(least);
    return std::nextafter(rounded, -std::numeric_limits<D>::infinity());
  }

  // The queries of a block that are listed, which starts at query `first`, among all points.
  void nearest_exactly(const PairRows<D>& queries, std::int64_t first, const StoredPoints<D>& block,
                       const std::vector<std::int64_t>& rest, std::int64_t k, Workspace& workspace,
                       std::vector<Hits>& found, PairDeviceWork& work, Meter& meter) const {
    const bool all = std::ssize(rest) == block.count;
    StoredPoints<D> some;
    if (!all) {
      PairRows<D> chosen;
      chosen.rows = std::ssize(rest);
      chosen.dims = dims_;
      chosen.copy = [&](std::int64_t from, std::int64_t count, D* out) {
        for (std::int64_t i = 0; i < count; ++i) queries.copy(first + rest[as_size(from + i)], 1, out + i * dims_);
      };
      some = brought(chosen, 0, chosen.rows, workspace.stream());
    }
    work.exact_queries += std::ssize(rest);
    each_tile(all ? block : some, workspace, work, meter,
              [&](const D* distances, std::int64_t from, std::int64_t rows, std::int64_t stride) {
                take_nearest(distances, from, rows, stride, rest, k, workspace, found);
              });
  }

  // Calls use(distances, first row, rows, stride) for each tile of the base.
  template <class Use>
  void each_tile(const StoredPoints<D>& queries, Workspace& workspace, PairDeviceWork& work, Meter& meter,
                 Use use) const {
    const auto launched = kernels(work.scores_in_float);
    for (std::int64_t first = 0; first < base_.count; first += work.base_tile) {
      const std::int64_t rows = std::min(work.base_tile, base_.count - first);
      workspace.reset();
      PairTile tile = tile_of(queries, base_, first, rows);
      auto* const distances = workspace.allocate<D>(as_size(queries.count * rows));
      tile.out = distances;
      tile.out_stride = rows;
      launched->launch(PairWork::keys, sizeof(D), tile, workspace.stream());
      use(distances, first, rows, rows);
      work.keys += queries.count * rows;
      meter.add(queries.count * rows);
    }
  }

  // The k smallest distances of each query, merged into the hits of earlier tiles.
  static void take_nearest(const D* distances, std::int64_t first, std::int64_t rows, std::int64_t stride,
                           const std::vector<std::int64_t>& queries, std::int64_t most, Workspace& workspace,
                           std::vector<Hits>& found) {
    const std::int64_t k = std::min(most, rows);
    const std::int64_t count = std::ssize(queries);
    const Selection<D> best = selected(rows_of(distances, count, rows, stride), k, TopkOutput::sorted, workspace);
    const auto values = taken(best.values, count * k, workspace.stream());
    const auto ids = taken(best.ids, count * k, workspace.stream());
    for (std::int64_t q = 0; q < count; ++q) {
      Hits& hits = found[as_size(queries[as_size(q)])];
      const auto middle = std::ssize(hits);
      for (std::int64_t i = 0; i < k; ++i)
        hits.push_back({values[as_size(q * k + i)], first + ids[as_size(q * k + i)]});
      std::inplace_merge(hits.begin(), hits.begin() + middle, hits.end());
      if (std::ssize(hits) > most) hits.resize(as_size(most));
    }
  }

  // Adds the rows of a tile that are within.
  static void take_within(const D* distances, std::int64_t first, std::int64_t rows, std::int64_t stride,
                          const std::vector<D>& radii, Workspace& workspace, std::vector<Hits>& found) {
    const cudaStream_t stream = workspace.stream();
    const auto queries = std::ssize(radii);
    auto* const limits = workspace.allocate<D>(radii.size());
    auto* const hits = workspace.allocate<pairs::WithinHit<D>>(as_size(queries * rows));
    auto* const count = workspace.allocate<unsigned long long>(1);
    KITH_CUDA(cudaMemcpyAsync(limits, radii.data(), radii.size() * sizeof(D), cudaMemcpyHostToDevice, stream));
    KITH_CUDA(cudaMemsetAsync(count, 0, sizeof(unsigned long long), stream));
    pairs::append_within(distances, queries, rows, stride, limits, hits, count, stream);
    const auto within = static_cast<std::int64_t>(taken(count, 1, stream)[0]);
    if (within == 0) return;
    for (const pairs::WithinHit<D>& hit : taken(hits, within, stream))
      found[hit.query].push_back({hit.distance, first + hit.row});
  }

  const core::Expression* formula_;
  const DevicePairs* functor_;
  std::int64_t dims_;
  std::int64_t budget_;
  Stream stream_;
  StoredPoints<D> base_;
};

}  // namespace

std::string formula_obstacle() {
#if defined(KITH_IS_EMULATED)
  return "";
#else
  return pairs::nvrtc_obstacle();
#endif
}

template <class D>
std::unique_ptr<backend::BackendPairIndex<D>> make_pair_index(const backend::PairIndexRequest<D>& request) {
  if (request.formula != nullptr && !formula_obstacle().empty())
    throw Error(ErrorCode::no_device, "formulas are compiled for a device when they are used: " + formula_obstacle());
  return std::make_unique<DevicePairIndex<D>>(request);
}

template std::unique_ptr<backend::BackendPairIndex<float>> make_pair_index(const backend::PairIndexRequest<float>&);
template std::unique_ptr<backend::BackendPairIndex<double>> make_pair_index(const backend::PairIndexRequest<double>&);

}  // namespace kith::KITH_BACKEND
