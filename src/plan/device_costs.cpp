#include "plan/device_costs.hpp"

#include <algorithm>
#include <cmath>

#include "core/sample_plan.hpp"
#include "core/tensor_tiles.hpp"
#include "core/triangle_sample.hpp"
#include "plan/cpu_costs.hpp"
#include "plan/products.hpp"

namespace kith::plan {
namespace {

// How the kernels divide their work.
constexpr double kKeyDepth = 128;       // coordinates that keys take at a time
constexpr double kDirectQueries = 4;    // that share a pass over the base
constexpr double kTiledSide = 32;       // queries of a tile, and coordinates of a slice
constexpr double kTileSide = 128;       // queries, and points, of tiles in registers
constexpr double kGemmQueries = 48;     // that a matrix product takes at least, and
constexpr double kGemmDims = 12;        // coordinates
constexpr double kFp16Queries = 64;     // the same of fp16
constexpr double kFp16Dims = 32;        // and
constexpr double kFp16Reading = 1.2;    // how much longer reading takes than a plain read
constexpr double kFinalistDims = 128;   // of a row that takes as long as a finalist's place beside it
constexpr double kStoring = 0.45;       // of a score's cost, which a kernel hides behind its arithmetic
constexpr double kFp16Resident = 128;   // dimensions with which queries of fp16 stay in shared memory
constexpr double kFp16Streamed = 1.8;   // how much longer it takes where they do not
constexpr double kManyGroup = 256;      // queries of a group where there are more than 128
constexpr double kTensorChunk = 128;    // bytes of a row that tensor cores of sm_90 take at a time
constexpr double kTensorReading = 1.5;  // how much longer reading takes beside products
constexpr double kTensorListing = 2.4;  // how much longer a point that passes takes than a place for one
constexpr double kSplitReading = 2.5;   // how much more is read of both halves of a point, and
constexpr double kSplitProducts = 2.5;  // multiplied
constexpr double kFusedSteps = 1.6;     // how much longer a step in registers takes where scores are looked at
// What follows starts only once a chunk of a row has come from memory, however few rows there are.
constexpr double kChunkSeconds = 1.7e-6;
// Starting a search: that of 64 points, a row of which needs no threshold, is 1.
constexpr double kTwoStageStart = 1.4;
constexpr double kKeysStart = 0.54;
constexpr double kFusedStart = 1.65;
constexpr double kTensorStart = 1.0;
constexpr double kByteStart = 0.2;    // beside that: queries become bytes
constexpr double kSampleStart = 0.3;  // and limits come from a sample
constexpr double kScanStart = 0.9;
constexpr double kScanQuery = 0.03;    // of a start: blocks select the best of each query
constexpr double kScanReading = 1.15;  // how much longer reading takes than a plain read
constexpr double kScanPairs = 50;      // looked at in the time that a row takes at least
constexpr double kScanListing = 24;    // as kTensorListing: a block sorts what it lists
// Rows of more queries than blocks can take at once, by multiprocessor, take turns.
constexpr double kManyRows = 4;
constexpr double kManyRowsStart = 1.2;
constexpr double kManyListsStart = 0.65;  // the same of lists of what passes
// Selecting from many short rows: a warp takes one, and has few scores to read at a time.
constexpr double kShortestRow = 1024;
constexpr double kShortRow = 4096;
constexpr double kShortRowScores = 1.6;
// A pair that is looked at takes this part of what a profile says, which was found at 128 dimensions, where products
// take as long; and this much where consumers have the same queries.
constexpr double kManyPairs = 0.75;
constexpr double kFewPairs = 2.6;

// Instructions a coordinate, as long as those of a product.
double steps(core::Form form, bool expanded) {
  switch (form) {
    case core::Form::dot: return 1;
    case core::Form::squared: return expanded ? 1 : 1.7;
    case core::Form::absolute:
    case core::Form::maximum:
    case core::Form::mismatch: return 1.7;
    case core::Form::ratio: return 20;  // counted, not measured
    case core::Form::power: return 40;
  }
  return 1;
}

// Coordinates, in units of those that cost a multiplication or so.
double triangle_steps(const Problem& problem, const Metric& metric) {
  const core::Form form = core::form_of(metric);
  return static_cast<double>(problem.dims) * (core::is_long(form) ? steps(form, false) : 1);
}

// Bytes of a point: whole vectors of 16.
std::int64_t scanned_bytes(DistanceStage stage, const Problem& problem) {
  return (problem.dims * (stage == DistanceStage::int8 ? 1 : 2) + 15) / 16 * 16;
}

class Model {
 public:
  Model(const core::DeviceFacts& facts, const Problem& problem, core::Form form, std::int64_t candidates,
        bool may_expand = true)
      : costs_(facts.profile),
        hardware_(facts.policy.hardware),
        problem_(problem),
        candidates_(candidates),
        sample_(core::plan_grouped_sample(problem.base_rows, candidates, problem.dims)),
        busy_tiles_(static_cast<double>(facts.policy.busy_tiles)),
        n_(static_cast<double>(problem.base_rows)),
        q_(static_cast<double>(problem.queries)),
        d_(static_cast<double>(problem.dims)),
        width_(problem.dtype == DType::float64 ? 2 : 1),
        form_(form),
        expanded_(may_expand && form == core::Form::squared && problem.dims >= kExpandFrom),
        finalists_(q_ * static_cast<double>(candidates) * facts.profile.finalist * (1 + d_ / kFinalistDims) / 2),
        room_(static_cast<double>(core::plan_sample(problem.base_rows, candidates).capacity)) {}

  double two_stage(DistanceStage stage) const {
    const double scores = pairs() * costs_.score;
    if (stage == DistanceStage::exact) {
      // Queries find the points in the cache; what is computed while they are read costs nothing.
      const double depth = std::ceil(d_ / kKeyDepth) * kKeyDepth;
      return kKeysStart * costs_.start + std::max(reading(), pairs() * depth * costs_.keys) + scores;
    }
    const bool short_rows = n_ > kShortestRow && n_ <= kShortRow && has_many_rows();
    const double start = kTwoStageStart + (has_many_rows() ? kManyRowsStart : 0);
    return costs_.start * start + finalists_ + scoring(stage, scores) + (short_rows ? kShortRowScores * scores : 0);
  }

  double fused(DistanceStage stage) const {
    if (scans(stage, problem_, candidates_, hardware_)) return scan_search(stage);
    if (tests_products(stage, hardware_)) return tensor_search(stage);
    const double candidates = q_ * room_ * costs_.candidate;
    const double start = kFusedStart + (has_many_rows() ? kManyRowsStart : 0);
    return start * costs_.start + finalists_ + pass(stage) + candidates;
  }

  // Products by the tensor cores of sm_90, looked at and forgotten: coordinates cost nothing while scores are looked
  // at.
  double tensor_pass(DistanceStage stage) const {
    const double group = q_ <= 64 ? 64 : q_ <= 128 ? 128 : kManyGroup;
    const double tile = group * static_cast<double>(core::kTensorTilePoints);
    const double tiles = std::ceil(q_ / group) * std::ceil(n_ / static_cast<double>(core::kTensorTilePoints));
    const double bytes = stage == DistanceStage::int8 ? d_ : 2 * d_;
    const bool split = stage == DistanceStage::split_fp16;
    const double chunks = std::ceil(bytes / kTensorChunk) * (split ? kSplitProducts : 1);
    const double pairs = std::max(tiles, static_cast<double>(hardware_.multiprocessors)) * tile;
    const double products = chunks * kTensorChunk / 2 * costs_.fused_fp16;
    if (problem_.self && stage == DistanceStage::fp16 &&
        core::tests_both_points(static_cast<std::int64_t>(n_), static_cast<std::int64_t>(bytes)))
      return pairs / 2 * std::max(2 * costs_.fused_fp16_pair, products);
    const double looking = costs_.fused_fp16_pair * (group < kManyGroup ? kFewPairs : kManyPairs);
    const double reading = kTensorReading * (split ? kSplitReading : 1) * n_ * bytes * costs_.read;
    return std::max(reading, pairs * std::max(looking, products)) + chunks * kChunkSeconds;
  }

  // Scores of all pairs, looked at and forgotten.
  double pass(DistanceStage stage) const {
    if (tests_products(stage, hardware_)) return tensor_pass(stage);
    if (stage == DistanceStage::fp16)
      return register_tiles() *
             (costs_.fused_fp16_pair + d_ * costs_.fused_fp16 * (d_ > kFp16Resident ? kFp16Streamed : 1));
    return register_tiles() * (costs_.fused_pair + d_ * steps(form_, expanded_) * kFusedSteps * costs_.register_tiled);
  }

 private:
  // Reading the points once, and the lists of all blocks.
  double scan_search(DistanceStage stage) const {
    const double bytes = stage == DistanceStage::int8 ? d_ : 2 * d_;
    const double listed =
        static_cast<double>(scan_plan(stage, problem_, hardware_).blocks * candidates_) * costs_.candidate;
    const double chunks = std::ceil(bytes / static_cast<double>(core::kScanChunk));
    return (kScanStart + kScanQuery * q_) * costs_.start + chunks * kChunkSeconds +
           n_ * std::max(kScanReading * bytes * costs_.read, kScanPairs * costs_.fused_fp16_pair) +
           kScanListing * listed + finalists_;
  }

  double tensor_search(DistanceStage stage) const {
    const double sampled = sample_.rank == 0 ? 0 : 1 / static_cast<double>(sample_.step);
    const double passing = sample_.rank == 0 ? n_ : static_cast<double>(sample_.rank * sample_.step);
    const double start = kTensorStart + (sample_.rank == 0 ? 0 : kSampleStart) +
                         (stage == DistanceStage::int8 ? kByteStart : 0) + (has_many_rows() ? kManyListsStart : 0);
    return start * costs_.start + finalists_ + tensor_pass(stage) * (1 + sampled) +
           kTensorListing * q_ * passing * costs_.candidate;
  }

  double scoring(DistanceStage stage, double scores) const {
    if (stage == DistanceStage::gemm)
      return std::max(reading(), tiled_pairs(kGemmQueries) * std::max(d_, kGemmDims) * costs_.multiply) + scores;
    if (stage == DistanceStage::fp16) {
      const double products = tiled_pairs(kFp16Queries) * std::max(d_, kFp16Dims) * costs_.multiply_fp16;
      return std::max(kFp16Reading * reading() / 2, products) + scores;
    }
    if (stage == DistanceStage::register_tiled) {
      const double sums = register_tiles() * d_ * steps(form_, expanded_) * costs_.register_tiled;
      return std::max(sums, kStoring * scores) + (1 - kStoring) * scores;
    }
    if (stage == DistanceStage::tiled)
      return tiled_pairs(kTiledSide) * std::max(d_, kTiledSide) * costs_.tiled + scores;
    const double passes = std::ceil(q_ / kDirectQueries);
    const double slow = core::is_long(form_) ? steps(form_, false) : 1;
    return std::max(passes * reading(), pairs() * (d_ + 4) * slow * costs_.direct) + scores;
  }

  bool has_many_rows() const { return q_ >= kManyRows * static_cast<double>(hardware_.multiprocessors); }
  double pairs() const { return q_ * n_ * width_; }
  // Pairs of whole tiles, however few there are.
  double register_tiles() const {
    const double tiles = std::ceil(q_ / kTileSide) * std::ceil(n_ / kTileSide);
    return std::max(tiles, busy_tiles_) * kTileSide * kTileSide * width_;
  }
  // Whole tiles of queries, however few there are.
  double tiled_pairs(double side) const { return std::max(q_, side) * n_ * width_; }
  // Of the base, once.
  double reading() const { return n_ * d_ * 4 * width_ * costs_.read; }

  const core::DeviceProfile& costs_;
  const core::DeviceHardware& hardware_;
  const Problem& problem_;
  std::int64_t candidates_;
  core::SamplePlan sample_;
  double busy_tiles_;
  double n_;
  double q_;
  double d_;
  double width_;
  core::Form form_;
  bool expanded_;
  double finalists_;  // the time of those that get a key
  double room_;       // for what passes the limit of a fused search
};

}  // namespace

bool can_fuse(DistanceStage stage) {
  return stage == DistanceStage::register_tiled || stage == DistanceStage::fp16 || stage == DistanceStage::split_fp16 ||
         stage == DistanceStage::int8;
}

bool tests_products(DistanceStage stage, const core::DeviceHardware& hardware) {
  return hardware.has_wgmma() && can_fuse(stage) && stage != DistanceStage::register_tiled;
}

bool scans(DistanceStage stage, const Problem& problem, std::int64_t candidates, const core::DeviceHardware& hardware) {
  return (stage == DistanceStage::fp16 || stage == DistanceStage::int8) &&
         core::can_scan(problem.queries, candidates, scanned_bytes(stage, problem), hardware);
}

core::ScanPlan scan_plan(DistanceStage stage, const Problem& problem, const core::DeviceHardware& hardware) {
  return core::plan_scan(problem.base_rows, problem.queries, scanned_bytes(stage, problem), hardware);
}

DeviceStageCost stage_cost(const core::DeviceFacts& facts, DistanceStage stage, const Problem& problem, core::Form form,
                           std::int64_t candidates, FusedWish wish) {
  const Model model(facts, problem, form, candidates);
  const bool scanned = scans(stage, problem, candidates, facts.policy.hardware) && wish != FusedWish::no;
  if (scanned || stage == DistanceStage::split_fp16 || stage == DistanceStage::int8) return {model.fused(stage), true};
  const DeviceStageCost stored{model.two_stage(stage), false};
  if (!can_fuse(stage) || wish == FusedWish::no) return stored;
  const DeviceStageCost fused{model.fused(stage), true};
  return wish == FusedWish::yes || fused.seconds < stored.seconds ? fused : stored;
}

double differences_seconds(const core::DeviceFacts& facts, const Problem& problem, core::Form form,
                           std::int64_t candidates, bool fused) {
  const Model model(facts, problem, form, candidates, false);
  return fused ? model.fused(DistanceStage::register_tiled) : model.two_stage(DistanceStage::register_tiled);
}

double fp16_seconds(const core::DeviceProfile& costs, const Problem& problem) {
  constexpr double kBytes = 8;  // a coordinate: read twice and written
  return costs.start + static_cast<double>(problem.base_rows * problem.dims) * kBytes * costs.read;
}

double radius_seconds(const core::DeviceFacts& facts, const Problem& problem, core::Form form, DistanceStage stage) {
  return facts.profile.start + Model(facts, problem, form, 1).pass(stage);
}

// Landmarks are compared in registers, as tiles of points are; points of intervals by lanes that each read their own.
double triangle_seconds(const core::DeviceProfile& costs, const Problem& problem, const Metric& metric,
                        const TriangleTuning& tuning, double surviving, bool has_clusters) {
  const auto n = static_cast<double>(problem.base_rows);
  const auto q = static_cast<double>(problem.queries);
  const double d = triangle_steps(problem, metric);
  const auto k = static_cast<double>(problem.k);
  const auto base_clusters = static_cast<double>(tuning.base_landmarks);
  const auto query_clusters = static_cast<double>(tuning.query_landmarks);
  const double assigned = (has_clusters ? 0 : n * base_clusters) + q * query_clusters + query_clusters * base_clusters;
  const double width = problem.dtype == DType::float64 ? 2 : 1;
  // Measured, in units of the stage whose memory accesses are similar: a query by itself, a point of an interval, and
  // one that gets a key and joins the neighbors.
  constexpr double kStarts = 2.2;  // kernels one after the other, some waited for
  constexpr double kAssign = 2.8;
  constexpr double kQuery = 34000;
  constexpr double kPoint = 115;
  constexpr double kStep = 6.3;
  constexpr double kFound = 850;
  constexpr double kFoundStep = 85;
  const double query = kQuery + n * surviving * (kPoint + kStep * d * width) + k * (kFound + kFoundStep * d);
  return assigned * (kAssign * d * width * costs.register_tiled + costs.fused_pair) + q * query * costs.direct +
         kStarts * costs.start;
}

// A query takes some hundred instructions of a warp for itself and about 180 a leaf, with its part of the boxes; warps
// that wait for memory leave half of the cycles to nobody. A tree is made by a sort for each halving of nodes that are
// too large for a block, and by as much again for the others.
double tree_seconds(const core::DeviceFacts& facts, const Problem& problem, const Metric& metric, bool has_tree) {
  constexpr double kWarpCycles = 4 * 1.7e9;  // of a multiprocessor a second
  constexpr double kBusy = 0.5;
  constexpr double kQuery = 700;
  constexpr double kLeaf = 150;
  constexpr double kStep = 10;      // a coordinate, of a leaf and its part of the boxes
  constexpr double kNeighbor = 60;  // that is found, from its key to its place
  constexpr double kBlockPoints = 2048;
  constexpr double kBlockSorts = 3;  // that a block's splits are worth
  constexpr double kSortStart = 4e-5;
  constexpr double kPicosecond = 1e12;
  const auto n = static_cast<double>(problem.base_rows);
  const auto q = static_cast<double>(problem.queries);
  const auto k = static_cast<double>(std::max<std::int64_t>(problem.k, 1));
  const double width = problem.dtype == DType::float64 ? 2 : 1;
  const double leaves = visited_leaves(n, k, static_cast<double>(problem.dims));
  const double steps = triangle_steps(problem, metric) * width;
  const double instructions = kQuery + leaves * (kLeaf + kStep * steps) + k * kNeighbor;
  const double searched =
      q * instructions / (kBusy * kWarpCycles * static_cast<double>(facts.policy.hardware.multiprocessors));
  if (has_tree) return facts.profile.start + searched;
  const double sorts = std::max(0.0, std::ceil(std::log2(n / kBlockPoints)));
  const double sorted = n * width * static_cast<double>(facts.policy.sorted_picoseconds) / kPicosecond;
  return 2 * facts.profile.start + sorts * kSortStart + (sorts + kBlockSorts) * sorted + searched;
}

// So few pairs leave the device half idle.
double sample_seconds(const core::DeviceProfile& costs, const Problem& problem, const Metric& metric,
                      std::int64_t landmarks) {
  constexpr double kStarts = 1.35;
  constexpr double kStep = 5;
  const auto points = static_cast<double>(std::min(problem.base_rows, core::kSamplePoints));
  const auto members = static_cast<double>(std::min(problem.base_rows, core::kSampleMembers));
  const auto queries = static_cast<double>(std::min(problem.queries, core::kSampleQueries));
  const auto centers = static_cast<double>(std::min(landmarks, core::kSampleLandmarks));
  const double pairs = members * centers + queries * (points + centers);
  return kStarts * costs.start + pairs * kStep * triangle_steps(problem, metric) * costs.register_tiled;
}

}  // namespace kith::plan
