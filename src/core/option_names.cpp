// The names of what options choose among, each in one table.
#include <fmt/ranges.h>

#include <charconv>
#include <system_error>

#include "core/names.hpp"
#include "kith/options.hpp"

namespace kith {
namespace {

using core::Name;

constexpr std::array<Name<Backend>, 4> kBackends{{
    {"auto", Backend::automatic},
    {"cpu", Backend::cpu},
    {"cuda", Backend::cuda},
    {"emulated", Backend::emulated},
}};
constexpr std::size_t kPublicBackends = 3;  // emulated is for tests, and not offered

constexpr std::string_view kAllDevicesName = "all";

constexpr std::array<Name<Method>, 7> kMethods{{
    {"auto", Method::automatic},
    {"brute", Method::brute},
    {"two-stage", Method::two_stage},
    {"fused", Method::fused},
    {"triangle", Method::triangle},
    {"shifted-sort", Method::shifted_sort},
    {"tree", Method::tree},
}};

constexpr std::array<Name<DistanceStage>, 10> kDistanceStages{{
    {"auto", DistanceStage::automatic},
    {"exact", DistanceStage::exact},
    {"direct", DistanceStage::direct},
    {"tiled", DistanceStage::tiled},
    {"register-tiled", DistanceStage::register_tiled},
    {"gemm", DistanceStage::gemm},
    {"fp16", DistanceStage::fp16},
    {"split-fp16", DistanceStage::split_fp16},
    {"int8", DistanceStage::int8},
    {"bf16", DistanceStage::bf16},
}};

constexpr std::array<Name<SelectMethod>, 16> kSelectMethods{{
    {"auto", SelectMethod::automatic},
    {"insertion-queue", SelectMethod::insertion_queue},
    {"heap-queue", SelectMethod::heap_queue},
    {"merge-queue", SelectMethod::merge_queue},
    {"warp-select", SelectMethod::warp_select},
    {"partial-bitonic", SelectMethod::partial_bitonic},
    {"block-select", SelectMethod::block_select},
    {"merge-path", SelectMethod::merge_path},
    {"bits", SelectMethod::bits},
    {"bits-global", SelectMethod::bits_global},
    {"bits-single-row", SelectMethod::bits_single_row},
    {"quick-multi-select", SelectMethod::quick_multi_select},
    {"sample-select", SelectMethod::sample_select},
    {"radix-select", SelectMethod::radix_select},
    {"sort", SelectMethod::sort},
    {"threshold-filter", SelectMethod::threshold_filter},
}};

constexpr std::array<Name<TriangleForm>, 3> kTriangleForms{{
    {"auto", TriangleForm::automatic},
    {"interval-scan", TriangleForm::interval_scan},
    {"sweet-knn", TriangleForm::sweet_knn},
}};

constexpr std::array<Name<TriangleFilter>, 3> kTriangleFilters{{
    {"auto", TriangleFilter::automatic},
    {"full", TriangleFilter::full},
    {"partial", TriangleFilter::partial},
}};

constexpr std::array<Name<TrianglePlacement>, 4> kTrianglePlacements{{
    {"auto", TrianglePlacement::automatic},
    {"registers", TrianglePlacement::registers},
    {"shared", TrianglePlacement::shared},
    {"global", TrianglePlacement::global},
}};

constexpr std::array<Name<TriangleLayout>, 2> kTriangleLayouts{{
    {"interleaved", TriangleLayout::interleaved},
    {"contiguous", TriangleLayout::contiguous},
}};

constexpr std::array<Name<Curve>, 3> kCurves{{
    {"auto", Curve::automatic},
    {"morton", Curve::morton},
    {"hilbert", Curve::hilbert},
}};

constexpr std::array<Name<CurveMerge>, 3> kCurveMerges{{
    {"auto", CurveMerge::automatic},
    {"warp", CurveMerge::warp},
    {"global-memory", CurveMerge::global_memory},
}};

constexpr std::array<Name<CurvePositions>, 3> kCurvePositions{{
    {"auto", CurvePositions::automatic},
    {"search", CurvePositions::search},
    {"sort", CurvePositions::sort},
}};

}  // namespace

#define KITH_NAMES(Enum, table, parse, what)    \
  const char* to_string(Enum value) noexcept {  \
    return core::name_of(table, value);         \
  }                                             \
  Enum parse(std::string_view name) {           \
    return core::parse_name(table, what, name); \
  }
KITH_NAMES(Method, kMethods, parse_method, "method")
KITH_NAMES(DistanceStage, kDistanceStages, parse_distance_stage, "distance stage")
KITH_NAMES(TriangleForm, kTriangleForms, parse_triangle_form, "form of method triangle")
KITH_NAMES(TriangleFilter, kTriangleFilters, parse_triangle_filter, "filter of method triangle")
KITH_NAMES(TrianglePlacement, kTrianglePlacements, parse_triangle_placement, "placement of method triangle")
KITH_NAMES(TriangleLayout, kTriangleLayouts, parse_triangle_layout, "layout of method triangle")
KITH_NAMES(Curve, kCurves, parse_curve, "curve")
KITH_NAMES(CurveMerge, kCurveMerges, parse_curve_merge, "merge of method shifted-sort")
KITH_NAMES(CurvePositions, kCurvePositions, parse_curve_positions, "positions of method shifted-sort")
#undef KITH_NAMES

const char* to_string(Backend backend) noexcept {
  return core::name_of(kBackends, backend);
}

Backend parse_backend(std::string_view name) {
  return core::parse_name(kBackends, "backend", name, kPublicBackends);
}

const char* to_string(SelectMethod method) noexcept {
  if (method == SelectMethod::radius) return "radius";
  if (method == SelectMethod::curve) return "curve";
  return core::name_of(kSelectMethods, method);
}

SelectMethod parse_select_method(std::string_view name) {
  return core::parse_name(kSelectMethods, "selection method", name);
}

std::vector<int> parse_devices(std::string_view text) {
  if (core::normalized(text) == kAllDevicesName) return {kAllDevices};
  std::vector<int> ids;
  for (std::size_t from = 0; from <= text.size();) {
    const std::string_view one = text.substr(from, text.find(',', from) - from);
    int id = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), id);
    if (error != std::errc() || end != one.data() + one.size() || id < 0)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("devices '{}'; they are ids with commas between them, as 0,1, or all", text));
    ids.push_back(id);
    from += one.size() + 1;
  }
  return ids;
}

std::string format_devices(const std::vector<int>& devices) {
  return devices == std::vector{kAllDevices} ? std::string(kAllDevicesName)
                                             : fmt::format("{}", fmt::join(devices, ","));
}

}  // namespace kith
