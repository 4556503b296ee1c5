// bf16_scores.cpp: a tile of scores of points rounded to bfloat16, six queries by four panels of base rows at a time,
// sums in registers, as register_tiled_scores.cpp has them of floats.
// Idea    A lane of a panel holds two coordinates of a base row. An instruction multiplies the pairs of as many rows as
//         a vector has lanes by one pair of a query and adds both products to a float.
// Cost    a multiplication per pair of points and pair of coordinates / lanes; packing is one pass over the base per
//         tile.
#include "cpu/simd/bf16_scores.hpp"

#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/bf16_scores.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "cpu/simd/block_hits-inl.hpp"
#include "cpu/simd/register_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

using F32 = hn::ScalableTag<float>;
using U32 = hn::ScalableTag<std::uint32_t>;
using Sums = hn::Vec<F32>;
using Lanes = hn::Vec<U32>;

constexpr std::uint32_t kUpperHalf = 0xFFFF0000U;
constexpr std::uint32_t kSmallestNormal = 0x00800000U;

// Any CPU: the bits of a bfloat16 are the upper half of a float's.
struct FloatProducts {
  static HWY_INLINE Sums add(Sums sum, Lanes x, Lanes y) {
    const F32 d;
    const U32 bits;
    const auto second = [&](Lanes v) HWY_ATTR { return hn::BitCast(d, hn::And(v, hn::Set(bits, kUpperHalf))); };
    const auto first = [&](Lanes v) HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<16>(v)); };
    return hn::MulAdd(first(x), first(y), hn::MulAdd(second(x), second(y), sum));
  }
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
struct PairProducts {
  // Not an intrinsic, which the compiler has only where it may take the instruction for all of this target's code.
  static HWY_INLINE Sums add(Sums sum, Lanes x, Lanes y) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(y.raw));
    return sum;
  }
};
#endif

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kLargest = 0x7F7FFFFFU;  // rounded down

// The bits of a float rounded to bfloat16, in the upper half of their lanes; the lower half is not cleared. What would
// become infinite becomes the largest number, which is as near as rounding promises.
template <class D, class V>
HWY_INLINE hn::Vec<D> rounded(D d, V value) {
  const hn::RebindToSigned<D> integers;
  const auto bits = hn::BitCast(d, value);
  const auto to_even = hn::Add(hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1U)), hn::Set(d, 0x7FFFU));
  const auto magnitude = hn::Add(hn::And(bits, hn::Set(d, kSign - 1)), to_even);
  const auto finite = hn::Min(magnitude, hn::Set(d, kLargest));
  const auto normal = hn::Gt(hn::BitCast(integers, finite), hn::Set(integers, std::int32_t{kSmallestNormal - 1}));
  const auto number = hn::IfThenElseZero(normal, hn::BitCast(integers, finite));
  return hn::Or(hn::BitCast(d, number), hn::And(bits, hn::Set(d, kSign)));
}

std::uint32_t rounded_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = std::min((bits & (kSign - 1)) + 0x7FFFU + (bits >> 16 & 1U), kLargest);
  return ((magnitude >= kSmallestNormal ? magnitude : 0) | (bits & kSign)) >> 16;
}

// Coordinates 2 * pair and the next of a row; a zero past its end.
std::uint32_t pair_at(const float* row, std::int64_t pair, std::int64_t dims) {
  const std::uint32_t second = 2 * pair + 1 < dims ? rounded_bits(row[2 * pair + 1]) : 0;
  return rounded_bits(row[2 * pair]) | second << 16;
}

// Packs a panel that has all its rows.
void pack_whole_panel(const float* rows, std::int64_t stride, std::int64_t dims, std::int64_t lanes,
                      std::uint32_t* panel) {
  std::int64_t pair = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<std::uint32_t, 4> d;
  const hn::FixedTag<float, 4> floats;
  const std::int64_t whole = dims / 8;
  // Eight coordinates of a row in four lanes.
  const auto load = [&](const float* from) HWY_ATTR {
    const auto low = rounded(d, hn::LoadU(floats, from));
    const auto high = rounded(d, hn::LoadU(floats, from + 4));
    return hn::Or(hn::ShiftRight<16>(hn::ConcatEven(d, high, low)),
                  hn::And(hn::ConcatOdd(d, high, low), hn::Set(d, kUpperHalf)));
  };
  for (std::int64_t j = 0; j < lanes; j += 4) {
    const float* from = rows + j * stride;
    for (std::int64_t i = 0; i < whole; ++i)
      store_transposed(d, load(from + 8 * i), load(from + stride + 8 * i), load(from + 2 * stride + 8 * i),
                       load(from + 3 * stride + 8 * i), panel + 4 * i * lanes + j, lanes);
  }
  pair = 4 * whole;
#endif
  for (; pair < bf16_pairs(dims); ++pair)
    for (std::int64_t j = 0; j < lanes; ++j) panel[pair * lanes + j] = pair_at(rows + j * stride, pair, dims);
}

// Scores of kCount queries from `q` on by the kPanels panels of `block`. Appends the hits and returns the end of the
// list.
template <class Products, int kCount>
HWY_INLINE BlockHit* block_scores(std::int64_t pairs, const Bf16Queries& queries, std::int64_t q,
                                  const std::uint32_t* HWY_RESTRICT panels, const float* HWY_RESTRICT bias,
                                  std::int64_t block, const TiledOutput<float>& out, BlockHit* hits) {
  const F32 d;
  const U32 bits;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t panel_size = lanes * pairs;
  const std::uint32_t* HWY_RESTRICT query = queries.lanes + q * pairs;
  Sums sum[kCount][kPanels];
  HWY_UNROLL(8)
  for (int r = 0; r < kCount; ++r) {
    HWY_UNROLL(8)
    for (int i = 0; i < kPanels; ++i) sum[r][i] = hn::Zero(d);
  }
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    Lanes y[kPanels];
    HWY_UNROLL(8)
    for (int i = 0; i < kPanels; ++i) y[i] = hn::LoadU(bits, panels + i * panel_size + pair * lanes);
    HWY_UNROLL(8)
    for (int r = 0; r < kCount; ++r) {
      const Lanes x = hn::Set(bits, query[r * pairs + pair]);
      HWY_UNROLL(8)
      for (int i = 0; i < kPanels; ++i) sum[r][i] = Products::add(sum[r][i], x, y[i]);
    }
  }
  HWY_UNROLL(8)
  for (int i = 0; i < kPanels; ++i) {
    const Sums row = bias != nullptr ? hn::LoadU(d, bias + i * lanes) : hn::Zero(d);
    HWY_UNROLL(8)
    for (int r = 0; r < kCount; ++r) sum[r][i] = hn::Sub(row, sum[r][i]);
  }
  return append_hits(d, sum, q, block, out, hits);
}

template <class Products>
std::int64_t all_blocks(const Bf16Queries& queries, const Bf16Panels& base, std::int64_t pairs,
                        const TiledOutput<float>& out) {
  const std::int64_t rows = kPanels * static_cast<std::int64_t>(hn::Lanes(F32()));
  BlockHit* hits = out.hits;
  for (std::int64_t block = 0; block * rows < base.count; ++block) {
    const std::uint32_t* panels = base.lanes + block * rows * pairs;
    const float* bias = base.bias != nullptr ? base.bias + block * rows : nullptr;
    std::int64_t q = 0;
    for (; q + kQueries <= queries.count; q += kQueries)
      hits = block_scores<Products, kQueries>(pairs, queries, q, panels, bias, block, out, hits);
    for (; q < queries.count; ++q) hits = block_scores<Products, 1>(pairs, queries, q, panels, bias, block, out, hits);
  }
  return hits - out.hits;
}

bool has_instruction() {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  static const bool has = __builtin_cpu_supports("avx512bf16") != 0;
  return has;
#else
  return false;
#endif
}

}  // namespace

static bool has_products() {
  return has_instruction();
}

static void pack_queries_of(Rows<float> queries, std::int64_t dims, std::uint32_t* lanes) {
  for (std::int64_t q = 0; q < queries.count; ++q)
    for (std::int64_t pair = 0; pair < bf16_pairs(dims); ++pair)
      *lanes++ = pair_at(queries.data + q * queries.stride, pair, dims);
}

static void pack_panels_of(Rows<float> base, std::int64_t dims, std::uint32_t* panels) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(F32()));
  const std::int64_t block = kPanels * lanes;
  const std::int64_t padded = (base.count + block - 1) / block * block;
  for (std::int64_t first = 0; first < padded; first += lanes) {
    const float* rows = base.data + first * base.stride;
    if (first + lanes <= base.count) {
      pack_whole_panel(rows, base.stride, dims, lanes, panels);
    } else {
      for (std::int64_t pair = 0; pair < bf16_pairs(dims); ++pair)
        for (std::int64_t j = 0; j < lanes; ++j)
          panels[pair * lanes + j] = first + j < base.count ? pair_at(rows + j * base.stride, pair, dims) : 0;
    }
    panels += lanes * bf16_pairs(dims);
  }
}

static std::int64_t scores_of(const Bf16Queries& queries, const Bf16Panels& base, std::int64_t dims,
                              const TiledOutput<float>& out) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if (has_instruction()) return all_blocks<PairProducts>(queries, base, bf16_pairs(dims), out);
#endif
  return all_blocks<FloatProducts>(queries, base, bf16_pairs(dims), out);
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(has_products);
HWY_EXPORT(pack_queries_of);
HWY_EXPORT(pack_panels_of);
HWY_EXPORT(scores_of);

bool has_bf16_products() {
  return HWY_DYNAMIC_DISPATCH(has_products)();
}

void pack_bf16_queries(Rows<float> queries, std::int64_t dims, std::uint32_t* lanes) {
  HWY_DYNAMIC_DISPATCH(pack_queries_of)(queries, dims, lanes);
}

void pack_bf16_panels(Rows<float> base, std::int64_t dims, std::uint32_t* lanes) {
  HWY_DYNAMIC_DISPATCH(pack_panels_of)(base, dims, lanes);
}

std::int64_t bf16_scores(const Bf16Queries& queries, const Bf16Panels& base, std::int64_t dims,
                         const TiledOutput<float>& out) {
  return HWY_DYNAMIC_DISPATCH(scores_of)(queries, base, dims, out);
}

}  // namespace kith::cpu
#endif
