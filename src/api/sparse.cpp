#include "kith/sparse.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "api/index_state.hpp"
#include "api/radii.hpp"
#include "backend/machine.hpp"
#include "backend/sparse.hpp"
#include "core/names.hpp"
#include "core/neighbor_graph.hpp"
#include "core/order.hpp"

namespace kith {
namespace {

constexpr std::array<core::Name<SparseMetric>, 12> kSparseMetrics{{
    {"euclidean", SparseMetric::euclidean},
    {"l2", SparseMetric::euclidean},
    {"sqeuclidean", SparseMetric::sqeuclidean},
    {"l2_squared", SparseMetric::sqeuclidean},
    {"cosine", SparseMetric::cosine},
    {"inner_product", SparseMetric::inner_product},
    {"ip", SparseMetric::inner_product},
    {"dot", SparseMetric::inner_product},
    {"manhattan", SparseMetric::manhattan},
    {"l1", SparseMetric::manhattan},
    {"cityblock", SparseMetric::manhattan},
    {"jaccard", SparseMetric::jaccard},
}};

void check_sparse_options(const SparseOptions& options) {
  if (options.backend != Backend::automatic && options.backend != Backend::cpu)
    throw Error(ErrorCode::invalid_argument, fmt::format("backend {} for sparse points; only backend cpu searches them",
                                                         to_string(options.backend)));
  Options same;
  same.backend = Backend::cpu;
  if (options.metric == SparseMetric::inner_product) same.metric = MetricKind::inner_product;
  same.threads = options.threads;
  same.memory_budget = options.memory_budget;
  same.max_distance = options.max_distance;
  api::check_options(same);
}

template <class Work>
SparseReport sparse_reported(Work work) {
  return api::guarded([&] {
    const auto start = std::chrono::steady_clock::now();
    SparseReport report;
    work(report);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  });
}

void check_host(Memory memory) {
  if (memory == Memory::device)
    throw Error(ErrorCode::invalid_argument,
                "an answer on a device for sparse points; they are searched in host memory");
}

}  // namespace

const char* to_string(SparseMetric metric) noexcept {
  return core::name_of(kSparseMetrics, metric);
}

SparseMetric parse_sparse_metric(std::string_view name) {
  return core::parse_name(kSparseMetrics, "metric of sparse points", name);
}

std::vector<std::string> sparse_metric_names() {
  std::vector<std::string> names;
  for (const auto& [name, metric] : kSparseMetrics)
    if (name == to_string(metric)) names.emplace_back(name);
  return names;
}

template <SparseElement T>
struct SparseIndex<T>::State {
  State(const CsrView<T>& base, SparseOptions options_)
      : rows(base.rows), cols(base.cols), options(std::move(options_)) {
    api::guarded([&] {
      check_sparse_options(options);
      searcher = cpu::make_sparse_index(base, options);
    });
  }

  // Queries, of which null are the base.
  void check_queries(const CsrView<T>* queries, std::int64_t k) const {
    if (queries == nullptr) {
      api::check_k(k, rows - 1, "the number of other points is");
      api::check_sizes(rows, rows, k + 1);
      return;
    }
    if (queries->rows < 1)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("queries are {} × {}; at least one row is needed", queries->rows, queries->cols));
    api::check_same_dims(cols, queries->cols);
    api::check_k(k, rows, "the number of base points is");
    api::check_sizes(queries->rows, rows, k);
  }
  std::int64_t count_of(const CsrView<T>* queries) const { return queries == nullptr ? rows : queries->rows; }

  SparseReport search_into(const CsrView<T>* queries, std::int64_t k, const NeighborsView<T>& out) const {
    return sparse_reported([&](SparseReport& report) {
      check_queries(queries, k);
      check_host(out.memory);
      api::check_outputs(out.ids, out.distances);
      searcher->search(queries, k, out, report);
    });
  }

  SparseNeighbors<T> search(const CsrView<T>* queries, std::int64_t k) const {
    return api::guarded([&] {
      check_queries(queries, k);
      SparseNeighbors<T> found;
      found.queries = count_of(queries);
      found.k = k;
      api::check_output(found.queries, k, sizeof(std::int64_t) + sizeof(T));
      found.report = search_into(queries, k, api::growing(found.ids, found.distances)(found.queries * k));
      return found;
    });
  }

  SparseReport radius_into(const CsrView<T>* queries, std::span<const T> radii, const RadiusLists<T>& out) const {
    return sparse_reported([&](SparseReport& report) {
      if (queries != nullptr) check_queries(queries, 1);
      check_host(out.memory);
      if (std::isfinite(options.max_distance))
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("max_distance = {} is for the k nearest; a radius search has its radius",
                                options.max_distance));
      if (out.offsets == nullptr)
        throw Error(ErrorCode::invalid_argument, "offsets must point to queries + 1 elements (null pointer)");
      core::RadiusQuery<T> query =
          api::checked_radii(radii, count_of(queries), options.metric == SparseMetric::inner_product);
      query.count_only = !out.allocate;
      query.exclude_self = queries == nullptr;
      constexpr auto kHitBytes = static_cast<std::int64_t>(sizeof(core::Hit<T>) + sizeof(std::int64_t) + sizeof(T));
      query.max_hits = backend::free_memory().bytes / kHitBytes;
      RadiusLists<T> lists{out.offsets, {}, Memory::host};
      if (out.allocate) lists.allocate = api::checked_allocate<T>(out.allocate, Memory::host);
      searcher->search_radius(queries, query, lists, report);
    });
  }

  SparseLists<T> radius(const CsrView<T>* queries, std::span<const T> radii, RadiusOutput output) const {
    return api::guarded([&] {
      if (queries != nullptr) check_queries(queries, 1);
      SparseLists<T> found;
      found.rows = count_of(queries);
      found.offsets.resize(static_cast<std::size_t>(found.rows) + 1);
      RadiusLists<T> lists{found.offsets.data(), {}, Memory::host};
      if (output == RadiusOutput::neighbors) lists.allocate = api::growing(found.ids, found.distances);
      found.report = radius_into(queries, radii, lists);
      return found;
    });
  }

  std::int64_t rows;
  std::int64_t cols;
  SparseOptions options;
  std::unique_ptr<backend::SparseSearcher<T>> searcher;
};

template <SparseElement T>
SparseIndex<T>::SparseIndex(const CsrView<T>& base, SparseOptions options)
    : state_(std::make_unique<State>(base, std::move(options))) {}

template <SparseElement T>
SparseIndex<T>::SparseIndex(SparseIndex&&) noexcept = default;
template <SparseElement T>
SparseIndex<T>& SparseIndex<T>::operator=(SparseIndex&&) noexcept = default;
template <SparseElement T>
SparseIndex<T>::~SparseIndex() = default;

template <SparseElement T>
auto SparseIndex<T>::state() const -> const State& {
  if (state_ == nullptr)
    throw Error(ErrorCode::invalid_argument, "this index has no points any more: it was moved from");
  return *state_;
}

template <SparseElement T>
std::int64_t SparseIndex<T>::rows() const {
  return state().rows;
}

template <SparseElement T>
std::int64_t SparseIndex<T>::dims() const {
  return state().cols;
}

template <SparseElement T>
const SparseOptions& SparseIndex<T>::options() const {
  return state().options;
}

template <SparseElement T>
SparseNeighbors<T> SparseIndex<T>::search(const CsrView<T>& queries, std::int64_t k) const {
  return state().search(&queries, k);
}

template <SparseElement T>
SparseReport SparseIndex<T>::search_into(const CsrView<T>& queries, std::int64_t k, NeighborsView<T> out) const {
  return state().search_into(&queries, k, out);
}

template <SparseElement T>
SparseNeighbors<T> SparseIndex<T>::search_self(std::int64_t k) const {
  return state().search(nullptr, k);
}

template <SparseElement T>
SparseReport SparseIndex<T>::search_self_into(std::int64_t k, NeighborsView<T> out) const {
  return state().search_into(nullptr, k, out);
}

template <SparseElement T>
SparseLists<T> SparseIndex<T>::search_radius(const CsrView<T>& queries, std::span<const T> radii,
                                             RadiusOutput output) const {
  return state().radius(&queries, radii, output);
}

template <SparseElement T>
SparseReport SparseIndex<T>::search_radius_into(const CsrView<T>& queries, std::span<const T> radii,
                                                const RadiusLists<T>& out) const {
  return state().radius_into(&queries, radii, out);
}

template <SparseElement T>
SparseLists<T> SparseIndex<T>::search_radius_self(std::span<const T> radii, RadiusOutput output) const {
  return state().radius(nullptr, radii, output);
}

template <SparseElement T>
SparseReport SparseIndex<T>::search_radius_self_into(std::span<const T> radii, const RadiusLists<T>& out) const {
  return state().radius_into(nullptr, radii, out);
}

template <SparseElement T>
SparseLists<T> SparseIndex<T>::graph(std::int64_t k, Symmetrize symmetrize) const {
  return api::guarded([&] {
    state().check_queries(nullptr, k);
    SparseLists<T> made;
    made.rows = rows();
    made.offsets.resize(static_cast<std::size_t>(made.rows) + 1);
    made.report =
        graph_into(k, symmetrize, {made.offsets.data(), api::growing(made.ids, made.distances), Memory::host});
    return made;
  });
}

template <SparseElement T>
SparseReport SparseIndex<T>::graph_into(std::int64_t k, Symmetrize symmetrize, const GraphLists<T>& out) const {
  return sparse_reported([&](SparseReport& report) {
    const State& index = state();
    index.check_queries(nullptr, k);
    check_host(out.memory);
    if (out.indptr == nullptr || !out.allocate)
      throw Error(ErrorCode::invalid_argument, "indptr must point to points + 1 elements, and allocate be a function");
    const bool is_cut_off = std::isfinite(index.options.max_distance);
    core::make_graph<T>(index.rows, k, symmetrize, is_cut_off,
                        GraphLists<T>{out.indptr, api::checked_allocate<T>(out.allocate, Memory::host), Memory::host},
                        [&](const NeighborsView<T>& lists) { report = index.search_into(nullptr, k, lists); });
  });
}

template <SparseElement T>
SparseNeighbors<T> search_sparse(const CsrView<T>& base, const CsrView<T>& queries, std::int64_t k,
                                 const SparseOptions& options) {
  return SparseIndex<T>(base, options).search(queries, k);
}

#define KITH_INSTANTIATE(T)                                                                              \
  template class SparseIndex<T>;                                                                         \
  template KITH_API SparseNeighbors<T> search_sparse(const CsrView<T>&, const CsrView<T>&, std::int64_t, \
                                                     const SparseOptions&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith
