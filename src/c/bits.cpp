// bits.cpp: kith_bit_index: rows of packed bits.
#include "kith/bits.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "c/answers.hpp"
#include "c/arguments.hpp"
#include "c/call.hpp"
#include "c/handles.hpp"
#include "c/lists.hpp"
#include "c/options.hpp"
#include "c/rows.hpp"
#include "core/bit_key.hpp"

namespace kith::c {
namespace {

using BitTable = HandleTable<kith_bit_index, BitIndex>;

// Never destroyed, for threads may outlive static objects.
BitTable& bit_table() {
  static BitTable& indexes = *new BitTable("kith_bit_index");
  return indexes;
}

// `work(index)` of the index, which stays until it returns.
template <class Work>
kith_status with_bits(const kith_bit_index* index, Work work) noexcept {
  return call([&] {
    const auto object = bit_table().get(index);
    work(std::as_const(*object));
  });
}

BitMetric bit_metric_of(const char* name) {
  return name == nullptr ? BitMetric::hamming : parse_bit_metric(name);
}

// With the stride that 0 stands for. What else is wrong the searches find out.
BitsView bits_of(const kith_bits* bits, const char* role) {
  need(bits, role);
  if (bits->stride == 0) return {bits->data, bits->rows, bits->bits};
  return {bits->data, bits->rows, bits->bits, bits->stride};
}

std::vector<std::uint8_t> copied_bytes(const kith_bits* bits, const char* role) {
  need(bits, role);
  if (bits->bits < 1 || bits->bits > core::kMostBits)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("rows of {} bits; 1 to {} are allowed", bits->bits, core::kMostBits));
  const kith_matrix bytes{bits->data, bits->rows, bit_bytes(bits->bits), bits->stride, 0, KITH_UINT8, KITH_HOST};
  const Matrix<std::uint8_t> copy = copied_rows<std::uint8_t>(&bytes, role);
  return {copy.data(), copy.data() + copy.rows() * copy.cols()};
}

}  // namespace
}  // namespace kith::c

using namespace kith::c;
using kith::BitIndex;

kith_status kith_bit_index_create(const kith_bits* base, const char* metric, const kith_options* options,
                                  kith_bit_index** out) noexcept {
  return call([&] {
    need(out, "out");
    *out =
        bit_table().add(std::make_shared<BitIndex>(bits_of(base, "base"), bit_metric_of(metric), options_of(options)));
  });
}

kith_status kith_bit_index_create_copy(const kith_bits* base, const char* metric, const kith_options* options,
                                       kith_bit_index** out) noexcept {
  return call([&] {
    need(out, "out");
    const kith::BitMetric by = bit_metric_of(metric);
    std::vector<std::uint8_t> bytes = copied_bytes(base, "base");
    *out = bit_table().add(std::make_shared<BitIndex>(std::move(bytes), base->bits, by, options_of(options)));
  });
}

kith_status kith_bit_index_destroy(kith_bit_index* index) noexcept {
  return call([&] { bit_table().remove(index); });
}

kith_status kith_bit_index_shape(const kith_bit_index* index, int64_t* rows, int64_t* bits) noexcept {
  return with_bits(index, [&](const BitIndex& of) {
    if (rows != nullptr) *rows = of.rows();
    if (bits != nullptr) *bits = of.bits();
  });
}

kith_status kith_bit_index_search(const kith_bit_index* index, const kith_bits* queries, int64_t k,
                                  const kith_neighbors* out) noexcept {
  return with_bits(index, [&](const BitIndex& of) {
    const kith::BitsView view = bits_of(queries, "queries");
    of.search_into(view, k, host_room<float>(out, view.rows, k));
  });
}

kith_status kith_bit_index_search_self(const kith_bit_index* index, int64_t k, const kith_neighbors* out) noexcept {
  return with_bits(index, [&](const BitIndex& of) { of.search_self_into(k, host_room<float>(out, of.rows(), k)); });
}

kith_status kith_bit_index_search_radius(const kith_bit_index* index, const kith_bits* queries, const double* radii,
                                         int64_t radius_count, int32_t count_only, kith_lists** out) noexcept {
  return with_bits(index, [&](const BitIndex& of) {
    need(out, "out");
    const kith::BitsView view = bits_of(queries, "queries");
    const std::vector<float> rounded = rounded_radii<float>(radii, radius_count);
    *out = make_lists(Lists<float>(of.search_radius(view, rounded, radius_output(count_only))));
  });
}

kith_status kith_bit_index_search_radius_self(const kith_bit_index* index, const double* radii, int64_t radius_count,
                                              int32_t count_only, kith_lists** out) noexcept {
  return with_bits(index, [&](const BitIndex& of) {
    need(out, "out");
    const std::vector<float> rounded = rounded_radii<float>(radii, radius_count);
    *out = make_lists(Lists<float>(of.search_radius_self(rounded, radius_output(count_only))));
  });
}

kith_status kith_bit_index_explain(const kith_bit_index* index, int64_t queries, int64_t k, char* buffer, size_t size,
                                   size_t* length) noexcept {
  return with_bits(index,
                   [&](const BitIndex& of) { write_text(to_string(of.explain(queries, k)), buffer, size, length); });
}
