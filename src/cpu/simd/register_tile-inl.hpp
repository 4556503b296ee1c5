// register_tile-inl.hpp: the shape of a tile of sums in registers, and how rows become lanes. Included once per
// instruction set.
#if defined(KITH_CPU_SIMD_REGISTER_TILE_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CPU_SIMD_REGISTER_TILE_INL_
#undef KITH_CPU_SIMD_REGISTER_TILE_INL_
#else
#define KITH_CPU_SIMD_REGISTER_TILE_INL_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 32 vector registers hold the sums of six queries by four panels and their operands; 16 hold those of four by two.
constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64;
constexpr int kQueries = kManyRegisters ? 6 : 4;
constexpr int kPanels = kManyRegisters ? 4 : 2;

#if HWY_TARGET != HWY_SCALAR
// Stores four vectors of four lanes transposed: lane j of vector i becomes lane i of the j-th.
template <class D, class V>
HWY_INLINE void store_transposed(D d, V a, V b, V c, V e, hn::TFromD<D>* to, std::int64_t to_stride) {
  const hn::RepartitionToWide<D> wide;
  const auto ab_low = hn::BitCast(wide, hn::InterleaveLower(d, a, b));
  const auto ab_high = hn::BitCast(wide, hn::InterleaveUpper(d, a, b));
  const auto ce_low = hn::BitCast(wide, hn::InterleaveLower(d, c, e));
  const auto ce_high = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_low, ce_low)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_low, ce_low)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_high, ce_high)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_high, ce_high)), d, to + 3 * to_stride);
}
#endif

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
