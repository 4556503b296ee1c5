#include "kith/index.hpp"

#include <algorithm>
#include <utility>

#include "api/device_index.hpp"
#include "api/exclude_self.hpp"
#include "api/graph.hpp"
#include "api/guard.hpp"
#include "api/radius.hpp"
#include "api/searcher.hpp"
#include "api/validate.hpp"

namespace kith {
namespace {

void require_host(std::initializer_list<Memory> memories) {
  for (const Memory memory : memories)
    if (memory != Memory::host) throw Error(ErrorCode::internal, "device memory here is not there yet");
}

}  // namespace

template <Element T>
struct Index<T>::State {
  MatrixView<T> base;
  Matrix<T> owned;
  std::unique_ptr<api::Searcher<T>> host;
  std::unique_ptr<api::OnDevice<T>> device;

  const api::Searcher<T>& searcher() const {
    require_host({base.memory});
    return *host;
  }
};

template <Element T>
Index<T>::Index(MatrixView<T> base, Options options, void* stream) : state_(std::make_unique<State>()) {
  api::check_view(base, "base");
  state_->base = base;
  if (base.memory == Memory::device) {
    state_->device = api::guarded([&] { return std::make_unique<api::OnDevice<T>>(base, std::move(options), stream); });
    return;
  }
  options.backend = api::check_options(options);
  state_->host = api::guarded([&] { return std::make_unique<api::Searcher<T>>(base, std::move(options), 0, 0); });
}

template <Element T>
Index<T>::Index(Matrix<T>&& base, Options options) : Index(base.view(), std::move(options)) {
  state_->owned = std::move(base);  // its values stay where they are, so the view stays good
}

template <Element T>
Index<T>::Index(Index&&) noexcept = default;
template <Element T>
Index<T>& Index<T>::operator=(Index&&) noexcept = default;
template <Element T>
Index<T>::~Index() = default;

template <Element T>
std::int64_t Index<T>::rows() const {
  return state_->base.rows;
}

template <Element T>
std::int64_t Index<T>::dims() const {
  return state_->base.cols;
}

template <Element T>
const Options& Index<T>::options() const {
  return state_->host ? state_->host->options() : state_->device->options();
}

template <Element T>
Memory Index<T>::memory() const {
  return state_->base.memory;
}

template <Element T>
auto Index<T>::search(MatrixView<T> queries, std::int64_t k, void* /*stream*/) const -> Neighbors<D> {
  require_host({queries.memory});
  api::check_search(state_->base, queries, k);
  return api::guarded([&] { return state_->searcher().search(queries, k); });
}

template <Element T>
SearchReport Index<T>::search_into(MatrixView<T> queries, std::int64_t k, NeighborsView<D> out, void* stream) const {
  if (state_->device) return api::guarded([&] { return state_->device->search(queries, k, out, stream); });
  require_host({queries.memory, out.memory});
  api::check_search(state_->base, queries, k);
  api::check_outputs(out.ids, out.distances);
  return api::guarded([&] { return state_->searcher().run(queries, k, out.ids, out.distances); });
}

template <Element T>
auto Index<T>::search_self(std::int64_t k, void* /*stream*/) const -> Neighbors<D> {
  api::check_k(k, rows() - 1, "the number of other points is");
  api::check_sizes(rows(), rows(), k + 1);
  return api::guarded([&] { return api::exclude_self(state_->searcher().search(state_->base, k + 1)); });
}

template <Element T>
SearchReport Index<T>::search_self_into(std::int64_t k, NeighborsView<D> out, void* stream) const {
  require_host({out.memory});
  Neighbors<D> found = search_self(k, stream);
  std::copy(found.ids.begin(), found.ids.end(), out.ids);
  std::copy(found.distances.begin(), found.distances.end(), out.distances);
  return std::move(found.report);
}

template <Element T>
auto Index<T>::search_radius(MatrixView<T> queries, std::span<const D> radii, RadiusOutput output,
                             void* /*stream*/) const -> RadiusNeighbors<D> {
  require_host({queries.memory});
  api::check_search(state_->base, queries, 1);
  return api::guarded([&] {
    return state_->searcher().search_radius(queries, api::reach_of(radii, queries.rows, options().metric, output));
  });
}

namespace {

template <class D>
SearchReport put_lists(RadiusNeighbors<D> found, const RadiusLists<D>& out) {
  require_host({out.memory});
  std::copy(found.offsets.begin(), found.offsets.end(), out.offsets);
  if (out.allocate) {
    const NeighborsView<D> to = out.allocate(found.offsets.back());
    std::copy(found.ids.begin(), found.ids.end(), to.ids);
    std::copy(found.distances.begin(), found.distances.end(), to.distances);
  }
  return std::move(found.report);
}

template <class D>
RadiusOutput output_of(const RadiusLists<D>& out) {
  return out.allocate ? RadiusOutput::neighbors : RadiusOutput::count_only;
}

}  // namespace

template <Element T>
SearchReport Index<T>::search_radius_into(MatrixView<T> queries, std::span<const D> radii, const RadiusLists<D>& out,
                                          void* stream) const {
  return put_lists(search_radius(queries, radii, output_of(out), stream), out);
}

template <Element T>
auto Index<T>::search_radius_self(std::span<const D> radii, RadiusOutput output, void* /*stream*/) const
    -> RadiusNeighbors<D> {
  return api::guarded([&] {
    auto reach = api::reach_of(radii, rows(), options().metric, output);
    reach.exclude_self = true;
    return state_->searcher().search_radius(state_->base, reach);
  });
}

template <Element T>
SearchReport Index<T>::search_radius_self_into(std::span<const D> radii, const RadiusLists<D>& out,
                                               void* stream) const {
  return put_lists(search_radius_self(radii, output_of(out), stream), out);
}

template <Element T>
auto Index<T>::graph(std::int64_t k, Symmetrize symmetrize, void* stream) const -> Graph<D> {
  return api::guarded([&] { return api::graph_of(search_self(k, stream), symmetrize); });
}

template <Element T>
SearchReport Index<T>::graph_into(std::int64_t k, Symmetrize symmetrize, const GraphLists<D>& out, void* stream) const {
  require_host({out.memory});
  Graph<D> made = graph(k, symmetrize, stream);
  std::copy(made.indptr.begin(), made.indptr.end(), out.indptr);
  const NeighborsView<D> to = out.allocate(made.indptr.back());
  std::copy(made.indices.begin(), made.indices.end(), to.ids);
  std::copy(made.data.begin(), made.data.end(), to.distances);
  return std::move(made.report);
}

template <Element T>
auto Index<T>::reduce(MatrixView<T> queries, std::int64_t k, MatrixView<D> values, ReduceOp op, void* stream) const
    -> Reduced<D> {
  require_host({queries.memory, values.memory, memory()});
  return kith::reduce(state_->base, queries, k, values, op, options(), stream);
}

template <Element T>
SearchReport Index<T>::reduce_into(MatrixView<T> queries, std::int64_t k, MatrixView<D> values, ReduceOp op,
                                   ReducedView<D> out, void* stream) const {
  if (state_->device && out.memory == Memory::device)
    return api::guarded([&] { return state_->device->reduce(queries, k, values, op, out.values, stream); });
  require_host({out.memory});
  Reduced<D> reduced = reduce(queries, k, values, op, stream);
  std::copy(reduced.values.data(), reduced.values.data() + queries.rows * reduced.values.cols(), out.values);
  return std::move(reduced.report);
}

template <Element T>
Plan Index<T>::explain(std::int64_t queries, std::int64_t k) const {
  return kith::explain({rows(), queries, dims(), k, dtype_of<T>()}, options());
}

template class Index<float>;
template class Index<double>;
template class Index<std::uint8_t>;
template class Index<std::int8_t>;

}  // namespace kith
