// collection.cpp: collections: how they are made and changed, and their files.
#include "c/collection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "c/arguments.hpp"
#include "c/filters.hpp"
#include "c/handles.hpp"
#include "c/options.hpp"
#include "c/rows.hpp"

namespace kith::c {
namespace {

using CollectionTable = HandleTable<kith_collection, CollectionObject>;

// Never destroyed, for threads may outlive static objects.
CollectionTable& collection_table() {
  static CollectionTable& collections = *new CollectionTable("kith_collection");
  return collections;
}

template <Element T>
kith_collection* add_collection(Collection<T>&& collection) {
  return collection_table().add(
      std::make_shared<CollectionObject>(std::in_place_type<Collection<T>>, std::move(collection)));
}

void write_change(const ChangeReport& report, kith_change* change) {
  if (change != nullptr) *change = {report.points, report.copied, report.segments, report.seconds};
}

nlohmann::ordered_json json_of(const CollectionInfo& info) {
  return {{"dtype", to_string(info.dtype)},
          {"rows", info.rows},
          {"dims", info.dims},
          {"metric", to_string(info.options.metric)},
          {"method", to_string(info.options.method)},
          {"has_ids", info.has_ids},
          {"has_tags", info.has_tags},
          {"prepared", info.prepared},
          {"file_bytes", info.file_bytes},
          {"version", info.version}};
}

}  // namespace

std::shared_ptr<CollectionObject> collection_of(const kith_collection* collection) {
  return collection_table().get(collection);
}

}  // namespace kith::c

using namespace kith::c;
using kith::Collection;

kith_status kith_collection_create(int64_t dims, kith_dtype dtype, const kith_options* options,
                                   kith_collection** out) noexcept {
  return call([&] {
    need(out, "out");
    with_type(dtype_of(dtype, "the collection"),
              [&]<class T>(T) { *out = add_collection(Collection<T>(dims, options_of(options))); });
  });
}

kith_status kith_collection_create_from(const kith_matrix* points, const kith_labels* labels,
                                        const kith_options* options, kith_collection** out) noexcept {
  return call([&] {
    need(out, "out");
    with_type(dtype_of(need(points, "points").dtype, "points"), [&]<class T>(T) {
      const kith::PointLabels given = labels_of(labels, points->rows);
      *out = add_collection(Collection<T>(copied_rows<T>(points, "points"), given, options_of(options)));
    });
  });
}

kith_status kith_collection_destroy(kith_collection* collection) noexcept {
  return call([&] { collection_table().remove(collection); });
}

kith_status kith_collection_shape(const kith_collection* collection, int64_t* rows, int64_t* dims,
                                  kith_dtype* dtype) noexcept {
  return with_collection(collection, [&]<class T>(const Collection<T>& of) {
    if (rows != nullptr) *rows = of.rows();
    if (dims != nullptr) *dims = of.dims();
    if (dtype != nullptr) *dtype = number_of(kith::dtype_of<T>());
  });
}

kith_status kith_collection_contains(const kith_collection* collection, int64_t id, int32_t* out) noexcept {
  return with_collection(collection,
                         [&]<class T>(const Collection<T>& of) { need(out, "out") = of.contains(id) ? 1 : 0; });
}

kith_status kith_collection_ids(const kith_collection* collection, const kith_filter* filter, int64_t* ids,
                                int64_t capacity, int64_t* count) noexcept {
  return with_collection(collection, [&]<class T>(const Collection<T>& of) {
    need(count, "count");
    const std::vector<std::int64_t> found = of.ids(filter_of(filter));
    *count = static_cast<std::int64_t>(found.size());
    if (ids == nullptr) return;
    check_capacity(capacity, *count, 1, "ids");
    std::copy(found.begin(), found.end(), elements<std::int64_t>(ids, "ids"));
  });
}

kith_status kith_collection_points(const kith_collection* collection, const int64_t* ids, int64_t count,
                                   const kith_array* out) noexcept {
  return with_collection(collection, [&]<class T>(const Collection<T>& of) {
    const auto wanted = span_of(ids, count, "ids");
    T* const data = room<T>(out, count, of.dims(), "out");
    check_host(out->memory);
    const kith::Matrix<T> points = of.points(wanted);
    std::copy_n(points.data(), points.rows() * points.cols(), data);
  });
}

kith_status kith_collection_add(kith_collection* collection, const kith_matrix* points, const kith_labels* labels,
                                kith_change* change) noexcept {
  return with_collection(collection, [&]<class T>(Collection<T>& of) {
    const auto view = view_of<T>(points, "points");
    write_change(of.add(view, labels_of(labels, view.rows)), change);
  });
}

kith_status kith_collection_remove(kith_collection* collection, const int64_t* ids, int64_t count,
                                   kith_change* change) noexcept {
  return with_collection(
      collection, [&]<class T>(Collection<T>& of) { write_change(of.remove(span_of(ids, count, "ids")), change); });
}

kith_status kith_collection_update(kith_collection* collection, const kith_matrix* points, const kith_labels* labels,
                                   kith_change* change) noexcept {
  return with_collection(collection, [&]<class T>(Collection<T>& of) {
    const auto view = view_of<T>(points, "points");
    write_change(of.update(view, labels_of(labels, view.rows)), change);
  });
}

kith_status kith_collection_compact(kith_collection* collection, kith_change* change) noexcept {
  return with_collection(collection, [&]<class T>(Collection<T>& of) { write_change(of.compact(), change); });
}

kith_status kith_collection_save(const kith_collection* collection, const char* path) noexcept {
  return with_collection(collection,
                         [&]<class T>(const Collection<T>& of) { of.save(std::string(need_text(path, "the path"))); });
}

kith_status kith_collection_load(const char* path, const kith_options* options, int32_t verify,
                                 kith_collection** out) noexcept {
  return call([&] {
    need(out, "out");
    const std::string name(need_text(path, "the path"));
    with_type(kith::collection_info(name).dtype,
              [&]<class T>(T) { *out = add_collection(Collection<T>::load(name, options_of(options), verify != 0)); });
  });
}

kith_status kith_collection_file_info(const char* path, char* buffer, size_t size, size_t* length) noexcept {
  return call([&] {
    const kith::CollectionInfo info = kith::collection_info(std::string(need_text(path, "the path")));
    write_text(json_of(info).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace), buffer, size,
               length);
  });
}
