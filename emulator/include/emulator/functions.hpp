// functions.hpp: CUDA's device functions.
#pragma once

#include <math.h>

#include <bit>
#include <concepts>
#include <cstring>
#include <type_traits>

#include "emulator/execution.hpp"

#define __builtin_assume(condition) ::emulator::assume(condition)
#define __assume(condition) ::emulator::assume(condition)

namespace emulator::cuda {

// One function per line.
// clang-format off

inline const uint3& threadIdx = here.thread;
inline const uint3& blockIdx = here.block;
inline const dim3& blockDim = here.block_dim;
inline const dim3& gridDim = here.grid_dim;

[[noreturn]] inline void __trap() { fail("__trap()"); }
inline void __nanosleep(unsigned /*nanoseconds*/) { yield(); }

// Barriers and fences. Memory is sequentially consistent here, so missing fences are not detected.

#define WHERE Where where = Where::current()

inline void __syncthreads(WHERE) { block_barrier(Barrier::plain, 0, where); }
inline int __syncthreads_or(int predicate, WHERE) { return block_barrier(Barrier::any, predicate, where); }
inline int __syncthreads_and(int predicate, WHERE) { return block_barrier(Barrier::all, predicate, where); }
inline int __syncthreads_count(int predicate, WHERE) { return block_barrier(Barrier::count, predicate, where); }
inline void __syncwarp(unsigned mask = 0xFFFFFFFFU, WHERE) { warp_op(Op::syncwarp, mask, 0, 0, 0, where); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

// Shuffles

template <class T>
concept Shuffled = std::is_arithmetic_v<T> && (sizeof(T) <= 8);

// Copies by value, which AddressSanitizer need not instrument.
template <std::size_t kBytes> struct UnsignedOf { using Type = std::uint64_t; };
template <> struct UnsignedOf<4> { using Type = std::uint32_t; };
template <> struct UnsignedOf<2> { using Type = std::uint16_t; };
template <> struct UnsignedOf<1> { using Type = std::uint8_t; };

template <Shuffled T>
std::uint64_t to_bits(T value) { return std::bit_cast<typename UnsignedOf<sizeof(T)>::Type>(value); }
template <Shuffled T>
T from_bits(std::uint64_t bits) { return std::bit_cast<T>(static_cast<typename UnsignedOf<sizeof(T)>::Type>(bits)); }

template <Shuffled T>
T shuffle(Op op, unsigned mask, T value, unsigned source, int width, Where where) {
  const auto detail = static_cast<unsigned>(width) << 8U | static_cast<unsigned>(sizeof(T));
  return from_bits<T>(warp_op(op, mask, to_bits(value), source, detail, where));
}

// This lane's group of `width` lanes.
struct Group {
  explicit Group(int width) : start(here.lane & ~(static_cast<unsigned>(width) - 1U)), end(start + static_cast<unsigned>(width)) {
    if (width < 1 || width > 32 || (width & (width - 1)) != 0) fail_width(width);
  }
  unsigned start, end;
};

template <Shuffled T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, WHERE) {
  const unsigned source = Group(width).start + (static_cast<unsigned>(lane) & (static_cast<unsigned>(width) - 1U));
  return shuffle(Op::shuffle, mask, value, source, width, where);
}
template <Shuffled T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, WHERE) {
  const bool inside = here.lane - Group(width).start >= delta;
  return shuffle(Op::shuffle_up, mask, value, inside ? here.lane - delta : here.lane, width, where);
}
template <Shuffled T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, WHERE) {
  const bool inside = Group(width).end - here.lane > delta;
  return shuffle(Op::shuffle_down, mask, value, inside ? here.lane + delta : here.lane, width, where);
}
template <Shuffled T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, WHERE) {
  const unsigned source = here.lane ^ static_cast<unsigned>(lane_mask);
  return shuffle(Op::shuffle_xor, mask, value, source < Group(width).end ? source : here.lane, width, where);
}

// Votes, matches and reductions

inline unsigned vote(Op op, unsigned mask, int predicate, Where where) {
  return static_cast<unsigned>(warp_op(op, mask, predicate != 0 ? 1 : 0, 0, 0, where));
}
inline unsigned __ballot_sync(unsigned mask, int predicate, WHERE) { return vote(Op::ballot, mask, predicate, where); }
inline int __any_sync(unsigned mask, int predicate, WHERE) { return static_cast<int>(vote(Op::any, mask, predicate, where)); }
inline int __all_sync(unsigned mask, int predicate, WHERE) { return static_cast<int>(vote(Op::all, mask, predicate, where)); }
// The active lanes: code may rely on no more than the lane itself, as on a GPU.
inline unsigned __activemask() { return 1U << here.lane; }

template <Shuffled T>
unsigned __match_any_sync(unsigned mask, T value, WHERE) {
  return static_cast<unsigned>(warp_op(Op::match_any, mask, to_bits(value), 0, sizeof(T), where));
}
template <Shuffled T>
unsigned __match_all_sync(unsigned mask, T value, int* all, WHERE) {
  const auto same = static_cast<unsigned>(warp_op(Op::match_all, mask, to_bits(value), 0, sizeof(T), where));
  *all = same != 0 ? 1 : 0;
  return same;
}

#define EMULATOR_REDUCE(name, type, op)                                                     \
  inline type __reduce_##name##_sync(unsigned mask, type value, WHERE) {                    \
    return static_cast<type>(warp_op(op, mask, static_cast<unsigned>(value), 0, 0, where)); \
  }
EMULATOR_REDUCE(add, unsigned, Op::reduce_add)
EMULATOR_REDUCE(add, int, Op::reduce_add)
EMULATOR_REDUCE(min, unsigned, Op::reduce_min)
EMULATOR_REDUCE(min, int, Op::reduce_min_signed)
EMULATOR_REDUCE(max, unsigned, Op::reduce_max)
EMULATOR_REDUCE(max, int, Op::reduce_max_signed)
EMULATOR_REDUCE(and, unsigned, Op::reduce_and)
EMULATOR_REDUCE(or, unsigned, Op::reduce_or)
EMULATOR_REDUCE(xor, unsigned, Op::reduce_xor)
#undef EMULATOR_REDUCE
#undef WHERE

// Atomics: others may run before one, not within it. EMULATOR_ATOMIC(name, the new value by `old`, types).

template <class T, class... Allowed>
concept OneOf = (std::same_as<T, Allowed> || ...);

// Integers wrap around, as on the device.
template <class T>
T sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a + b;
  else return static_cast<T>(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
}

#define EMULATOR_ATOMIC(name, change, ...)                      \
  template <class T>                                            \
    requires OneOf<T, __VA_ARGS__>                              \
  T name(T* address, std::type_identity_t<T> value) {           \
    maybe_yield();                                              \
    const T old = *address;                                     \
    *address = change;                                          \
    return old;                                                 \
  }
EMULATOR_ATOMIC(atomicAdd, sum<T>(old, value), int, unsigned, unsigned long long, float, double)
EMULATOR_ATOMIC(atomicSub, sum<T>(old, static_cast<T>(0U - static_cast<unsigned>(value))), int, unsigned)
EMULATOR_ATOMIC(atomicMin, value < old ? value : old, int, unsigned, long long, unsigned long long)
EMULATOR_ATOMIC(atomicMax, old < value ? value : old, int, unsigned, long long, unsigned long long)
EMULATOR_ATOMIC(atomicAnd, old & value, int, unsigned, unsigned long long)
EMULATOR_ATOMIC(atomicOr, old | value, int, unsigned, unsigned long long)
EMULATOR_ATOMIC(atomicXor, old ^ value, int, unsigned, unsigned long long)
EMULATOR_ATOMIC(atomicExch, value, int, unsigned, unsigned long long, float)
EMULATOR_ATOMIC(atomicInc, old >= value ? 0 : old + 1, unsigned)
EMULATOR_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1, unsigned)
#undef EMULATOR_ATOMIC

template <class T>
  requires OneOf<T, int, unsigned, unsigned long long, unsigned short>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  maybe_yield();
  const T old = *address;
  if (old == expected) *address = value;
  return old;
}

// Integers

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline unsigned long long __brevll(unsigned long long x) {
  unsigned long long reversed = 0;
  for (int bit = 0; bit < 64; ++bit, x >>= 1U) reversed = reversed << 1U | (x & 1U);
  return reversed;
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32U); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(std::uint64_t{a} * b >> 32U); }
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t{high} << 32U | low;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned choice = selector >> 4U * i;
    auto byte = static_cast<unsigned>(bytes >> 8U * (choice & 7U)) & 0xFFU;
    if ((choice & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFFU : 0;
    result |= byte << 8U * i;
  }
  return result;
}

// Loads and stores with a hint, bits of numbers

template <class T> T __ldg(const T* address) { return *address; }
template <class T> T __ldcs(const T* address) { return *address; }
template <class T> T __ldcg(const T* address) { return *address; }
template <class T> T __ldca(const T* address) { return *address; }
template <class T> void __stcs(T* address, std::type_identity_t<T> value) { *address = value; }
template <class T> void __stcg(T* address, std::type_identity_t<T> value) { *address = value; }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

// Arithmetic

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float rsqrtf(float a) { return 1 / sqrtf(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1 / a; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline double rsqrt(double a) { return 1 / sqrt(a); }

template <class T> T smaller(T a, T b) { return b < a ? b : a; }
template <class T> T larger(T a, T b) { return a < b ? b : a; }
inline float smaller(float a, float b) { return fminf(a, b); }  // as on the device, NaN loses
inline float larger(float a, float b) { return fmaxf(a, b); }
inline double smaller(double a, double b) { return fmin(a, b); }
inline double larger(double a, double b) { return fmax(a, b); }

#define EMULATOR_MIN_MAX(a_type, b_type, type)                                                                 \
  inline type min(a_type a, b_type b) { return smaller(static_cast<type>(a), static_cast<type>(b)); }          \
  inline type max(a_type a, b_type b) { return larger(static_cast<type>(a), static_cast<type>(b)); }
EMULATOR_MIN_MAX(int, int, int)
EMULATOR_MIN_MAX(unsigned, unsigned, unsigned)
EMULATOR_MIN_MAX(int, unsigned, unsigned)
EMULATOR_MIN_MAX(unsigned, int, unsigned)
EMULATOR_MIN_MAX(long, long, long)
EMULATOR_MIN_MAX(unsigned long, unsigned long, unsigned long)
EMULATOR_MIN_MAX(long, unsigned long, unsigned long)
EMULATOR_MIN_MAX(unsigned long, long, unsigned long)
EMULATOR_MIN_MAX(long long, long long, long long)
EMULATOR_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
EMULATOR_MIN_MAX(long long, unsigned long long, unsigned long long)
EMULATOR_MIN_MAX(unsigned long long, long long, unsigned long long)
EMULATOR_MIN_MAX(float, float, float)
EMULATOR_MIN_MAX(double, double, double)
EMULATOR_MIN_MAX(float, double, double)
EMULATOR_MIN_MAX(double, float, double)
#undef EMULATOR_MIN_MAX

// clang-format on

}  // namespace emulator::cuda
