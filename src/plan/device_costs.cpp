#include "plan/device_costs.hpp"

#include <algorithm>
#include <cmath>

#include "core/sample_plan.hpp"

namespace kith::plan {
namespace {

// How the kernels divide their work.
constexpr double kKeyDepth = 128;      // coordinates that keys take at a time
constexpr double kDirectQueries = 4;   // that share a pass over the base
constexpr double kTiledSide = 32;      // queries of a tile, and coordinates of a slice
constexpr double kTileSide = 128;      // queries, and points, of tiles in registers
constexpr double kBusyTiles = 160;     // fewer leave processors idle
constexpr double kGemmQueries = 64;    // and
constexpr double kGemmDims = 32;       // coordinates that a matrix product takes at least
constexpr double kStoring = 0.45;      // of a score's cost, which a kernel hides behind its arithmetic
constexpr double kFp16Resident = 128;  // dimensions with which queries of fp16 stay in shared memory
constexpr double kFp16Streamed = 1.8;  // how much longer it takes where they do not
// Starting a search: all of two-stage's kernels are 1.
constexpr double kKeysStart = 0.35;
constexpr double kFusedStart = 1.6;

// Instructions a coordinate, as long as those of a product.
double steps(core::Form form, bool expanded) {
  switch (form) {
    case core::Form::dot: return 1;
    case core::Form::squared: return expanded ? 1 : 1.7;
    case core::Form::power: return 40;
    default: return 1.7;
  }
}

class Model {
 public:
  Model(const core::DeviceProfile& costs, const Problem& problem, core::Form form, std::int64_t candidates)
      : costs_(costs),
        n_(static_cast<double>(problem.base_rows)),
        q_(static_cast<double>(problem.queries)),
        d_(static_cast<double>(problem.dims)),
        width_(problem.dtype == DType::float64 ? 2 : 1),
        form_(form),
        expanded_(form == core::Form::squared && problem.dims >= kExpandFromOnDevice),
        finalists_(q_ * static_cast<double>(candidates) * costs.finalist),
        room_(static_cast<double>(core::plan_sample(problem.base_rows, candidates).capacity)) {}

  double two_stage(const std::string& stage) const {
    const double scores = pairs() * costs_.score;
    if (stage == "exact") {
      // Queries find the points in the cache; what is computed while they are read costs nothing.
      const double depth = std::ceil(d_ / kKeyDepth) * kKeyDepth;
      return kKeysStart * costs_.start + std::max(reading(), pairs() * depth * costs_.keys) + scores;
    }
    return costs_.start + finalists_ + scoring(stage, scores);
  }

  double fused(const std::string& stage) const {
    const double candidates = q_ * room_ * costs_.candidate;
    double pass = this->pass();
    if (stage == "fp16")
      pass = register_tiles() *
             (costs_.fused_fp16_pair + d_ * costs_.fused_fp16 * (d_ > kFp16Resident ? kFp16Streamed : 1));
    return kFusedStart * costs_.start + finalists_ + pass + candidates;
  }

  // Scores of all pairs, looked at and forgotten.
  double pass() const {
    return register_tiles() * (costs_.fused_pair + d_ * steps(form_, expanded_) * costs_.register_tiled);
  }

 private:
  double scoring(const std::string& stage, double scores) const {
    const double gemm_steps = tiled_pairs(kGemmQueries) * std::max(d_, kGemmDims);
    if (stage == "gemm") return std::max(reading(), gemm_steps * costs_.multiply) + scores;
    if (stage == "fp16") return std::max(reading() / 2, gemm_steps * costs_.multiply_fp16) + scores;
    if (stage == "register-tiled") {
      const double sums = register_tiles() * d_ * steps(form_, expanded_) * costs_.register_tiled;
      return std::max(sums, kStoring * scores) + (1 - kStoring) * scores;
    }
    if (stage == "tiled") return tiled_pairs(kTiledSide) * std::max(d_, kTiledSide) * costs_.tiled + scores;
    const double passes = std::ceil(q_ / kDirectQueries);
    const double slow = form_ == core::Form::power ? steps(form_, false) : 1;
    return std::max(passes * reading(), pairs() * (d_ + 4) * slow * costs_.direct) + scores;
  }

  double pairs() const { return q_ * n_ * width_; }
  // Pairs of whole tiles, however few there are.
  double register_tiles() const {
    const double tiles = std::ceil(q_ / kTileSide) * std::ceil(n_ / kTileSide);
    return std::max(tiles, kBusyTiles) * kTileSide * kTileSide * width_;
  }
  // Whole tiles of queries, however few there are.
  double tiled_pairs(double side) const { return std::max(q_, side) * n_ * width_; }
  // Of the base, once.
  double reading() const { return n_ * d_ * 4 * width_ * costs_.read; }

  const core::DeviceProfile& costs_;
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

bool can_fuse(const std::string& stage) {
  return stage == "register-tiled" || stage == "fp16";
}

DeviceStageCost stage_cost(const core::DeviceProfile& costs, const std::string& stage, const Problem& problem,
                           core::Form form, std::int64_t candidates, FusedWish wish) {
  const Model model(costs, problem, form, candidates);
  const DeviceStageCost stored{model.two_stage(stage), false};
  if (!can_fuse(stage) || wish == FusedWish::no) return stored;
  const DeviceStageCost fused{model.fused(stage), true};
  return wish == FusedWish::yes || fused.seconds < stored.seconds ? fused : stored;
}

double radius_seconds(const core::DeviceProfile& costs, const Problem& problem, core::Form form) {
  return costs.start + Model(costs, problem, form, 1).pass();
}

}  // namespace kith::plan
