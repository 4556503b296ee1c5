// one_shot.cpp: what kith.h has without an index.
#include <limits>
#include <string>

#include "c/arguments.hpp"
#include "c/call.hpp"
#include "c/options.hpp"
#include "kith/plan.hpp"
#include "kith/reduce.hpp"
#include "kith/search.hpp"
#include "kith/topk.hpp"

using namespace kith::c;
using kith::DistanceOf;

kith_status kith_search(const kith_matrix* base, const kith_matrix* queries, int64_t k, const kith_options* options,
                        const kith_neighbors* out, void* stream) noexcept {
  return call([&] {
    with_type(dtype_of(need(base, "base").dtype, "base"), [&]<class T>(T) {
      const auto view = view_of<T>(queries, "queries");
      kith::search_into(view_of<T>(base, "base"), view, k, room<DistanceOf<T>>(out, view.rows, k), options_of(options),
                        stream);
    });
  });
}

kith_status kith_distances(const kith_matrix* base, const kith_matrix* queries, const kith_options* options,
                           const kith_array* out, void* stream) noexcept {
  return call([&] {
    with_type(dtype_of(need(base, "base").dtype, "base"), [&]<class T>(T) {
      const auto points = view_of<T>(base, "base");
      const auto view = view_of<T>(queries, "queries");
      DistanceOf<T>* const data = room<DistanceOf<T>>(out, view.rows, points.rows, "out");
      check_host(out->memory);
      kith::distances_into(points, view, data, options_of(options), stream);
    });
  });
}

kith_status kith_topk(const kith_matrix* matrix, int64_t k, int32_t largest, const kith_options* options,
                      const kith_array* values, int64_t* ids, void* stream) noexcept {
  return call([&] {
    with_type(dtype_of(need(matrix, "matrix").dtype, "matrix"), [&]<class T>(T) {
      const auto view = view_of<T>(matrix, "matrix");
      T* const data = room<T>(values, view.rows, k, "values");
      const kith::Options given = options_of(options);
      kith::TopkOptions wanted;
      wanted.largest = largest != 0;
      wanted.output = ids == nullptr ? kith::TopkOutput::values_only : kith::TopkOutput::sorted;
      wanted.backend = given.backend;
      wanted.method = given.select;
      wanted.threads = given.threads;
      wanted.memory_budget = given.memory_budget;
      wanted.progress = given.progress;
      kith::topk_into<T>(view, k, {data, elements<std::int64_t>(ids, "ids"), memory_of(values->memory, "values")},
                         wanted, stream);
    });
  });
}

kith_status kith_reduced_columns(const char* operation, int64_t value_columns, int64_t dims, int64_t* out) noexcept {
  return call([&] {
    const kith::ReduceOp op = kith::parse_reduce_op(need_text(operation, "the operation"));
    need(out, "out");
    if (dims < 1 || dims > std::numeric_limits<int32_t>::max())
      throw kith::Error(kith::ErrorCode::invalid_argument, fmt::format("{} dimensions; from 1 to {} are allowed", dims,
                                                                       std::numeric_limits<int32_t>::max()));
    if (kith::uses_values(op) && value_columns < 1)
      throw kith::Error(kith::ErrorCode::invalid_argument,
                        fmt::format("values of {} columns; {} needs at least one", value_columns, to_string(op)));
    *out = kith::reduced_columns(op, value_columns, dims);
  });
}

kith_status kith_explain(int64_t base_rows, int64_t queries, int64_t dims, int64_t k, kith_dtype dtype,
                         const kith_options* options, const char* device, char* buffer, size_t size,
                         size_t* length) noexcept {
  return call([&] {
    const kith::Problem problem{base_rows, queries, dims, k, dtype_of(dtype, "the problem"), false};
    const kith::Options given = options_of(options);
    const kith::Plan plan = device == nullptr ? explain(problem, given) : explain(problem, given, std::string(device));
    write_text(to_string(plan), buffer, size, length);
  });
}
