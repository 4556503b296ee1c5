#include "kith/reduce.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "api/checked_reduction.hpp"
#include "api/index_state.hpp"
#include "core/instantiate.hpp"
#include "core/key.hpp"
#include "core/names.hpp"
#include "core/periodic.hpp"

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

// Queries whose neighbors are in memory at a time, and the options of their search: on a device their budget is less by
// that. All of them where they are reduced in the search itself.
struct ReduceBatch {
  std::int64_t queries;
  Options options;
};

template <class D>
ReduceBatch reduce_batch(const Options& options, std::int64_t rows, std::int64_t k) {
  constexpr std::int64_t kBatchNeighbors = std::int64_t{1} << 22;
  if (backend::reduces_in_search(options)) return {rows, options};
  ReduceBatch batch{std::clamp<std::int64_t>(kBatchNeighbors / k, 1, rows), options};
  if (options.memory_budget == 0 || options.backend == Backend::cpu) return batch;
  const std::int64_t list_bytes = k * static_cast<std::int64_t>(sizeof(D) + sizeof(std::int64_t));
  batch.queries = std::clamp<std::int64_t>(options.memory_budget / 4 / list_bytes, 1, batch.queries);
  batch.options.memory_budget = std::max<std::int64_t>(1, options.memory_budget - batch.queries * list_bytes);
  return batch;
}

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
auto Index<T>::reduce(MatrixView<T> queries, std::int64_t k, MatrixView<D> values, ReduceOp op, void* stream) const
    -> Reduced<D> {
  return api::guarded([&] {
    state().check({queries, stream}, k);
    const std::int64_t columns =
        core::reduced_columns(api::checked_reduction(state().base.rows, state().base.cols, k, values, op, options()));
    api::check_output(queries.rows, columns, sizeof(D));
    Reduced<D> reduced;
    reduced.values = Matrix<D>(queries.rows, columns);
    reduced.report = reduce_into(queries, k, values, op, {reduced.values.data()}, stream);
    return reduced;
  });
}

template <Element T>
SearchReport Index<T>::reduce_into(MatrixView<T> queries, std::int64_t k, MatrixView<D> values, ReduceOp op,
                                   ReducedView<D> out, void* stream) const {
  return api::reported([&](SearchReport& report) {
    state().check({queries, stream}, k);
    api::refuse_certify(options(), "reductions");
    const core::Reduction reduction =
        api::checked_reduction(state().base.rows, state().base.cols, k, values, op, options());
    const Memory others = api::either(out.memory, core::has_values(op) ? values.memory : Memory::host);
    state().check_memory(others, "values or an answer");
    if (out.values == nullptr)
      throw Error(ErrorCode::invalid_argument, "the output must point to a row for each query (null pointer)");
    const ReduceBatch batch = reduce_batch<D>(options(), queries.rows, k);
    if (state().workers != nullptr)
      return state().workers->reduce(queries, reduction, values, batch.queries, out.values, report);
    const auto search = state().begin({queries, stream}, others);
    const Problem problem = state().problem(batch.queries, k);
    report.plan =
        plan::choose(problem, batch.options, backend::for_this_thread(state().machine),
                     api::facts_of(state(), problem, api::Asked<T>{queries, stream}, out.memory), search->samples());
    search->reduce(report.plan, reduction, values, out, report);
    report.plan.problem.queries = queries.rows;
  });
}

template <Element T>
Reduced<DistanceOf<T>> reduce(MatrixView<T> base, MatrixView<T> queries, std::int64_t k,
                              MatrixView<DistanceOf<T>> values, ReduceOp op, const Options& options, void* stream) {
  const Memory others = api::either(queries.memory, core::has_values(op) ? values.memory : Memory::host);
  return OneSearch::of(base, options, stream, others).reduce(queries, k, values, op, stream);
}

#define KITH_INSTANTIATE(T)                                                                                         \
  template auto Index<T>::reduce(MatrixView<T>, std::int64_t, MatrixView<D>, ReduceOp, void*) const->Reduced<D>;    \
  template SearchReport Index<T>::reduce_into(MatrixView<T>, std::int64_t, MatrixView<D>, ReduceOp, ReducedView<D>, \
                                              void*) const;                                                         \
  template KITH_API Reduced<DistanceOf<T>> reduce(MatrixView<T>, MatrixView<T>, std::int64_t,                       \
                                                  MatrixView<DistanceOf<T>>, ReduceOp, const Options&, void*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
