// pass_search.hpp: one pass: all queries against tiles of the base, one after the other or alternating on two streams.
// A tile gives each query candidates by their scores, and the least score that was left out, for the certificate;
// candidates get exact keys, and keys join the query's list.
#pragma once

#include <algorithm>
#include <optional>

#include "cuda/brute/brute_search.hpp"
#include "cuda/brute/candidates.hpp"
#include "cuda/brute/fused_candidates.hpp"
#include "cuda/brute/rerank.hpp"
#include "cuda/brute/scan_candidates.hpp"
#include "cuda/brute/tensor_candidates.hpp"
#include "cuda/brute/wanted_bias.hpp"
#include "cuda/distance/exact_keys.hpp"
#include "cuda/primitives/move_rows.hpp"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/stream_pair.hpp"
#include "cuda/select/select.hpp"
#include "cuda/tensor/tensor_rows.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::brute {

template <class F>
void compute_scores(DistanceStage stage, const distance::ScoreCall<F>& call) {
  switch (stage) {
    case DistanceStage::direct: return distance::direct_scores(call);
    case DistanceStage::tiled: return distance::tiled_scores(call);
    case DistanceStage::register_tiled: return distance::register_tiled_scores(call);
    case DistanceStage::gemm: return distance::gemm_scores(call);
    case DistanceStage::automatic:
    case DistanceStage::fp16:
    case DistanceStage::split_fp16:
    case DistanceStage::int8:
    case DistanceStage::bf16:
    case DistanceStage::exact: break;
  }
  throw Error(ErrorCode::internal, "a stage without a matrix of scores in working precision");
}

// The queries of one pass and their lists.
template <class F>
struct PassState {
  const PointStore<F>& queries;
  RunningLists<F> lists;
  F* left_out;
  unsigned* failed_count;
  const Fp16Store* fp16;   // the queries in fp16; null where the stage needs none
  const ByteStore* bytes;  // the queries as bytes; the same
  const F* limits;         // of scores, one a query, where the pass is bounded
};

template <class F>
class PassSearch {
 public:
  // Large tiles alternate on `streams`, which the first of them creates.
  PassSearch(const BruteWork& work, const Pass& pass, const PassState<F>& state, Workspace& workspace,
             std::optional<StreamPair>& streams)
      : work_(work),
        pass_(pass),
        state_(state),
        workspace_(&workspace),
        streams_(streams),
        query_tile_(work.query_tile) {}

  // Searches one tile of the base for all queries.
  void search_tile(const BaseTile<F>& base, const std::function<void()>& on_tile_done) {
    if (state_.queries.count() <= query_tile_ || query_tile_ * base.count < work_.overlap_pairs) {
      if (streams_) streams_->clear();  // both share the budget
      search_query_tiles(base, on_tile_done);
    } else {
      search_on_two_streams(base, on_tile_done);
    }
    state_.lists.count = joined(width_of(base));
  }

  std::int64_t keys() const { return keys_; }

  // Whether the first tile sets left_out and failed_count; else they have values before.
  bool sets_left_out() const { return scans() || uses_tensor_filter(); }

 private:
  using Selected = BestRows<F>;

  void search_on_two_streams(const BaseTile<F>& base, const std::function<void()>& on_tile_done) {
    Workspace& own = *workspace_;
    if (!streams_) streams_.emplace(own.budget());
    own.clear();
    streams_->start_after(own.stream());
    workspace_ = &streams_->next();
    try {
      search_query_tiles(base, [&] {
        streams_->tile_is_enqueued();
        on_tile_done();
        workspace_ = &streams_->next();
      });
    } catch (...) {
      streams_->wait();  // the caller may free what they write to
      workspace_ = &own;
      throw;
    }
    streams_->finish_before(own.stream());
    workspace_ = &own;
  }

  // Calls tile_done() after each tile of queries; tiles shrink where memory does not suffice.
  void search_query_tiles(const BaseTile<F>& base, const std::function<void()>& tile_done) {
    for (std::int64_t first = 0; first < state_.queries.count();) {
      const std::int64_t count = std::min(query_tile_, state_.queries.count() - first);
      workspace_->reset();
      try {
        search_query_tile(base, first, count);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory || count == 1) throw;
        query_tile_ = count / 2;
        workspace_->clear();
        continue;
      }
      first += count;
      tile_done();
    }
  }

  bool exact() const { return pass_.distance == DistanceStage::exact; }
  std::int64_t width_of(const BaseTile<F>& base) const {
    return std::min(exact() ? work_.k : work_.candidates, base.count);
  }
  std::int64_t joined(std::int64_t width) const { return std::min(work_.k, state_.lists.count + width); }

  Selected select(const select::Rows<F>& rows, std::int64_t k) {
    Selected selected{workspace_->allocate<F>(as_size(rows.rows * k)),
                      workspace_->allocate<std::int64_t>(as_size(rows.rows * k))};
    const select::Output<F> output{selected.values, selected.columns, static_cast<unsigned>(k), TopkOutput::sorted,
                                   rows};
    select::select_rows(select::SelectCall<F>{rows, output, tuning_, *workspace_}, work_.select);
    return selected;
  }

  // Whether the pass tests products of tensor cores as they are computed.
  bool uses_tensor_filter() const {
    const bool bytes = pass_.distance == DistanceStage::int8;
    const bool rounded = pass_.distance == DistanceStage::fp16 || pass_.distance == DistanceStage::split_fp16;
    return pass_.fused && (bytes || rounded) &&
           tensor::has_tensor_filter(bytes ? tensor::Element::uint8 : tensor::Element::fp16, state_.queries.dims()) &&
           can_rerank(work_.k, pass_.bounded ? core::bounded_capacity(work_.k) : work_.candidates);
  }

  // Whether the queries are so few that one reading of the tile has the candidates of all. Limits are not its own, so
  // bounded passes are not.
  bool scans() const {
    const bool bytes = pass_.distance == DistanceStage::int8;
    const std::int64_t dims = state_.queries.dims();
    return pass_.fused && !pass_.bounded && (bytes || pass_.distance == DistanceStage::fp16) &&
           core::can_scan(
               state_.queries.count(), work_.candidates,
               bytes ? byte_row_bytes(dims) : tensor::element_bytes(tensor::Element::fp16) * fp16_stride(dims),
               device_policy().hardware) &&
           can_rerank(work_.k, work_.candidates);
  }

  bool is_base(const BaseTile<F>& base) const {
    return &state_.queries == base.store || &state_.queries == base.widened;
  }

  tensor::TensorProduct product_with(const BaseTile<F>& base, std::int64_t first, std::int64_t count) const {
    if constexpr (std::is_same_v<F, float>) {
      if (state_.bytes != nullptr)
        return tensor::byte_product(state_.bytes->rows(first, count), base.bytes->rows(base.first, base.count),
                                    pass_.expanded ? base.store->bias(base.first) : nullptr);
    }
    tensor::TensorProduct product = tensor::fp16_product(
        state_.fp16->rows(first, count), base.fp16->rows(base.first, base.count), base.fp16->bias(base.first));
    // Without one the product has another factor.
    if (work_.wanted != nullptr) product.bias = bias_of_wanted_in(base);
    return product;
  }

  const float* bias_of_wanted_in(const BaseTile<F>& base) const {
    const float* const all = base.fp16->bias(base.first);
    float* const bias = workspace_->allocate<float>(as_size(base.count));
    bias_of_wanted({all, work_.wanted, base.first_id, base.count}, bias, workspace_->stream());
    return bias;
  }

  // Candidates of queries first … first + count − 1 by products that are not stored.
  distance::CandidateLists<float> product_candidates(const BaseTile<F>& base, std::int64_t first, std::int64_t count,
                                                     std::int64_t width) {
    const tensor::TensorProduct product = product_with(base, first, count);
    if (scans()) return scan_candidates({.product = product, .width = width, .workspace = *workspace_});
    const core::SamplePlan sample =
        pass_.bounded ? core::SamplePlan{} : core::plan_grouped_sample(base.count, width, base.store->dims());
    return tensor_candidates(
        {.product = product,
         .sample = sample,
         .limits = pass_.bounded ? state_.limits + first : nullptr,
         .capacity = pass_.bounded ? width : sample.capacity,
         .select = work_.select,
         .workspace = *workspace_,
         .mirrored = work_.wanted == nullptr && is_base(base) && count == base.store->count() && count == base.count});
  }

  void search_by_products(const BaseTile<F>& base, std::int64_t first, std::int64_t count,
                          const distance::KeyCall<F>& keys) {
    if constexpr (std::is_same_v<F, float>) {
      const std::int64_t most = std::min(core::bounded_capacity(work_.k), base.count);
      const std::int64_t width = pass_.bounded ? most : width_of(base);
      rerank({.keys = keys,
              .lists = product_candidates(base, first, count, width),
              .width = width,
              .bounded = pass_.bounded,
              .running = lists_from(first),
              .first = state_.lists.count == 0,
              .failed_count = state_.failed_count,
              .first_id = static_cast<unsigned>(base.first_id),
              .left_out = state_.left_out + first});
      keys_ += count * std::min(width, work_.candidates);
    }
  }

  // Searches the tile for queries first … first + count − 1. Lists are written last, so that running out of memory
  // before leaves them as they were.
  void search_query_tile(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    const std::int64_t width = width_of(base);
    const distance::KeyCall<F> keys{state_.queries.exact(first, count), base.store->exact(base.first, base.count),
                                    base.store->dims(), work_.metric, workspace_->stream()};
    if (scans() || uses_tensor_filter()) return search_by_products(base, first, count, keys);
    TileCandidates<F> candidates;
    candidates.count = width;
    candidates.first_id = static_cast<unsigned>(base.first_id);
    if (exact()) {
      F* matrix = workspace_->allocate<F>(as_size(count * stride_of(base)));
      distance::all_keys(keys, matrix, stride_of(base));
      const Selected selected = select(rows_of(matrix, count, base.count, stride_of(base)), width);
      if (state_.lists.count == 0 && base.first_id == 0) {  // they become the lists
        keys_ += count * base.count;
        return store_lists(selected, first, count, width);
      }
      candidates.keys = selected.values;
      candidates.columns = selected.columns;
      keys_ += count * base.count;
    } else {
      const Selected selected = pass_.distance == DistanceStage::fp16 ? best_fp16_scores(base, first, count)
                                                                      : best_scores(base, first, count);
      if (width < base.count)
        note_left_out(selected.values, width, count, state_.left_out + first, workspace_->stream());
      unsigned* columns = workspace_->allocate<unsigned>(as_size(count * width));
      F* found = workspace_->allocate<F>(as_size(count * width));
      narrow_ids(selected.columns, count * width, columns, workspace_->stream());
      distance::candidate_keys(keys, columns, width, found);
      candidates.keys = found;
      candidates.columns = selected.columns;
      keys_ += count * width;
    }
    join(candidates, first, count);
  }

  static select::Rows<F> rows_of(const F* matrix, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    select::Rows<F> all;
    all.values = matrix;
    all.rows = rows;
    all.length = static_cast<unsigned>(columns);
    all.stride = stride;
    return all;
  }

  static std::int64_t stride_of(const BaseTile<F>& base) {
    return ceil_div(base.count, distance::kRowAlignment) * distance::kRowAlignment;
  }

  // The candidates that get keys: from a matrix of scores, which compute(call) fills, or from those that pass a limit.
  template <class Call, class Compute>
  Selected best_of(Call call, const BaseTile<F>& base, std::int64_t first, std::int64_t count, Compute compute) {
    const std::int64_t width = width_of(base);
    if (pass_.fused) return fused_candidates(call, {width, work_.select}, state_.left_out + first);
    call.scores = workspace_->allocate<F>(as_size(count * stride_of(base)));
    compute(call);
    return select(rows_of(call.scores, count, base.count, stride_of(base)), width);
  }

  Selected best_scores(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    const distance::ScoreCall<F> call{state_.queries.working(first, count),
                                      base.store->working(base.first, base.count),
                                      base.store->dims(),
                                      core::form_of(work_.metric),
                                      work_.metric.p,
                                      pass_.expanded ? base.store->bias(base.first) : nullptr,
                                      nullptr,
                                      stride_of(base),
                                      *workspace_};
    return best_of(call, base, first, count, [&](const auto& with_room) { compute_scores(pass_.distance, with_room); });
  }

  // best_scores() for points rounded to fp16.
  Selected best_fp16_scores(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    if constexpr (std::is_same_v<F, float>) {
      const float* const all = base.fp16->bias(base.first);
      const bool squares = all != nullptr;  // else scores have none
      const distance::Fp16ScoreCall call{state_.fp16->rows(first, count),
                                         base.fp16->rows(base.first, base.count),
                                         squares && work_.wanted != nullptr ? bias_of_wanted_in(base) : all,
                                         nullptr,
                                         stride_of(base),
                                         *workspace_};
      return best_of(call, base, first, count, distance::fp16_gemm_scores);
    } else {
      throw Error(ErrorCode::internal, "doubles are not rounded to fp16");
    }
  }

  RunningLists<F> lists_from(std::int64_t first) const {
    RunningLists<F> lists = state_.lists;
    lists.keys += first * lists.k;
    lists.ids += first * lists.k;
    return lists;
  }

  void store_lists(const Selected& selected, std::int64_t first, std::int64_t count, std::int64_t width) {
    RunningLists<F> lists = lists_from(first);
    lists.count = width;
    keep_lists(selected.values, selected.columns, count, lists, workspace_->stream());
  }

  void join(const TileCandidates<F>& candidates, std::int64_t first, std::int64_t count) {
    const RunningLists<F> lists = lists_from(first);
    const std::int64_t width = lists.count + candidates.count;
    F* keys = workspace_->allocate<F>(as_size(count * width));
    unsigned* ids = workspace_->allocate<unsigned>(as_size(count * width));
    join_lists(lists, candidates, count, keys, ids, workspace_->stream());
    select::Rows<F> rows = rows_of(keys, count, width, width);
    rows.ids = ids;
    rows.id_stride = width;
    const std::int64_t list_length = joined(candidates.count);
    store_lists(select(rows, list_length), first, count, list_length);
  }

  const BruteWork& work_;
  Pass pass_;
  PassState<F> state_;
  Workspace* workspace_;  // of the current tile
  std::optional<StreamPair>& streams_;
  SelectTuning tuning_;
  std::int64_t query_tile_;
  std::int64_t keys_ = 0;
};

}  // namespace kith::KITH_BACKEND::brute
