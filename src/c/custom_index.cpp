// custom_index.cpp: kith_custom_index: one of kith::PairIndex for each type of points, behind one handle.
#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "c/answers.hpp"
#include "c/arguments.hpp"
#include "c/call.hpp"
#include "c/handles.hpp"
#include "c/lists.hpp"
#include "c/metrics.hpp"
#include "c/options.hpp"
#include "c/rows.hpp"
#include "kith/pair_metric.hpp"

namespace kith::c {
namespace {

// A base that is the index's own lies in memory that does not move with the object.
template <class T>
struct CustomObject {
  Matrix<T> points;
  PairIndex<T> index;
};

using CustomVariant = std::variant<CustomObject<float>, CustomObject<double>, CustomObject<std::uint8_t>,
                                   CustomObject<std::int8_t>, CustomObject<Float16>, CustomObject<BFloat16>>;
using CustomTable = HandleTable<kith_custom_index, CustomVariant>;

// Never destroyed, for threads may outlive static objects.
CustomTable& custom_table() {
  static CustomTable& indexes = *new CustomTable("kith_custom_index");
  return indexes;
}

// `work(index)` of the index, which stays until it returns.
template <class Work>
kith_status with_custom(const kith_custom_index* index, Work work) noexcept {
  return call([&] {
    const auto object = custom_table().get(index);
    std::visit([&]<class T>(const CustomObject<T>& of) { work(of.index); }, *object);
  });
}

template <class T>
kith_custom_index* add_custom(const kith_metric* metric, Matrix<T>&& points, const MatrixView<T>& base,
                              const kith_options* options) {
  return custom_table().add(std::make_shared<CustomVariant>(
      CustomObject<T>{std::move(points), PairIndex<T>(metric_of(metric), base, options_of(options))}));
}

}  // namespace
}  // namespace kith::c

using namespace kith::c;
using kith::DistanceOf;
using kith::PairIndex;

kith_status kith_custom_index_create(const kith_metric* metric, const kith_matrix* base, const kith_options* options,
                                     kith_custom_index** out) noexcept {
  return call([&] {
    need(out, "out");
    with_type(dtype_of(need(base, "base").dtype, "base"),
              [&]<class T>(T) { *out = add_custom<T>(metric, {}, view_of<T>(base, "base"), options); });
  });
}

kith_status kith_custom_index_create_copy(const kith_metric* metric, const kith_matrix* base,
                                          const kith_options* options, kith_custom_index** out) noexcept {
  return call([&] {
    need(out, "out");
    with_type(dtype_of(need(base, "base").dtype, "base"), [&]<class T>(T) {
      kith::Matrix<T> copy = copied_rows<T>(base, "base");
      const kith::MatrixView<T> view = copy.view();
      *out = add_custom<T>(metric, std::move(copy), view, options);
    });
  });
}

kith_status kith_custom_index_destroy(kith_custom_index* index) noexcept {
  return call([&] { custom_table().remove(index); });
}

kith_status kith_custom_index_shape(const kith_custom_index* index, int64_t* rows, int64_t* dims,
                                    kith_dtype* dtype) noexcept {
  return with_custom(index, [&]<class T>(const PairIndex<T>& of) {
    if (rows != nullptr) *rows = of.rows();
    if (dims != nullptr) *dims = of.dims();
    if (dtype != nullptr) *dtype = number_of(kith::dtype_of<T>());
  });
}

kith_status kith_custom_index_search(const kith_custom_index* index, const kith_matrix* queries, int64_t k,
                                     const kith_neighbors* out) noexcept {
  return with_custom(index, [&]<class T>(const PairIndex<T>& of) {
    const auto view = view_of<T>(queries, "queries");
    const auto place = host_room<DistanceOf<T>>(out, view.rows, k);
    copy_neighbors(of.search(view, k), place);
  });
}

kith_status kith_custom_index_search_self(const kith_custom_index* index, int64_t k,
                                          const kith_neighbors* out) noexcept {
  return with_custom(index, [&]<class T>(const PairIndex<T>& of) {
    const auto place = host_room<DistanceOf<T>>(out, of.rows(), k);
    copy_neighbors(of.search_self(k), place);
  });
}

kith_status kith_custom_index_search_radius(const kith_custom_index* index, const kith_matrix* queries,
                                            const double* radii, int64_t radius_count, int32_t count_only,
                                            kith_lists** out) noexcept {
  return with_custom(index, [&]<class T>(const PairIndex<T>& of) {
    using D = DistanceOf<T>;
    need(out, "out");
    const auto view = view_of<T>(queries, "queries");
    const std::vector<D> rounded = rounded_radii<D>(radii, radius_count);
    *out = make_lists(Lists<D>(of.search_radius(view, rounded, radius_output(count_only))));
  });
}

kith_status kith_custom_index_search_radius_self(const kith_custom_index* index, const double* radii,
                                                 int64_t radius_count, int32_t count_only, kith_lists** out) noexcept {
  return with_custom(index, [&]<class T>(const PairIndex<T>& of) {
    using D = DistanceOf<T>;
    need(out, "out");
    const std::vector<D> rounded = rounded_radii<D>(radii, radius_count);
    *out = make_lists(Lists<D>(of.search_radius_self(rounded, radius_output(count_only))));
  });
}

kith_status kith_custom_index_distances(const kith_custom_index* index, const kith_matrix* queries,
                                        const kith_array* out) noexcept {
  return with_custom(index, [&]<class T>(const PairIndex<T>& of) {
    using D = DistanceOf<T>;
    const auto view = view_of<T>(queries, "queries");
    D* const data = room<D>(out, view.rows, of.rows(), "out");
    check_host(out->memory);
    const kith::Matrix<D> made = of.distances(view);
    std::copy_n(made.data(), made.rows() * made.cols(), data);
  });
}
