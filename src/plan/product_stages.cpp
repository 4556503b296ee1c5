// product_stages.cpp: the reasons against stages of products, the first that holds.
#include "plan/product_stages.hpp"

#include <fmt/format.h>

#include "core/key.hpp"
#include "core/score_bounds.hpp"
#include "core/sizes.hpp"
#include "plan/products.hpp"

namespace kith::plan {
namespace {

bool is_product(DistanceStage stage) {
  return stage == DistanceStage::gemm || stage == DistanceStage::fp16 || stage == DistanceStage::split_fp16 ||
         stage == DistanceStage::int8 || stage == DistanceStage::bf16;
}

// Integers must be those of the points, not of their directions, and their sums exact in up to `most` dimensions.
std::string why_not_int8(const Problem& problem, const Metric& metric, std::int64_t most) {
  if (problem.dtype != DType::uint8 && problem.dtype != DType::int8)
    return fmt::format("distance stage int8 multiplies points of uint8 or int8; these are {}",
                       to_string(problem.dtype));
  if (core::has_directions(metric))
    return fmt::format("distance stage int8 cannot compute {}, which divides by norms", to_string(metric));
  if (problem.dims > most)
    return fmt::format("distance stage int8 has exact sums in up to {} dimensions; these points have {}", most,
                       problem.dims);
  return {};
}

// A device has them in single precision, as its scores are.
std::int64_t most_device_int8_dims() {
  constexpr double kRange = core::range_of_type<std::uint8_t>();
  return static_cast<std::int64_t>((1 / core::unit_roundoff<float>() - 1) / (kRange * kRange));
}

std::string why_no_product(DistanceStage stage, const Metric& metric) {
  if (can_multiply(core::form_of(metric))) return {};
  return fmt::format("distance stage {} cannot compute {}: it is no matrix product", to_string(stage),
                     to_string(metric));
}

}  // namespace

std::string why_not(DistanceStage stage, const Problem& problem, const Metric& metric,
                    const core::DeviceHardware& hardware) {
  if (!is_product(stage)) return {};
  if (std::string reason = why_no_product(stage, metric); !reason.empty()) return reason;
  if (stage == DistanceStage::bf16) return "distance stage bf16 is the CPU's; devices have fp16";
  const bool rounds = stage == DistanceStage::fp16 || stage == DistanceStage::split_fp16;
  if (rounds && problem.dtype == DType::float64)
    return fmt::format("distance stage {} rounds to half precision; {} has no use of it", to_string(stage),
                       to_string(problem.dtype));
  if (stage == DistanceStage::int8)
    if (std::string reason = why_not_int8(problem, metric, most_device_int8_dims()); !reason.empty()) return reason;
  const bool needs_wgmma = stage == DistanceStage::split_fp16 || stage == DistanceStage::int8;
  if (needs_wgmma && hardware.compute_major == 9 && !hardware.has_sm_90_kernels)
    return fmt::format("distance stage {} needs kernels for compute capability 9.0, which this build was made without",
                       to_string(stage));
  if (needs_wgmma && !hardware.has_wgmma())
    return fmt::format("distance stage {} needs a device of compute capability 9.x; this one has {}.{}",
                       to_string(stage), hardware.compute_major, hardware.compute_minor);
  return {};
}

std::string why_not_on_cpu(DistanceStage stage, const Problem& problem, const Metric& metric) {
  if (!is_product(stage)) return {};
  if (std::string reason = why_no_product(stage, metric); !reason.empty()) return reason;
  if (stage == DistanceStage::int8) return why_not_int8(problem, metric, core::kMostByteDims);
  const bool rounds_double = stage == DistanceStage::bf16 && problem.dtype == DType::float64;
  return rounds_double ? "distance stage bf16 rounds to bfloat16; float64 has no use of it" : std::string();
}

}  // namespace kith::plan
