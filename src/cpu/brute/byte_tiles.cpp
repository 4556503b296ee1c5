#include "cpu/brute/byte_tiles.hpp"

#include <cstddef>
#include <type_traits>

namespace kith::cpu {

template <Element T>
ByteTiles<T>::ByteTiles(const Metric& metric, std::int64_t dims, ByteWorkspace& workspace)
    : form_{best_byte_layout(), core::form_of(metric) == core::Form::squared, dims}, workspace_(workspace) {}

template <Element T>
ByteRows ByteTiles<T>::rows_of(const MatrixView<T>& view, std::int64_t first, std::int64_t count) {
  constexpr bool kSigned = std::is_signed_v<T>;
  if (view.col_stride == 1)
    return {reinterpret_cast<const std::uint8_t*>(view.row(first)), count, view.row_stride, kSigned};
  workspace_.rows.resize(static_cast<std::size_t>(count * view.cols));
  std::uint8_t* to = workspace_.rows.data();
  for (std::int64_t r = 0; r < count; ++r)
    for (std::int64_t c = 0; c < view.cols; ++c) *to++ = static_cast<std::uint8_t>(view(first + r, c));
  return {workspace_.rows.data(), count, view.cols, kSigned};
}

template <Element T>
void ByteTiles<T>::set_queries(const PreparedRows<T>& queries, std::int64_t first, std::int64_t count) {
  queries_ = count;
  workspace_.queries.resize(static_cast<std::size_t>(count * form_.groups()));
  workspace_.query_bias.resize(static_cast<std::size_t>(count));
  workspace_.floors.resize(static_cast<std::size_t>(count));
  pack_byte_queries(form_, rows_of(queries.view, first, count), workspace_.queries.data(),
                    workspace_.query_bias.data());
}

template <Element T>
std::int64_t ByteTiles<T>::score(const PreparedRows<T>& base, std::int64_t first, std::int64_t count,
                                 const TiledOutput<float>& out) {
  for (std::size_t q = 0; q < workspace_.floors.size(); ++q)
    workspace_.floors[q] = byte_sum_floor(form_.squared, out.limits[q], workspace_.query_bias[q]);
  workspace_.panels.resize(static_cast<std::size_t>(padded(count) * form_.groups()));
  workspace_.row_bias.resize(static_cast<std::size_t>(padded(count)));
  pack_byte_panels(form_, rows_of(base.view, first, count), workspace_.panels.data(), workspace_.row_bias.data());
  return byte_scores(form_,
                     {workspace_.queries.data(), workspace_.query_bias.data(), workspace_.floors.data(), queries_},
                     {workspace_.panels.data(), workspace_.row_bias.data(), count}, out);
}

template class ByteTiles<std::uint8_t>;
template class ByteTiles<std::int8_t>;

}  // namespace kith::cpu
