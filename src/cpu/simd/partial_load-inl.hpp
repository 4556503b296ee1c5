// partial_load-inl.hpp: the first values of a vector with zeros behind them, and nothing else is read: a row may end
// where its memory ends. Included once per instruction set.
#if defined(KITH_CPU_SIMD_PARTIAL_LOAD_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CPU_SIMD_PARTIAL_LOAD_INL_
#undef KITH_CPU_SIMD_PARTIAL_LOAD_INL_
#else
#define KITH_CPU_SIMD_PARTIAL_LOAD_INL_
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whether a masked load reads no value that its mask leaves out: AVX2 has none for small integers, NEON none at all.
template <class T>
inline constexpr bool kMasksLoads = HWY_TARGET <= HWY_AVX3 || (HWY_TARGET == HWY_AVX2 && sizeof(T) >= 4);

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_first(D d, const T* from, std::size_t count) {
  if constexpr (kMasksLoads<T>) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  } else {
    HWY_ALIGN T values[hn::MaxLanes(D())] = {};
    for (std::size_t i = 0; i < count; ++i) values[i] = from[i];
    return hn::Load(d, values);
  }
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
