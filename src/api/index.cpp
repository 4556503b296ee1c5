#include "kith/index.hpp"

#include <utility>

#include "api/searcher.hpp"

namespace kith {

template <Element T>
struct Index<T>::State {
  State(const MatrixView<T>& base, Options options, void* stream) : searcher(base, std::move(options), stream) {
    searcher.prepare();
  }

  Matrix<T> owned;
  api::Searcher<T> searcher;
};

template <Element T>
Index<T>::Index(MatrixView<T> base, Options options, void* stream)
    : state_(std::make_unique<State>(base, std::move(options), stream)) {}

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
  return state_->searcher.base().rows;
}

template <Element T>
std::int64_t Index<T>::dims() const {
  return state_->searcher.base().cols;
}

template <Element T>
const Options& Index<T>::options() const {
  return state_->searcher.options();
}

template <Element T>
Memory Index<T>::memory() const {
  return state_->searcher.base().memory;
}

template <Element T>
auto Index<T>::search(MatrixView<T> queries, std::int64_t k, void* stream) const -> Neighbors<D> {
  return state_->searcher.search({queries, stream}, k);
}

template <Element T>
SearchReport Index<T>::search_into(MatrixView<T> queries, std::int64_t k, NeighborsView<D> out, void* stream) const {
  return state_->searcher.search_into({queries, stream}, k, out);
}

template <Element T>
auto Index<T>::search_self(std::int64_t k, void* stream) const -> Neighbors<D> {
  return state_->searcher.search(state_->searcher.self(stream), k);
}

template <Element T>
SearchReport Index<T>::search_self_into(std::int64_t k, NeighborsView<D> out, void* stream) const {
  return state_->searcher.search_into(state_->searcher.self(stream), k, out);
}

template <Element T>
auto Index<T>::search_radius(MatrixView<T> queries, std::span<const D> radii, RadiusOutput output, void* stream) const
    -> RadiusNeighbors<D> {
  return state_->searcher.search_radius({queries, stream}, radii, output);
}

template <Element T>
SearchReport Index<T>::search_radius_into(MatrixView<T> queries, std::span<const D> radii, const RadiusLists<D>& out,
                                          void* stream) const {
  return state_->searcher.search_radius_into({queries, stream}, radii, out);
}

template <Element T>
auto Index<T>::search_radius_self(std::span<const D> radii, RadiusOutput output, void* stream) const
    -> RadiusNeighbors<D> {
  return state_->searcher.search_radius(state_->searcher.self(stream), radii, output);
}

template <Element T>
SearchReport Index<T>::search_radius_self_into(std::span<const D> radii, const RadiusLists<D>& out,
                                               void* stream) const {
  return state_->searcher.search_radius_into(state_->searcher.self(stream), radii, out);
}

template <Element T>
auto Index<T>::graph(std::int64_t k, Symmetrize symmetrize, void* stream) const -> Graph<D> {
  return state_->searcher.graph(k, symmetrize, stream);
}

template <Element T>
SearchReport Index<T>::graph_into(std::int64_t k, Symmetrize symmetrize, const GraphLists<D>& out, void* stream) const {
  return state_->searcher.graph_into(k, symmetrize, out, stream);
}

template <Element T>
auto Index<T>::reduce(MatrixView<T> queries, std::int64_t k, MatrixView<D> values, ReduceOp op, void* stream) const
    -> Reduced<D> {
  return state_->searcher.reduce({queries, stream}, k, values, op);
}

template <Element T>
SearchReport Index<T>::reduce_into(MatrixView<T> queries, std::int64_t k, MatrixView<D> values, ReduceOp op,
                                   ReducedView<D> out, void* stream) const {
  return state_->searcher.reduce_into({queries, stream}, k, values, op, out);
}

template <Element T>
Plan Index<T>::explain(std::int64_t queries, std::int64_t k) const {
  return state_->searcher.explain(queries, k);
}

template class Index<float>;
template class Index<double>;
template class Index<std::uint8_t>;
template class Index<std::int8_t>;

}  // namespace kith
