// device_memory.cpp: a function for every buffer, with the size that the code of its name gives it, and one for every
// method that adds up those that are there at the same time.
// Idea    a workspace frees, in the stream's order, what a round of other sizes does not reuse, so that the peak is the
//         largest round; a stream pair has two of them.
// Limits  CUB's storage and cuBLASLt's workspace are left out: megabytes at most.
#include "plan/device_memory.hpp"

#include <algorithm>

#include "core/curve.hpp"
#include "core/key.hpp"
#include "core/sample_plan.hpp"
#include "core/sizes.hpp"
#include "core/tensor_tiles.hpp"
#include "plan/device_costs.hpp"
#include "plan/select.hpp"

namespace kith::plan {
namespace {

// Whether a pass takes points that stay as they are stored.
bool reads_stored_rows(DistanceStage stage) {
  return stage == DistanceStage::fp16 || stage == DistanceStage::split_fp16 || stage == DistanceStage::int8;
}

std::int64_t round_up(std::int64_t count, std::int64_t unit) {
  return (count + unit - 1) / unit * unit;
}

class PeakBytes {
 public:
  PeakBytes(const Plan& plan, const IndexFacts& index, bool resident, const core::DevicePolicy& policy)
      : plan_(plan),
        problem_(searched(plan)),
        policy_(policy),
        element_(core::element_bytes(plan.problem)),
        key_(element_ == 8 ? 16 : 8),
        form_(core::form_of(plan.metric)),
        brings_queries_(index.brings_queries),
        brings_answers_(index.brings_answers),
        resident_(resident),
        narrow_(index.narrow),
        budget_(plan.workspace_bytes) {}

  std::int64_t brute() {
    const bool rounded = plan_.distance == DistanceStage::fp16 || plan_.distance == DistanceStage::split_fp16;
    const bool bias = form_ == core::Form::squared && plan_.distance != DistanceStage::exact && !rounded;
    const Plan::Pass pass{plan_.distance, plan_.expanded, plan_.method == Method::fused};
    return queries(bias) + running_lists() + streamed_base(pass) + widened_tile(pass) + tiles_and_answers(pass);
  }

  // The first tile of queries and the first list of pairs, which grows where more are found.
  std::int64_t radius() const {
    const std::int64_t tile = std::min(plan_.query_block, std::max<std::int64_t>(256, problem_.queries / 8));
    const std::int64_t pairs = std::min(plan_.query_block * plan_.candidates, std::int64_t{1} << 20);
    const std::int64_t labeled = 2 * (element_ + 8);
    const std::int64_t list = pairs * (8 + element_ + labeled);
    const bool rounded = plan_.distance == DistanceStage::fp16;
    const Plan::Pass pass{plan_.distance, plan_.expanded, true};
    return queries(form_ == core::Form::squared) + problem_.queries * element_ + streamed_base(pass) +
           widened_tile(pass) + tile * (element_ + 4) + list +
           (rounded ? fp16_points(problem_.queries, false) : panels(tile, plan_.base_tile));
  }

  std::int64_t triangle() const {
    const std::int64_t clusters = query_clusters(plan_.query_block);
    const std::int64_t making = std::max(assignment(plan_.query_block), sorted_members(plan_.query_block));
    return queries(false) + running_lists() +
           std::max(clusters + std::max(making, candidate_clusters()), candidate_clusters() + answers());
  }

  // Hits of a radius search, which nobody can foresee, are left out.
  std::int64_t tree() const {
    constexpr std::int64_t kCountedQuery = 4 + 8;  // how many hits it has, and where they are
    const std::int64_t batch = plan_.problem.self ? 0 : plan_.query_block;
    const std::int64_t ordered = batch * (batch < core::TreeLimits::kFewestOrdered ? 4 : 2 * (8 + 4));
    const bool lists_hits = plan_.select == SelectMethod::radius;
    const std::int64_t counts = plan_.query_block * kCountedQuery;
    return queries(false) + ordered + (lists_hits ? problem_.queries * element_ + counts : running_lists() + answers());
  }

  std::int64_t shifted_sort() const {
    const std::int64_t batch = plan_.query_block;
    const std::int64_t positions = batch * plan_.shifted_sort.shifts * 4;
    const bool joint = plan_.shifted_sort.positions == CurvePositions::sort;
    const std::int64_t lists = plan_.shifted_sort.merge == CurveMerge::global_memory ? batch * problem_.k * key_ : 0;
    const std::int64_t flags = plan_.shifted_sort.certify && brings_answers_ ? problem_.queries : 0;
    return queries(false) + answers() + flags + curve_points(batch) + positions +
           std::max(lists, joint ? joint_orders(batch) : 0);
  }

 private:
  // Distinct rows stand for all points, where the plan has them.
  static Problem searched(const Plan& plan) {
    Problem problem = plan.problem;
    if (plan.distinct_rows > 0) problem.base_rows = plan.distinct_rows;
    problem.k = std::min(problem.k, problem.base_rows);
    return problem;
  }

  // PointStore, of points that are brought or lie there.
  std::int64_t points(std::int64_t count, bool bias, bool brought = true) const {
    const int copies = (brought ? 1 : 0) + (core::has_directions(plan_.metric) ? 1 : 0);
    std::int64_t each = problem_.dims * element_ * copies;
    if (bias || form_ == core::Form::dot) each += 8;
    if (bias) each += element_;
    if (plan_.metric.kind == MetricKind::correlation) each += 8;
    return count * each;
  }

  // The base's own where they are the base.
  std::int64_t queries(bool bias) const {
    return plan_.problem.self ? 0 : points(problem_.queries, bias, brings_queries_);
  }

  // Fp16Store.
  std::int64_t fp16_points(std::int64_t count, bool bias) const {
    constexpr std::int64_t kNorms = 40;
    return count * (2 * round_up(problem_.dims, 8) + kNorms + (bias ? 4 : 0));
  }

  // Keys and numbers of the neighbors found so far.
  std::int64_t running_lists() const { return problem_.queries * problem_.k * (element_ + 4); }

  // Distances and ids for memory of the host.
  std::int64_t answers() const { return brings_answers_ ? problem_.queries * plan_.problem.k * (element_ + 8) : 0; }

  // Answers; before, the lists of distinct rows become lists of points.
  std::int64_t answer_bytes() const {
    if (plan_.distinct_rows == 0) return answers();
    const std::int64_t expanded = problem_.queries * plan_.problem.k * (element_ + 4);
    return expanded + std::max<std::int64_t>(0, answers() - running_lists());
  }

  // Two slots, of points and of what the pass needs of them.
  std::int64_t streamed_base(const Plan::Pass& pass) const {
    if (resident_) return 0;
    const std::int64_t slot = points(plan_.base_tile, form_ == core::Form::squared);
    const bool rounded = pass.distance == DistanceStage::fp16;
    return 2 * (slot + (rounded ? fp16_points(plan_.base_tile, form_ == core::Form::squared) : 0));
  }

  // Of points that stay as they are stored, for passes that read floats.
  std::int64_t widened_tile(const Plan::Pass& pass) const {
    if (!narrow_ || plan_.distinct_rows > 0 || reads_stored_rows(pass.distance)) return 0;
    const std::int64_t room = core::kWidenedTileBytes / (problem_.dims * element_);
    return points(std::clamp<std::int64_t>(room, 1, plan_.base_tile), form_ == core::Form::squared);
  }

  // Of all queries during a pass: least scores left out, failures, queries in fp16.
  std::int64_t pass_bytes(const Plan::Pass& pass) const {
    if (pass.distance == DistanceStage::exact) return 0;
    std::int64_t points = 0;
    if (pass.distance == DistanceStage::fp16) points = fp16_points(problem_.queries, false);
    if (pass.distance == DistanceStage::split_fp16)
      points = fp16_points(problem_.queries, false) + problem_.queries * 2 * round_up(problem_.dims, 8);
    if (pass.distance == DistanceStage::int8) points = problem_.queries * round_up(problem_.dims, 16);
    return problem_.queries * (element_ + 4) + points;
  }

  // The workspace of a tile, beside which the answers are made; two of them, which go before, where tiles overlap.
  std::int64_t tiles_and_answers(const Plan::Pass& pass) {
    const std::int64_t queries = std::min(plan_.query_block, problem_.queries);
    const bool overlap = problem_.queries > queries && queries * plan_.base_tile >= policy_.overlap_pairs;
    if (overlap) budget_ = plan_.workspace_bytes / 2;
    const bool joins = plan_.base_tile < problem_.base_rows;
    const std::int64_t tile = pass.fused                              ? fused_tile(pass, queries)
                              : pass.distance == DistanceStage::exact ? exact_tile(queries, joins)
                                                                      : scored_tile(pass, queries);
    return overlap ? std::max(2 * tile + pass_bytes(pass), answer_bytes())
                   : tile + std::max(pass_bytes(pass), answer_bytes());
  }

  std::int64_t candidates() const { return std::min(plan_.candidates, plan_.base_tile); }

  std::int64_t exact_tile(std::int64_t queries, bool joins) const {
    const std::int64_t width = std::min(problem_.k, plan_.base_tile);
    return score_matrix(queries, plan_.base_tile) + selection(queries, plan_.base_tile, width) +
           (joins ? joined_lists(queries, width) : 0);
  }

  std::int64_t scored_tile(const Plan::Pass& pass, std::int64_t queries) const {
    const bool turned = pass.distance == DistanceStage::register_tiled;
    return score_matrix(queries, plan_.base_tile) + (turned ? panels(queries, plan_.base_tile) : 0) +
           selection(queries, plan_.base_tile, candidates()) + candidate_keys(queries) +
           joined_lists(queries, candidates());
  }

  // Limits, the best scores of a sample's groups, and lists, which become neighbors where they lie.
  std::int64_t tensor_tile(std::int64_t queries) const {
    const core::SamplePlan sample = core::plan_grouped_sample(plan_.base_tile, candidates(), plan_.problem.dims);
    std::int64_t bytes = queries * element_ + candidate_lists(queries, sample);
    if (sample.rank > 0) {
      const std::int64_t groups = core::kTensorTilePoints * core::sample_parts(queries, sample.samples, sample.rank,
                                                                               policy_.hardware.multiprocessors);
      bytes += queries * groups * element_ + select_scratch(queries, groups, sample.rank, TopkOutput::kth_only);
    }
    return bytes;
  }

  // What blocks list, each `candidates` a query.
  std::int64_t scanned_lists(const Plan::Pass& pass, std::int64_t queries) const {
    Problem tile = problem_;
    tile.base_rows = plan_.base_tile;
    tile.queries = queries;
    const core::ScanPlan scan = scan_plan(pass.distance, tile, policy_.hardware);
    return queries * (scan.blocks * candidates() * (element_ + 4) + 4);
  }

  std::int64_t fused_tile(const Plan::Pass& pass, std::int64_t queries) const {
    if (scans(pass.distance, problem_, plan_.candidates, policy_.hardware)) return scanned_lists(pass, queries);
    if (tests_products(pass.distance, policy_.hardware)) return tensor_tile(queries);
    const core::SamplePlan sample = core::plan_sample(plan_.base_tile, candidates());
    const bool turned = pass.distance == DistanceStage::register_tiled;
    std::int64_t bytes = queries * element_ + candidate_lists(queries, sample);
    if (sample.rank > 0)
      bytes += sample_scores(queries, sample) + (pass.expanded ? sample.samples * element_ : 0) +
               (turned ? panels(queries, sample.samples) : 0);
    if (turned) bytes += panels(queries, plan_.base_tile);
    return bytes + selection(queries, sample.capacity, candidates()) + candidate_keys(queries) +
           joined_lists(queries, candidates());
  }

  std::int64_t score_matrix(std::int64_t queries, std::int64_t points) const {
    constexpr std::int64_t kRowAlignment = 32;
    return queries * round_up(points, kRowAlignment) * element_;
  }

  // Scores of a fused pass's sample, and what finds the limit among them.
  std::int64_t sample_scores(std::int64_t queries, const core::SamplePlan& sample) const {
    return score_matrix(queries, sample.samples) +
           select_scratch(queries, sample.samples, sample.rank, TopkOutput::kth_only);
  }

  // Scores, ids and counts of the points that pass a query's limit.
  std::int64_t candidate_lists(std::int64_t queries, const core::SamplePlan& sample) const {
    return queries * (sample.capacity * (element_ + 4) + 4);
  }

  // The points whose keys are computed, and their keys.
  std::int64_t candidate_keys(std::int64_t queries) const { return queries * candidates() * (element_ + 4); }

  // Lists with the candidates behind them, and the best of both.
  std::int64_t joined_lists(std::int64_t queries, std::int64_t width) const {
    const bool later = plan_.base_tile < problem_.base_rows;
    const std::int64_t length = width + (later ? std::min(problem_.k, plan_.base_tile) : 0);
    return queries * length * (element_ + 4) + selection(queries, length, std::min(problem_.k, length));
  }

  // Sorted values and columns, and what finds them.
  std::int64_t selection(std::int64_t rows, std::int64_t length, std::int64_t k) const {
    return rows * k * (element_ + 8) + select_scratch(rows, length, k, TopkOutput::sorted);
  }

  std::int64_t select_scratch(std::int64_t rows, std::int64_t length, std::int64_t k, TopkOutput output) const {
    const bool automatic = plan_.select == SelectMethod::automatic;
    const SelectMethod method = automatic ? choose_select(rows, length, k, output, policy_) : plan_.select;
    return method == SelectMethod::threshold_filter ? threshold_scratch(rows, length, k) : rows * k * key_;
  }

  // ThresholdState, and the second copy of candidates in buckets.
  std::int64_t threshold_scratch(std::int64_t rows, std::int64_t length, std::int64_t k) const {
    constexpr std::int64_t kHandedOn = 8;  // samples of each part
    const core::ThresholdPlan plan = plan_threshold(rows, static_cast<unsigned>(length), static_cast<unsigned>(k),
                                                    static_cast<unsigned>(element_), policy_);
    const std::int64_t buckets = plan.buckets;
    if (buckets == 1 && (plan.samples == 0 || plan.whole_rows)) return 0;
    std::int64_t each = key_ + 4 + plan.capacity * key_ * (buckets > 1 ? 2 : 1);
    if (buckets > 1) each += (buckets - 1) * key_ + 8 * buckets;
    if (plan.parts > 1) each += plan.parts * kHandedOn * key_ + 4;
    return rows * each;
  }

  // Queries turned for tiles in registers, and the part of the points that is turned at a time.
  std::int64_t panels(std::int64_t queries, std::int64_t points) const {
    constexpr std::int64_t kManyDims = 16;
    const std::int64_t unit = 512 / element_;  // points of a tile
    if (problem_.dims <= kManyDims || queries <= 3 * unit) return 0;
    const std::int64_t panel = unit * problem_.dims * element_;
    const std::int64_t of_queries = round_up(queries, unit) / unit * panel;
    const std::int64_t room = std::min(budget_ / 8 - of_queries, policy_.panel_bytes);
    if (room < panel) return 0;
    return of_queries + std::min(room / panel, round_up(points, unit) / unit) * panel;
  }

  // Rows padded to four coordinates.
  std::int64_t cluster_row() const { return round_up(problem_.dims, 4) * element_; }

  // Clusters.
  std::int64_t query_clusters(std::int64_t queries) const {
    return queries * (cluster_row() + 16) + plan_.triangle.query_landmarks * (cluster_row() + 12);
  }

  // Distances of queries to the centers of their clusters, stored where rows do not fit into registers.
  std::int64_t assignment(std::int64_t queries) const {
    const std::int64_t width = round_up(problem_.dims, 4);
    if (form_ == core::Form::squared && width <= 8) return 0;
    const std::int64_t row = score_matrix(1, plan_.triangle.query_landmarks);
    const std::int64_t scores = std::min(plan_.workspace_bytes / 4, (std::int64_t{1} << 26) * element_);
    const std::int64_t tile = std::clamp<std::int64_t>(scores / row, 1, queries);
    return tile * row + panels(tile, plan_.triangle.query_landmarks);
  }

  // Distances and sort keys of members, and the keys' second buffer.
  static std::int64_t sorted_members(std::int64_t queries) { return queries * (8 + 16 + 16); }

  // Level 1: a row of base clusters for each query cluster, in parts that fit a quarter of the workspace.
  std::int64_t candidate_clusters() const {
    const std::int64_t row = plan_.triangle.base_landmarks * 12 + 12;
    const std::int64_t part = std::max<std::int64_t>(1, plan_.workspace_bytes / 4 / row);
    return std::min(part, plan_.triangle.query_landmarks) * row;
  }

  std::int64_t curve_point() const { return (problem_.dims <= 3 ? 4 : problem_.dims <= 7 ? 8 : 20) * element_; }
  // A code and an id, twice while they are sorted.
  std::int64_t sorted_code() const { return 2 * (8 * core::code_shape(static_cast<int>(problem_.dims)).words + 4); }

  // Queries in the order of a curve.
  std::int64_t curve_points(std::int64_t queries) const { return queries * (sorted_code() + curve_point()); }

  // The base in all orders, and codes, ids and counts of points and queries in one.
  std::int64_t joint_orders(std::int64_t queries) const {
    return problem_.base_rows * plan_.shifted_sort.shifts * curve_point() +
           (problem_.base_rows + queries) * (sorted_code() + 4);
  }

  const Plan& plan_;
  Problem problem_;  // that is searched
  const core::DevicePolicy& policy_;
  std::int64_t element_;  // bytes of a value
  std::int64_t key_;      // bytes of a value with its number
  core::Form form_;
  bool brings_queries_;
  bool brings_answers_;
  bool resident_;
  bool narrow_;          // points stay as they are stored
  std::int64_t budget_;  // of a workspace
};

}  // namespace

std::int64_t peak_bytes(const Plan& plan, const IndexFacts& index, bool resident, const core::DevicePolicy& policy) {
  PeakBytes peak(plan, index, resident, policy);
  if (plan.method == Method::triangle) return peak.triangle();
  if (plan.method == Method::shifted_sort) return peak.shifted_sort();
  if (plan.method == Method::tree) return peak.tree();
  return plan.select == SelectMethod::radius ? peak.radius() : peak.brute();
}

}  // namespace kith::plan
