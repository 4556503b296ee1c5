#include "kith/reduce.hpp"

#include <array>

#include "api/searcher.hpp"
#include "core/names.hpp"

namespace kith {
namespace {

constexpr std::array<core::Name<ReduceOp>, 8> kReduceOps{{
    {"mean", ReduceOp::mean},
    {"weighted-mean", ReduceOp::weighted_mean},
    {"sum", ReduceOp::sum},
    {"min", ReduceOp::min},
    {"max", ReduceOp::max},
    {"kth-distance", ReduceOp::kth_distance},
    {"density", ReduceOp::density},
    {"covariance", ReduceOp::covariance},
}};

}  // namespace

const char* to_string(ReduceOp op) noexcept {
  return core::name_of(kReduceOps, op);
}

ReduceOp parse_reduce_op(std::string_view name) {
  return core::parse_name(kReduceOps, "operation", name);
}

std::vector<std::string> reduce_op_names() {
  std::vector<std::string> names;
  for (const auto& entry : kReduceOps) names.emplace_back(entry.first);
  return names;
}

bool uses_values(ReduceOp op) noexcept {
  return core::has_values(op);
}

std::int64_t reduced_columns(ReduceOp op, std::int64_t value_columns, std::int64_t dims) noexcept {
  return core::reduced_columns({.op = op, .dims = dims, .columns = value_columns});
}

template <Element T>
Reduced<DistanceOf<T>> reduce(MatrixView<T> base, MatrixView<T> queries, std::int64_t k,
                              MatrixView<DistanceOf<T>> values, ReduceOp op, const Options& options, void* stream) {
  const bool on_device = queries.memory == Memory::device || (uses_values(op) && values.memory == Memory::device);
  return api::Searcher<T>(base, options, stream, on_device ? Memory::device : Memory::host)
      .reduce({queries, stream}, k, values, op);
}

#define KITH_INSTANTIATE(T)                                                                   \
  template KITH_API Reduced<DistanceOf<T>> reduce(MatrixView<T>, MatrixView<T>, std::int64_t, \
                                                  MatrixView<DistanceOf<T>>, ReduceOp, const Options&, void*);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

}  // namespace kith
