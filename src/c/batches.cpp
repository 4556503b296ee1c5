// batches.cpp: searches of many sets of points at once.
#include "kith/batches.hpp"

#include <limits>

#include "c/arguments.hpp"
#include "c/call.hpp"
#include "c/options.hpp"

namespace kith::c {
namespace {

std::span<const std::int64_t> offsets_of(const std::int64_t* offsets, std::int64_t batches, const char* role) {
  if (batches < 0 || batches == std::numeric_limits<std::int64_t>::max())
    throw Error(ErrorCode::invalid_argument, fmt::format("{} batches; 0 or more are needed", batches));
  return span_of(offsets, batches + 1, role);
}

// Points that may be none: then there is nothing to point to.
template <Element T>
MatrixView<T> batched_view_of(const kith_matrix* matrix, const char* role) {
  if (need(matrix, role).rows != 0) return view_of<T>(matrix, role);
  check_dtype(matrix->dtype, kith::dtype_of<T>(), role);
  MatrixView<T> none(nullptr, 0, matrix->cols);
  none.memory = memory_of(matrix->memory, role);
  return none;
}

// Calls with(T{}) for the type of the points.
template <class With>
kith_status with_points(const kith_matrix* points, With with) noexcept {
  return call([&] { with_type(dtype_of(need(points, "base").dtype, "base"), with); });
}

}  // namespace
}  // namespace kith::c

using namespace kith::c;

kith_status kith_search_batches(const kith_matrix* base, const int64_t* base_offsets, const kith_matrix* queries,
                                const int64_t* query_offsets, int64_t batches, int64_t k, const kith_options* options,
                                const kith_neighbors* out, void* stream) noexcept {
  return with_points(base, [&]<class T>(T) {
    const auto points = batched_view_of<T>(base, "base");
    const auto asked = batched_view_of<T>(queries, "queries");
    kith::search_batches_into(points, offsets_of(base_offsets, batches, "base_offsets"), asked,
                              offsets_of(query_offsets, batches, "query_offsets"), k,
                              room<kith::DistanceOf<T>>(out, asked.rows, k), options_of(options), stream);
  });
}

kith_status kith_search_batches_self(const kith_matrix* base, const int64_t* offsets, int64_t batches, int64_t k,
                                     const kith_options* options, const kith_neighbors* out, void* stream) noexcept {
  return with_points(base, [&]<class T>(T) {
    const auto points = batched_view_of<T>(base, "base");
    kith::search_batches_self_into(points, offsets_of(offsets, batches, "offsets"), k,
                                   room<kith::DistanceOf<T>>(out, points.rows, k), options_of(options), stream);
  });
}
