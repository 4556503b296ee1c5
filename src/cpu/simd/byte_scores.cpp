// byte_scores.cpp: a tile of scores of bytes, six queries by four panels of base rows at a time, sums in registers.
// Idea    A lane of a panel holds a group of coordinates of a base row: four bytes, or two of 16 bits. An instruction
//         multiplies the groups of as many rows as a vector has lanes by one of a query and adds them up. Sums begin at
//         what the row contributes, so that one comparison a vector tells whether a score can be below the limit.
// Cost    a multiplication per pair and group / lanes; packing is one pass over the bytes per tile.
#include "cpu/simd/byte_scores.hpp"

#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/byte_scores.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/simd/byte_groups.hpp"
#include "cpu/simd/register_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

using I32 = hn::ScalableTag<std::int32_t>;
using Sums = hn::Vec<I32>;

// A layout has add_products(), which adds Σ xy of each lane's coordinates, add(), which adds Σ z, and
// add_raised_products(), which adds Σ z(z + 128).

// Two coordinates of 16 bits in a lane.
struct Pairs {
  static constexpr ByteLayout kLayout = ByteLayout::pairs;

  static HWY_INLINE Sums add_products(Sums sum, Sums x, Sums y) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
    const I32 d;
    const hn::Repartition<std::int16_t, I32> halves;
    Sums none = hn::Zero(d);
    return hn::ReorderWidenMulAccumulate(d, hn::BitCast(halves, x), hn::BitCast(halves, y), sum, none);
#else
    // Elsewhere products of neighbors do not meet in a lane.
    const auto low = [](Sums v) HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); };
    const auto high = [](Sums v) HWY_ATTR { return hn::ShiftRight<16>(v); };
    return hn::Add(hn::Add(sum, hn::Mul(low(x), low(y))), hn::Mul(high(x), high(y)));
#endif
  }

  static HWY_INLINE Sums add(Sums sum, Sums z) {
    return add_products(sum, hn::Set(I32(), 0x00010001), z);
  }
  static HWY_INLINE Sums add_raised_products(Sums sum, Sums z) {
    return add_products(add_products(sum, z, z), hn::Set(I32(), 0x00800080), z);
  }

#if HWY_TARGET != HWY_SCALAR
  static constexpr std::int64_t kLoaded = 8;  // bytes of four groups

  static HWY_INLINE hn::Vec<hn::FixedTag<std::uint32_t, 4>> load(const std::uint8_t* row, std::uint8_t flip) {
    const hn::FixedTag<std::uint8_t, 8> bytes;
    const auto values = hn::Xor(hn::LoadU(bytes, row), hn::Set(bytes, flip));
    const auto wide =
        hn::PromoteTo(hn::FixedTag<std::int16_t, 8>(), hn::BitCast(hn::FixedTag<std::int8_t, 8>(), values));
    return hn::BitCast(hn::FixedTag<std::uint32_t, 4>(), wide);
  }
#endif
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Four bytes in a lane: of x unsigned, of y signed.
struct Quads {
  static constexpr ByteLayout kLayout = ByteLayout::quads;
  static constexpr std::int64_t kLoaded = 16;

  // Not an intrinsic, which the compiler has only where it may take the instruction for all of this target's code.
  static HWY_INLINE Sums add_products(Sums sum, Sums x, Sums y) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(y.raw));
    return sum;
  }

  static HWY_INLINE Sums add(Sums sum, Sums z) { return add_products(sum, hn::Set(I32(), 0x01010101), z); }
  static HWY_INLINE Sums add_raised_products(Sums sum, Sums z) {
    const Sums raised = hn::Xor(z, hn::Set(I32(), static_cast<std::int32_t>(0x80808080)));
    return add_products(sum, raised, z);
  }

  static HWY_INLINE hn::Vec<hn::FixedTag<std::uint32_t, 4>> load(const std::uint8_t* row, std::uint8_t flip) {
    const hn::FixedTag<std::uint8_t, 16> bytes;
    return hn::BitCast(hn::FixedTag<std::uint32_t, 4>(), hn::Xor(hn::LoadU(bytes, row), hn::Set(bytes, flip)));
  }
};
#endif

// Groups `group` … of the rows of a panel, of which there are `rows`, one by one.
template <class Products>
void pack_groups(const ByteForm& form, const ByteRows& base, std::int64_t first, std::int64_t rows, std::int64_t group,
                 std::int64_t lanes, std::uint32_t* panel) {
  const auto value = [flip = base_flip(base)](std::uint8_t byte) { return static_cast<std::int8_t>(byte ^ flip); };
  constexpr std::int64_t kCoordinates = byte_group(Products::kLayout);
  for (; group < form.groups(); ++group)
    for (std::int64_t j = 0; j < lanes; ++j)
      panel[group * lanes + j] = j < rows ? group_at(Products::kLayout, base.data + (first + j) * base.stride,
                                                     group * kCoordinates, form.dims, value)
                                          : 0;
}

// Packs a panel that has all its rows.
template <class Products>
void pack_whole_panel(const ByteForm& form, const ByteRows& base, std::int64_t first, std::int64_t lanes,
                      std::uint32_t* panel) {
  std::int64_t group = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<std::uint32_t, 4> d;
  const std::uint8_t flip = base_flip(base);
  const std::int64_t whole = form.dims / Products::kLoaded;
  for (std::int64_t j = 0; j < lanes; j += 4) {
    const std::uint8_t* from = base.data + (first + j) * base.stride;
    for (std::int64_t i = 0; i < whole; ++i) {
      const auto load = [&](std::int64_t row)
                            HWY_ATTR { return Products::load(from + row * base.stride + i * Products::kLoaded, flip); };
      store_transposed(d, load(0), load(1), load(2), load(3), panel + 4 * i * lanes + j, lanes);
    }
  }
  group = 4 * whole;
#endif
  pack_groups<Products>(form, base, first, lanes, group, lanes, panel);
}

// What rows contribute to their scores: Σ z(z + 256) to squares, to products 128 Σ z or nothing.
template <class Products>
HWY_INLINE Sums row_bias(const ByteForm& form, bool is_signed, const std::uint32_t* panel, std::int64_t lanes) {
  const I32 d;
  Sums products = hn::Zero(d);  // Σ z(z + 128)
  Sums sums = hn::Zero(d);
  if (!form.squared && !is_signed) return sums;
  for (std::int64_t group = 0; group < form.groups(); ++group) {
    const Sums z = hn::BitCast(d, hn::LoadU(hn::RebindToUnsigned<I32>(), panel + group * lanes));
    products = Products::add_raised_products(products, z);
    sums = Products::add(sums, z);
  }
  const Sums shifted = hn::ShiftLeft<7>(sums);
  return form.squared ? hn::Add(products, shifted) : shifted;
}

template <class Products>
void pack(const ByteForm& form, const ByteRows& base, std::uint32_t* panels, std::int32_t* bias) {
  const I32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t block = kPanels * lanes;
  const std::int64_t padded = (base.count + block - 1) / block * block;
  for (std::int64_t first = 0; first < padded; first += lanes) {
    const std::int64_t rows = std::clamp<std::int64_t>(base.count - first, 0, lanes);
    if (rows == lanes) {
      pack_whole_panel<Products>(form, base, first, lanes, panels);
    } else {
      pack_groups<Products>(form, base, first, rows, 0, lanes, panels);
    }
    hn::StoreU(row_bias<Products>(form, base.is_signed, panels, lanes), d, bias + first);
    panels += lanes * form.groups();
  }
}

// Scores from sums that began at minus the row's part, or half of it where products count twice: `odd` is what halving
// lost.
template <bool kSquared>
HWY_INLINE hn::Vec<hn::ScalableTag<float>> score_of(Sums sum, Sums row, std::int32_t bias) {
  const I32 d;
  const Sums query = hn::Set(d, bias);
  const Sums odd = hn::And(row, hn::Set(d, 1));
  const Sums score = kSquared ? hn::Sub(hn::Add(query, odd), hn::ShiftLeft<1>(sum)) : hn::Sub(query, sum);
  return hn::ConvertTo(hn::ScalableTag<float>(), score);
}

// Sums of kCount queries from `q` on by the kPanels panels of `block`, all in registers. Appends the hits and returns
// the end of the list.
template <class Products, bool kSquared, int kCount>
HWY_INLINE BlockHit* block_scores(std::int64_t groups, const ByteQueries& queries, std::int64_t q,
                                  const std::uint32_t* HWY_RESTRICT panels, const std::int32_t* HWY_RESTRICT bias,
                                  std::int64_t block, const TiledOutput<float>& out, BlockHit* hits) {
  const I32 d;
  const hn::RebindToUnsigned<I32> unsigned_lanes;
  const hn::ScalableTag<float> floats;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t panel_size = lanes * groups;
  const std::uint32_t* HWY_RESTRICT query = queries.lanes + q * groups;
  Sums sum[kCount][kPanels];
  HWY_UNROLL(8)
  for (int i = 0; i < kPanels; ++i) {
    const Sums row = hn::LoadU(d, bias + i * lanes);
    const Sums begin = hn::Neg(kSquared ? hn::ShiftRight<1>(row) : row);
    HWY_UNROLL(8)
    for (int r = 0; r < kCount; ++r) sum[r][i] = begin;
  }
  for (std::int64_t group = 0; group < groups; ++group) {
    Sums y[kPanels];
    HWY_UNROLL(8)
    for (int i = 0; i < kPanels; ++i)
      y[i] = hn::BitCast(d, hn::LoadU(unsigned_lanes, panels + i * panel_size + group * lanes));
    HWY_UNROLL(8)
    for (int r = 0; r < kCount; ++r) {
      const Sums x = hn::BitCast(d, hn::Set(unsigned_lanes, query[r * groups + group]));
      HWY_UNROLL(8)
      for (int i = 0; i < kPanels; ++i) sum[r][i] = Products::add_products(sum[r][i], x, y[i]);
    }
  }
  const auto may_hit = [&](int r) HWY_ATTR {
    Sums largest = hn::Max(sum[r][0], sum[r][1]);
    HWY_UNROLL(8)
    for (int i = 2; i < kPanels; ++i) largest = hn::Max(largest, sum[r][i]);
    return hn::Gt(largest, hn::Set(d, queries.floors[q + r]));
  };
  auto any = may_hit(0);
  HWY_UNROLL(8)
  for (int r = 1; r < kCount; ++r) any = hn::Or(any, may_hit(r));
  if (HWY_LIKELY(hn::AllFalse(d, any))) return hits;
  HWY_UNROLL(8)
  for (int r = 0; r < kCount; ++r) {
    if (hn::AllFalse(d, may_hit(r))) continue;
    const float limit = out.limits[q + r];
    float* to = out.scores + (hits - out.hits) * kPanels * lanes;
    bool hit = limit == std::numeric_limits<float>::infinity();
    HWY_UNROLL(8)
    for (int i = 0; i < kPanels; ++i) {
      const auto scores = score_of<kSquared>(sum[r][i], hn::LoadU(d, bias + i * lanes), queries.bias[q + r]);
      hn::StoreU(scores, floats, to + i * lanes);
      hit = hit || !hn::AllFalse(floats, hn::Lt(scores, hn::Set(floats, limit)));
    }
    if (hit) *hits++ = {static_cast<std::uint32_t>(q + r), static_cast<std::uint32_t>(block)};
  }
  return hits;
}

template <class Products, bool kSquared>
std::int64_t all_blocks(std::int64_t groups, const ByteQueries& queries, const BytePanels& base,
                        const TiledOutput<float>& out) {
  const std::int64_t rows = kPanels * static_cast<std::int64_t>(hn::Lanes(I32()));
  BlockHit* hits = out.hits;
  for (std::int64_t block = 0; block * rows < base.count; ++block) {
    const std::uint32_t* panels = base.lanes + block * rows * groups;
    const std::int32_t* bias = base.bias + block * rows;
    std::int64_t q = 0;
    for (; q + kQueries <= queries.count; q += kQueries)
      hits = block_scores<Products, kSquared, kQueries>(groups, queries, q, panels, bias, block, out, hits);
    for (; q < queries.count; ++q)
      hits = block_scores<Products, kSquared, 1>(groups, queries, q, panels, bias, block, out, hits);
  }
  return hits - out.hits;
}

// Calls work with the products of the layout.
template <class Work>
HWY_INLINE auto with_products(ByteLayout layout, Work work) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if (layout == ByteLayout::quads) return work(Quads());
#endif
  HWY_ASSERT(layout == ByteLayout::pairs);
  return work(Pairs());
}

}  // namespace

static void pack_panels_of(const ByteForm& form, const ByteRows& base, std::uint32_t* lanes, std::int32_t* bias) {
  with_products(form.layout, [&](auto products) HWY_ATTR { pack<decltype(products)>(form, base, lanes, bias); });
}

static std::int64_t scores_of(const ByteForm& form, const ByteQueries& queries, const BytePanels& base,
                              const TiledOutput<float>& out) {
  return with_products(form.layout, [&](auto products) HWY_ATTR {
    using Products = decltype(products);
    return form.squared ? all_blocks<Products, true>(form.groups(), queries, base, out)
                        : all_blocks<Products, false>(form.groups(), queries, base, out);
  });
}

static ByteLayout best_layout() {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  static const bool has_vnni = __builtin_cpu_supports("avx512vnni") != 0;
  return has_vnni ? ByteLayout::quads : ByteLayout::pairs;
#else
  return ByteLayout::pairs;
#endif
}

static bool pairs_are_fast() {
  return HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128;
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(pack_panels_of);
HWY_EXPORT(scores_of);
HWY_EXPORT(best_layout);
HWY_EXPORT(pairs_are_fast);

ByteLayout best_byte_layout() {
  return HWY_DYNAMIC_DISPATCH(best_layout)();
}

bool has_pair_products() {
  return HWY_DYNAMIC_DISPATCH(pairs_are_fast)();
}

void pack_byte_queries(const ByteForm& form, const ByteRows& queries, std::uint32_t* lanes, std::int32_t* bias) {
  const std::int64_t coordinates = byte_group(form.layout);
  const auto value = [flip = query_flip(queries)](std::uint8_t byte) { return static_cast<std::uint8_t>(byte ^ flip); };
  for (std::int64_t q = 0; q < queries.count; ++q) {
    const std::uint8_t* row = queries.data + q * queries.stride;
    for (std::int64_t group = 0; group < form.groups(); ++group)
      *lanes++ = group_at(form.layout, row, group * coordinates, form.dims, value);
    std::int32_t sum = 0;
    for (std::int64_t c = 0; c < form.dims; ++c) {
      const std::int32_t u = value(row[c]);
      sum += form.squared ? (u - 128) * (u - 128) : queries.is_signed ? 0 : -128 * u;
    }
    bias[q] = sum;
  }
}

void pack_byte_panels(const ByteForm& form, const ByteRows& base, std::uint32_t* lanes, std::int32_t* bias) {
  HWY_DYNAMIC_DISPATCH(pack_panels_of)(form, base, lanes, bias);
}

std::int32_t byte_sum_floor(bool squared, float limit, std::int32_t bias) {
  // Integers above this are not below the limit, even rounded to float. Those up to 2²⁴ are floats.
  const auto at = static_cast<double>(limit);
  const double most = std::abs(at) <= 0x1p24 ? std::ceil(at) - 1 : at * (at > 0 ? 1 + 0x1p-23 : 1 - 0x1p-23);
  const double least = std::floor((bias - most) / (squared ? 2 : 1));
  return static_cast<std::int32_t>(std::clamp<double>(least - 1, std::numeric_limits<std::int32_t>::min(),
                                                      std::numeric_limits<std::int32_t>::max()));
}

std::int64_t byte_scores(const ByteForm& form, const ByteQueries& queries, const BytePanels& base,
                         const TiledOutput<float>& out) {
  return HWY_DYNAMIC_DISPATCH(scores_of)(form, queries, base, out);
}

}  // namespace kith::cpu
#endif
