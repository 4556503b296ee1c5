// compress-inl.hpp: moves the lanes of a vector that a mask selects to its front; what lies behind them is unspecified.
// Highway 1.0 has its tables in local variables, which GCC copies to the stack in every call: up to 2 KB for each
// vector. Included once per instruction set.
#if defined(KITH_CPU_SIMD_COMPRESS_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CPU_SIMD_COMPRESS_INL_
#undef KITH_CPU_SIMD_COMPRESS_INL_
#else
#define KITH_CPU_SIMD_COMPRESS_INL_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2

// For each mask of the lanes, four bits for each 32-bit part of the result: which part it is taken from.
template <int Lanes>
constexpr std::array<std::uint32_t, std::size_t{1} << Lanes> make_compress_table() {
  constexpr int kParts = 8 / Lanes;
  std::array<std::uint32_t, std::size_t{1} << Lanes> table{};
  for (std::size_t mask = 0; mask < table.size(); ++mask) {
    int to = 0;
    for (int lane = 0; lane < Lanes; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      for (int part = 0; part < kParts; ++part, ++to)
        table[mask] |= static_cast<std::uint32_t>(lane * kParts + part) << (4 * to);
    }
  }
  return table;
}
template <int Lanes>
static constexpr auto kCompressTable = make_compress_table<Lanes>();

template <class V, class M>
HWY_INLINE V compress(V values, M mask) {
  const hn::DFromV<V> d;
  const hn::Repartition<std::uint32_t, decltype(d)> parts;
  const auto lanes = hn::BitCast(hn::RebindToSigned<decltype(d)>(), hn::VecFromMask(d, mask)).raw;
  std::uint32_t packed = 0;
  if constexpr (sizeof(hn::TFromV<V>) == 4) {
    packed = kCompressTable<8>[static_cast<std::size_t>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)))];
  } else {
    packed = kCompressTable<4>[static_cast<std::size_t>(_mm256_movemask_pd(_mm256_castsi256_pd(lanes)))];
  }
  // The permutation looks at three bits of each index.
  const __m256i index =
      _mm256_srlv_epi32(_mm256_set1_epi32(static_cast<int>(packed)), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
  return hn::BitCast(d, hn::Vec<decltype(parts)>{_mm256_permutevar8x32_epi32(hn::BitCast(parts, values).raw, index)});
}

#else

template <class V, class M>
HWY_INLINE V compress(V values, M mask) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(hn::TFromV<V>) == 8) {
    const hn::DFromV<V> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    return hn::BitCast(d, hn::Vec<decltype(du)>{
                              _mm512_maskz_compress_epi64(hn::RebindMask(du, mask).raw, hn::BitCast(du, values).raw)});
  }
#endif
  return hn::Compress(values, mask);
}

#endif

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
