// collection_search.cpp: what a collection is asked.
#include <algorithm>
#include <string>
#include <vector>

#include "c/answers.hpp"
#include "c/arguments.hpp"
#include "c/collection.hpp"
#include "c/filters.hpp"
#include "c/lists.hpp"

using namespace kith::c;
using kith::Collection;
using kith::DistanceOf;

kith_status kith_collection_search(const kith_collection* collection, const kith_matrix* queries, int64_t k,
                                   const kith_filter* filter, const kith_neighbors* out) noexcept {
  return with_collection(collection, [&]<class T>(const Collection<T>& of) {
    const auto view = view_of<T>(queries, "queries");
    const auto place = host_room<DistanceOf<T>>(out, view.rows, k);
    copy_neighbors(of.search(view, k, filter_of(filter)), place);
  });
}

kith_status kith_collection_search_self(const kith_collection* collection, int64_t k, const kith_filter* filter,
                                        const kith_neighbors* out) noexcept {
  return with_collection(collection, [&]<class T>(const Collection<T>& of) {
    host_room<DistanceOf<T>>(out, 1, k);
    const auto found = of.search_self(k, filter_of(filter));
    copy_neighbors(found, host_room<DistanceOf<T>>(out, found.queries, k));
  });
}

kith_status kith_collection_search_radius(const kith_collection* collection, const kith_matrix* queries,
                                          const double* radii, int64_t radius_count, int32_t count_only,
                                          const kith_filter* filter, kith_lists** out) noexcept {
  return with_collection(collection, [&]<class T>(const Collection<T>& of) {
    using D = DistanceOf<T>;
    need(out, "out");
    const auto view = view_of<T>(queries, "queries");
    const std::vector<D> rounded = rounded_radii<D>(radii, radius_count);
    *out = make_lists(Lists<D>(of.search_radius(view, rounded, filter_of(filter), radius_output(count_only))));
  });
}

kith_status kith_collection_search_radius_self(const kith_collection* collection, const double* radii,
                                               int64_t radius_count, int32_t count_only, const kith_filter* filter,
                                               kith_lists** out) noexcept {
  return with_collection(collection, [&]<class T>(const Collection<T>& of) {
    using D = DistanceOf<T>;
    need(out, "out");
    const std::vector<D> rounded = rounded_radii<D>(radii, radius_count);
    *out = make_lists(Lists<D>(of.search_radius_self(rounded, filter_of(filter), radius_output(count_only))));
  });
}

kith_status kith_collection_graph(const kith_collection* collection, int64_t k, const char* symmetrize,
                                  const kith_filter* filter, kith_lists** out) noexcept {
  return with_collection(collection, [&]<class T>(const Collection<T>& of) {
    need(out, "out");
    *out = make_lists(Lists<DistanceOf<T>>(of.graph(k, symmetrize_of(symmetrize), filter_of(filter))));
  });
}

kith_status kith_collection_reduce(const kith_collection* collection, const kith_matrix* queries, int64_t k,
                                   const kith_matrix* values, const char* operation, const kith_filter* filter,
                                   const kith_array* out) noexcept {
  return with_collection(collection, [&]<class T>(const Collection<T>& of) {
    using D = DistanceOf<T>;
    const auto view = view_of<T>(queries, "queries");
    const kith::ReduceOp op = kith::parse_reduce_op(need_text(operation, "the operation"));
    kith::MatrixView<D> rows;
    if (kith::uses_values(op)) rows = view_of<D>(values, "values");
    D* const data = room<D>(out, view.rows, kith::reduced_columns(op, rows.cols, of.dims()), "out");
    check_host(out->memory);
    const kith::Matrix<D> made = of.reduce(view, k, rows, op, filter_of(filter)).values;
    std::copy_n(made.data(), made.rows() * made.cols(), data);
  });
}

kith_status kith_collection_explain(const kith_collection* collection, int64_t queries, int64_t k, char* buffer,
                                    size_t size, size_t* length) noexcept {
  return with_collection(collection, [&]<class T>(const Collection<T>& of) {
    write_text(to_string(of.explain(queries, k)), buffer, size, length);
  });
}
