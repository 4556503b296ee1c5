#include "cpu/bits/bit_scan.hpp"

namespace kith::cpu {
namespace {

BitRows bit_rows_of(const BitsView& view, std::int64_t first, std::int64_t count) {
  return {view.row(first), count, view.stride, bit_bytes(view.bits)};
}

}  // namespace

std::uint32_t* AlignedWords::of_size(std::int64_t count) {
  constexpr std::size_t kLine = 64;
  words_.resize(static_cast<std::size_t>(count) + kLine / sizeof(std::uint32_t));
  const auto over = reinterpret_cast<std::uintptr_t>(words_.data()) % kLine;
  return words_.data() + (over == 0 ? 0 : (kLine - over) / sizeof(std::uint32_t));
}

void BitScan::begin(std::int64_t first, std::int64_t count) {
  const std::int64_t words = bit_words(queries_.bits);
  const auto size = static_cast<std::size_t>(count);
  count_ = count;
  work_.queries.resize(static_cast<std::size_t>(count * words));
  pack_bit_queries(bit_rows_of(queries_, first, count), work_.queries.data());
  if (metric_ == BitMetric::hamming) return work_.limits.assign(size, core::hamming_limit(2, base_.bits));
  work_.ratios.assign(size, {});
  work_.query_populations.resize(size);
  for (std::size_t q = 0; q < size; ++q)
    work_.query_populations[q] = population(work_.queries.data() + static_cast<std::int64_t>(q) * words, words);
}

void BitScan::set_limit(std::int64_t query, float below) {
  const auto q = static_cast<std::size_t>(query);
  if (metric_ == BitMetric::hamming) {
    work_.limits[q] = core::hamming_limit(below, base_.bits);
  } else {
    work_.ratios[q] = core::jaccard_limit(below, work_.query_populations[q]);
  }
}

std::int64_t BitScan::search_tile(std::int64_t row, std::int64_t rows) {
  const std::int64_t words = bit_words(base_.bits);
  std::uint32_t* const panels = work_.panels.of_size(padded(rows) * words);
  const BitQueries queries{work_.queries.data(), count_, words};
  work_.hits.resize(static_cast<std::size_t>(rows * count_));
  if (metric_ == BitMetric::hamming) {
    pack_bit_panels(bit_rows_of(base_, row, rows), panels, nullptr);
    return differing_bits(queries, {panels, nullptr, rows}, work_.limits.data(), work_.hits.data());
  }
  work_.row_populations.resize(static_cast<std::size_t>(padded(rows)));
  pack_bit_panels(bit_rows_of(base_, row, rows), panels, work_.row_populations.data());
  return common_bits(queries, {panels, work_.row_populations.data(), rows}, work_.ratios.data(), work_.hits.data());
}

float BitScan::key_of(const BitHit& hit) const {
  if (metric_ == BitMetric::hamming) return core::hamming_key(hit.count, base_.bits);
  return core::jaccard_key(hit.count, work_.query_populations[hit.query],
                           static_cast<std::int64_t>(work_.row_populations[hit.row]));
}

}  // namespace kith::cpu
