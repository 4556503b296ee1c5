// load_float-inl.hpp: vectors of float from points of any type that float holds exactly. Included once per instruction
// set.
#if defined(KITH_CPU_SIMD_LOAD_FLOAT_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CPU_SIMD_LOAD_FLOAT_INL_
#undef KITH_CPU_SIMD_LOAD_FLOAT_INL_
#else
#define KITH_CPU_SIMD_LOAD_FLOAT_INL_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "cpu/simd/partial_load-inl.hpp"
#include "kith/float16.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whether an instruction widens half precision. What Highway has elsewhere takes infinity for a number.
inline constexpr bool kWidensHalves = HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_NEON;

// The numbers that 16 bits each stand for.
template <class D, class V>
HWY_INLINE hn::Vec<D> widen_bits(Float16, D d, V bits) {
  if constexpr (kWidensHalves) {
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
  } else {
    // As float_of_half() has it (kith/float16.hpp).
    const hn::Rebind<std::uint32_t, D> wide;
    const hn::Rebind<std::int32_t, D> integers;
    const auto word = hn::PromoteTo(wide, bits);
    const auto magnitude = hn::And(word, hn::Set(wide, 0x7FFFU));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(word, magnitude));
    const auto integer = hn::BitCast(integers, magnitude);
    const auto is_subnormal = hn::Lt(integer, hn::Set(integers, 0x400));
    const auto is_finite = hn::Lt(integer, hn::Set(integers, 0x7C00));
    const auto bias = hn::IfThenElse(is_finite, hn::Set(integers, 0x38000000), hn::Set(integers, 0x70000000));
    const auto subnormal = hn::BitCast(integers, hn::Mul(hn::ConvertTo(d, integer), hn::Set(d, 0x1p-24F)));
    const auto value = hn::IfThenElse(is_subnormal, subnormal, hn::Add(hn::ShiftLeft<13>(integer), bias));
    return hn::BitCast(d, hn::Or(hn::BitCast(wide, value), sign));
  }
}

template <class D, class V>
HWY_INLINE hn::Vec<D> widen_bits(BFloat16, D d, V bits) {
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::Rebind<std::uint32_t, D>(), bits)));
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_float(D d, const T* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_float(D d, const Float16* from) {
  return widen_bits(Float16(), d, hn::LoadU(hn::Rebind<std::uint16_t, D>(), &from->bits));
}
template <class D>
HWY_INLINE hn::Vec<D> load_float(D d, const BFloat16* from) {
  return widen_bits(BFloat16(), d, hn::LoadU(hn::Rebind<std::uint16_t, D>(), &from->bits));
}
template <class D, class V>
HWY_INLINE hn::Vec<D> float_of_bytes(D d, V bytes) {
  return hn::ConvertTo(d, hn::PromoteTo(hn::Rebind<std::int32_t, D>(), bytes));
}
template <class D>
HWY_INLINE hn::Vec<D> load_float(D d, const std::uint8_t* from) {
  return float_of_bytes(d, hn::LoadU(hn::Rebind<std::uint8_t, D>(), from));
}
template <class D>
HWY_INLINE hn::Vec<D> load_float(D d, const std::int8_t* from) {
  return float_of_bytes(d, hn::LoadU(hn::Rebind<std::int8_t, D>(), from));
}

// The first values, zeros behind them.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_float(D d, const T* from, std::size_t count) {
  return load_first(d, from, count);
}
template <class D>
HWY_INLINE hn::Vec<D> load_float(D d, const Float16* from, std::size_t count) {
  return widen_bits(Float16(), d, load_first(hn::Rebind<std::uint16_t, D>(), &from->bits, count));
}
template <class D>
HWY_INLINE hn::Vec<D> load_float(D d, const BFloat16* from, std::size_t count) {
  return widen_bits(BFloat16(), d, load_first(hn::Rebind<std::uint16_t, D>(), &from->bits, count));
}
template <class D>
HWY_INLINE hn::Vec<D> load_float(D d, const std::uint8_t* from, std::size_t count) {
  return float_of_bytes(d, load_first(hn::Rebind<std::uint8_t, D>(), from, count));
}
template <class D>
HWY_INLINE hn::Vec<D> load_float(D d, const std::int8_t* from, std::size_t count) {
  return float_of_bytes(d, load_first(hn::Rebind<std::int8_t, D>(), from, count));
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
