// sparse.cpp: kith_sparse_index: one of kith::SparseIndex for each type of values, behind one handle.
#include "kith/sparse.hpp"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "c/answers.hpp"
#include "c/arguments.hpp"
#include "c/call.hpp"
#include "c/handles.hpp"
#include "c/lists.hpp"
#include "c/options.hpp"

namespace kith::c {
namespace {

// What the caller described, if it was copied.
template <class T>
struct SparseRows {
  std::vector<std::int64_t> indptr;
  std::vector<std::int32_t> narrow;
  std::vector<std::int64_t> wide;
  std::vector<T> values;
};

// A base that is the index's own lies in memory that does not move with the object.
template <class T>
struct SparseObject {
  SparseRows<T> rows;
  SparseIndex<T> index;
};

using SparseVariant = std::variant<SparseObject<float>, SparseObject<double>>;
using SparseTable = HandleTable<kith_sparse_index, SparseVariant>;

// Never destroyed, for threads may outlive static objects.
SparseTable& sparse_table() {
  static SparseTable& indexes = *new SparseTable("kith_sparse_index");
  return indexes;
}

// `work(index)` of the index, which stays until it returns.
template <class Work>
kith_status with_sparse(const kith_sparse_index* index, Work work) noexcept {
  return call([&] {
    const auto object = sparse_table().get(index);
    std::visit([&]<class T>(const SparseObject<T>& of) { work(of.index); }, *object);
  });
}

// `with(T{})` for the type of the values.
template <class With>
auto with_values(const kith_csr* rows, const char* role, With with) {
  switch (dtype_of(need(rows, role).dtype, role)) {
    case DType::float32: return with(float{});
    case DType::float64: return with(double{});
    default:
      throw Error(ErrorCode::invalid_argument, fmt::format("{} is of type {}; sparse rows are float32 or float64", role,
                                                           to_string(dtype_of(rows->dtype, role))));
  }
}

// What else is wrong the searches find out.
template <class T>
CsrView<T> csr_of(const kith_csr* rows, const char* role) {
  need(rows, role);
  check_dtype(rows->dtype, kith::dtype_of<T>(), role);
  CsrView<T> view{rows->rows,
                  rows->cols,
                  rows->entries,
                  elements<std::int64_t>(static_cast<const void*>(rows->indptr), role),
                  {},
                  elements<T>(rows->values, role)};
  if (rows->index_bytes == 4) {
    view.indices = elements<std::int32_t>(rows->indices, role);
  } else if (rows->index_bytes == 8) {
    view.indices = elements<std::int64_t>(rows->indices, role);
  } else {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has column numbers of {} bytes; they have 4 or 8", role, rows->index_bytes));
  }
  return view;
}

// The rows' memory, and the view of it.
template <class T>
CsrView<T> copy_rows(const kith_csr* rows, const char* role, SparseRows<T>& copy) {
  const auto keep = [](auto& vector, auto span) { vector.assign(span.begin(), span.end()); };
  CsrView<T> view = csr_of<T>(rows, role);
  if (view.rows < 1 || view.rows == std::numeric_limits<std::int64_t>::max())
    throw Error(ErrorCode::invalid_argument, fmt::format("{} has {} rows; at least one is needed", role, view.rows));
  keep(copy.indptr, span_of(view.indptr, view.rows + 1, "indptr"));
  keep(copy.values, span_of(view.values, view.entries, "values"));
  if (rows->index_bytes == 4) {
    keep(copy.narrow, span_of(static_cast<const std::int32_t*>(rows->indices), view.entries, "indices"));
    view.indices = copy.narrow.data();
  } else {
    keep(copy.wide, span_of(static_cast<const std::int64_t*>(rows->indices), view.entries, "indices"));
    view.indices = copy.wide.data();
  }
  view.indptr = copy.indptr.data();
  view.values = copy.values.data();
  return view;
}

// What only other searches can follow is refused, not passed over.
SparseOptions sparse_options_of(const char* metric, const kith_options* options) {
  const Options given = options_of(options);
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorCode::invalid_argument, what + ", which searches of sparse rows do not have");
  };
  if (!(given.metric == Metric()))
    refuse(fmt::format("options have metric {} besides that of the index", to_string(given.metric)));
  if (given.method != Method::automatic && given.method != Method::brute)
    refuse(fmt::format("method {} was asked for", to_string(given.method)));
  if (given.distance != DistanceStage::automatic)
    refuse(fmt::format("distance stage {} was asked for", to_string(given.distance)));
  if (given.select != SelectMethod::automatic)
    refuse(fmt::format("selection {} was asked for", to_string(given.select)));
  if (given.epsilon != 0) refuse(fmt::format("epsilon = {} was asked for", given.epsilon));
  if (!given.period.empty()) refuse("periodic axes were asked for");
  if (given.pad_missing) refuse("pad_missing was asked for");
  if (given.statistics) refuse("statistics were asked for");
  SparseOptions made;
  if (metric != nullptr) made.metric = parse_sparse_metric(metric);
  made.backend = given.backend;
  made.threads = given.threads;
  made.memory_budget = given.memory_budget;
  made.max_distance = given.max_distance;
  made.check_finite = given.check_finite;
  made.progress = given.progress;
  return made;
}

template <class T>
kith_sparse_index* add_sparse(SparseRows<T>&& rows, const CsrView<T>& view, SparseOptions&& options) {
  return sparse_table().add(
      std::make_shared<SparseVariant>(SparseObject<T>{std::move(rows), SparseIndex<T>(view, std::move(options))}));
}

}  // namespace
}  // namespace kith::c

using namespace kith::c;
using kith::SparseIndex;

kith_status kith_sparse_index_create(const kith_csr* base, const char* metric, const kith_options* options,
                                     kith_sparse_index** out) noexcept {
  return call([&] {
    need(out, "out");
    with_values(base, "base", [&]<class T>(T) {
      *out = add_sparse<T>({}, csr_of<T>(base, "base"), sparse_options_of(metric, options));
    });
  });
}

kith_status kith_sparse_index_create_copy(const kith_csr* base, const char* metric, const kith_options* options,
                                          kith_sparse_index** out) noexcept {
  return call([&] {
    need(out, "out");
    with_values(base, "base", [&]<class T>(T) {
      SparseRows<T> copy;
      const kith::CsrView<T> view = copy_rows<T>(base, "base", copy);
      *out = add_sparse<T>(std::move(copy), view, sparse_options_of(metric, options));
    });
  });
}

kith_status kith_sparse_index_destroy(kith_sparse_index* index) noexcept {
  return call([&] { sparse_table().remove(index); });
}

kith_status kith_sparse_index_shape(const kith_sparse_index* index, int64_t* rows, int64_t* dims,
                                    kith_dtype* dtype) noexcept {
  return with_sparse(index, [&]<class T>(const SparseIndex<T>& of) {
    if (rows != nullptr) *rows = of.rows();
    if (dims != nullptr) *dims = of.dims();
    if (dtype != nullptr) *dtype = number_of(kith::dtype_of<T>());
  });
}

kith_status kith_sparse_index_search(const kith_sparse_index* index, const kith_csr* queries, int64_t k,
                                     const kith_neighbors* out) noexcept {
  return with_sparse(index, [&]<class T>(const SparseIndex<T>& of) {
    const kith::CsrView<T> view = csr_of<T>(queries, "queries");
    of.search_into(view, k, host_room<T>(out, view.rows, k));
  });
}

kith_status kith_sparse_index_search_self(const kith_sparse_index* index, int64_t k,
                                          const kith_neighbors* out) noexcept {
  return with_sparse(
      index, [&]<class T>(const SparseIndex<T>& of) { of.search_self_into(k, host_room<T>(out, of.rows(), k)); });
}

kith_status kith_sparse_index_search_radius(const kith_sparse_index* index, const kith_csr* queries,
                                            const double* radii, int64_t radius_count, int32_t count_only,
                                            kith_lists** out) noexcept {
  return with_sparse(index, [&]<class T>(const SparseIndex<T>& of) {
    need(out, "out");
    const kith::CsrView<T> view = csr_of<T>(queries, "queries");
    const std::vector<T> rounded = rounded_radii<T>(radii, radius_count);
    *out = make_lists(Lists<T>(of.search_radius(view, rounded, radius_output(count_only))));
  });
}

kith_status kith_sparse_index_search_radius_self(const kith_sparse_index* index, const double* radii,
                                                 int64_t radius_count, int32_t count_only, kith_lists** out) noexcept {
  return with_sparse(index, [&]<class T>(const SparseIndex<T>& of) {
    need(out, "out");
    const std::vector<T> rounded = rounded_radii<T>(radii, radius_count);
    *out = make_lists(Lists<T>(of.search_radius_self(rounded, radius_output(count_only))));
  });
}

kith_status kith_sparse_index_graph(const kith_sparse_index* index, int64_t k, const char* symmetrize,
                                    kith_lists** out) noexcept {
  return with_sparse(index, [&]<class T>(const SparseIndex<T>& of) {
    need(out, "out");
    *out = make_lists(Lists<T>(of.graph(k, symmetrize_of(symmetrize))));
  });
}
