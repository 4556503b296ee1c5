// index.cpp: kith_index: one of kith::Index for each type of points, behind one handle.
#include "kith/index.hpp"

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "c/arguments.hpp"
#include "c/call.hpp"
#include "c/handles.hpp"
#include "c/lists.hpp"
#include "c/options.hpp"
#include "c/rows.hpp"

namespace kith::c {
namespace {

using IndexObject =
    std::variant<Index<float>, Index<double>, Index<std::uint8_t>, Index<std::int8_t>, Index<Float16>, Index<BFloat16>>;
using IndexTable = HandleTable<kith_index, IndexObject>;

// Never destroyed, for threads may outlive static objects.
IndexTable& index_table() {
  static IndexTable& indexes = *new IndexTable("kith_index");
  return indexes;
}

// `work(index)` of the index, which stays until it returns.
template <class Work>
kith_status with_index(const kith_index* index, Work work) noexcept {
  return call([&] {
    const auto object = index_table().get(index);
    std::visit(work, *object);
  });
}

}  // namespace
}  // namespace kith::c

using namespace kith::c;
using kith::DistanceOf;
using kith::Index;

kith_status kith_index_create(const kith_matrix* base, const kith_options* options, void* stream,
                              kith_index** out) noexcept {
  return call([&] {
    need(out, "out");
    with_type(dtype_of(need(base, "base").dtype, "base"), [&]<class T>(T) {
      *out = index_table().add(std::make_shared<IndexObject>(std::in_place_type<Index<T>>, view_of<T>(base, "base"),
                                                             options_of(options), stream));
    });
  });
}

kith_status kith_index_create_copy(const kith_matrix* base, const kith_options* options, kith_index** out) noexcept {
  return call([&] {
    need(out, "out");
    with_type(dtype_of(need(base, "base").dtype, "base"), [&]<class T>(T) {
      *out = index_table().add(std::make_shared<IndexObject>(std::in_place_type<Index<T>>, copied_rows<T>(base, "base"),
                                                             options_of(options)));
    });
  });
}

kith_status kith_index_destroy(kith_index* index) noexcept {
  return call([&] { index_table().remove(index); });
}

kith_status kith_index_shape(const kith_index* index, int64_t* rows, int64_t* dims, kith_dtype* dtype) noexcept {
  return with_index(index, [&]<class T>(const Index<T>& of) {
    if (rows != nullptr) *rows = of.rows();
    if (dims != nullptr) *dims = of.dims();
    if (dtype != nullptr) *dtype = number_of(kith::dtype_of<T>());
  });
}

kith_status kith_index_search(const kith_index* index, const kith_matrix* queries, int64_t k, const kith_neighbors* out,
                              void* stream) noexcept {
  return with_index(index, [&]<class T>(const Index<T>& of) {
    const auto view = view_of<T>(queries, "queries");
    of.search_into(view, k, room<DistanceOf<T>>(out, view.rows, k), stream);
  });
}

kith_status kith_index_search_limited(const kith_index* index, const kith_matrix* queries, int64_t k,
                                      double max_distance, double epsilon, const kith_neighbors* out,
                                      void* stream) noexcept {
  return with_index(index, [&]<class T>(const Index<T>& of) {
    const auto view = view_of<T>(queries, "queries");
    const kith::SearchLimits limits{max_distance, epsilon};
    of.search_into(view, k, room<DistanceOf<T>>(out, view.rows, k), limits, stream);
  });
}

kith_status kith_index_search_self(const kith_index* index, int64_t k, const kith_neighbors* out,
                                   void* stream) noexcept {
  return with_index(index, [&]<class T>(const Index<T>& of) {
    of.search_self_into(k, room<DistanceOf<T>>(out, of.rows(), k), stream);
  });
}

kith_status kith_index_search_radius(const kith_index* index, const kith_matrix* queries, const double* radii,
                                     int64_t radius_count, int32_t count_only, void* stream,
                                     kith_lists** out) noexcept {
  return with_index(index, [&]<class T>(const Index<T>& of) {
    using D = DistanceOf<T>;
    need(out, "out");
    const auto view = view_of<T>(queries, "queries");
    const std::vector<D> rounded = rounded_radii<D>(radii, radius_count);
    *out = make_lists(Lists<D>(of.search_radius(view, rounded, radius_output(count_only), stream)));
  });
}

kith_status kith_index_search_radius_self(const kith_index* index, const double* radii, int64_t radius_count,
                                          int32_t count_only, void* stream, kith_lists** out) noexcept {
  return with_index(index, [&]<class T>(const Index<T>& of) {
    using D = DistanceOf<T>;
    need(out, "out");
    const std::vector<D> rounded = rounded_radii<D>(radii, radius_count);
    *out = make_lists(Lists<D>(of.search_radius_self(rounded, radius_output(count_only), stream)));
  });
}

kith_status kith_index_graph(const kith_index* index, int64_t k, const char* symmetrize, void* stream,
                             kith_lists** out) noexcept {
  return with_index(index, [&]<class T>(const Index<T>& of) {
    need(out, "out");
    *out = make_lists(Lists<DistanceOf<T>>(of.graph(k, symmetrize_of(symmetrize), stream)));
  });
}

kith_status kith_index_reduce(const kith_index* index, const kith_matrix* queries, int64_t k, const kith_matrix* values,
                              const char* operation, const kith_array* out, void* stream) noexcept {
  return with_index(index, [&]<class T>(const Index<T>& of) {
    using D = DistanceOf<T>;
    const auto view = view_of<T>(queries, "queries");
    const kith::ReduceOp op = kith::parse_reduce_op(need_text(operation, "the operation"));
    kith::MatrixView<D> rows;
    if (kith::uses_values(op)) rows = view_of<D>(values, "values");
    D* const data = room<D>(out, view.rows, kith::reduced_columns(op, rows.cols, of.dims()), "out");
    of.reduce_into(view, k, rows, op, {data, memory_of(out->memory, "out")}, stream);
  });
}

kith_status kith_index_explain(const kith_index* index, int64_t queries, int64_t k, char* buffer, size_t size,
                               size_t* length) noexcept {
  return with_index(
      index, [&]<class T>(const Index<T>& of) { write_text(to_string(of.explain(queries, k)), buffer, size, length); });
}
