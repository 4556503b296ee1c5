// functions.hpp: CUDA's device functions.
#pragma once

#include <math.h>

#include <bit>
#include <chrono>
#include <concepts>
#include <cstring>
#include <type_traits>

#include "emulator/execution.hpp"

#define __builtin_assume(condition) ::emulator::assume(condition)
#define __assume(condition) ::emulator::assume(condition)

namespace emulator::cuda {

inline const uint3& threadIdx = here.thread;
inline const uint3& blockIdx = here.block;
inline const dim3& blockDim = here.block_dim;
inline const dim3& gridDim = here.grid_dim;

[[noreturn]] inline void __trap() {
  fail("__trap()");
}
inline void __nanosleep(unsigned /*nanoseconds*/) {
  yield();
}
inline long long clock64() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

// Barriers and fences. Memory is in order here: what a missing fence would do does not show.

inline void __syncthreads(Where where = Where::current()) {
  block_barrier(Barrier::plain, 0, where);
}
inline int __syncthreads_or(int predicate, Where where = Where::current()) {
  return block_barrier(Barrier::any, predicate, where);
}
inline int __syncthreads_and(int predicate, Where where = Where::current()) {
  return block_barrier(Barrier::all, predicate, where);
}
inline int __syncthreads_count(int predicate, Where where = Where::current()) {
  return block_barrier(Barrier::count, predicate, where);
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFU, Where where = Where::current()) {
  warp_op(Op::syncwarp, mask, 0, 0, 0, where);
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

// Shuffles

template <class T>
concept Shuffled = std::is_arithmetic_v<T> &&(sizeof(T) <= 8);

template <Shuffled T>
T shuffle(Op op, unsigned mask, T value, unsigned source, int width, Where where) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = warp_op(op, mask, bits, source, static_cast<unsigned>(width) << 8U | sizeof(T), where);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

// The first lane of this lane's group of `width`.
inline unsigned group_start(int width) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0)
    fail("a shuffle's width is a power of two up to 32, not " + std::to_string(width));
  return here.lane & ~(static_cast<unsigned>(width) - 1U);
}

template <Shuffled T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, Where where = Where::current()) {
  const unsigned source = group_start(width) + (static_cast<unsigned>(lane) & (static_cast<unsigned>(width) - 1U));
  return shuffle(Op::shuffle, mask, value, source, width, where);
}
template <Shuffled T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, Where where = Where::current()) {
  const bool inside = here.lane - group_start(width) >= delta;
  return shuffle(Op::shuffle_up, mask, value, inside ? here.lane - delta : here.lane, width, where);
}
template <Shuffled T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, Where where = Where::current()) {
  const bool inside = group_start(width) + static_cast<unsigned>(width) - here.lane > delta;
  return shuffle(Op::shuffle_down, mask, value, inside ? here.lane + delta : here.lane, width, where);
}
template <Shuffled T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, Where where = Where::current()) {
  const unsigned source = here.lane ^ static_cast<unsigned>(lane_mask);
  const bool inside = source < group_start(width) + static_cast<unsigned>(width);
  return shuffle(Op::shuffle_xor, mask, value, inside ? source : here.lane, width, where);
}

// Votes, matches and reductions

inline unsigned __ballot_sync(unsigned mask, int predicate, Where where = Where::current()) {
  return static_cast<unsigned>(warp_op(Op::ballot, mask, predicate != 0 ? 1 : 0, 0, 0, where));
}
inline int __any_sync(unsigned mask, int predicate, Where where = Where::current()) {
  return static_cast<int>(warp_op(Op::any, mask, predicate != 0 ? 1 : 0, 0, 0, where));
}
inline int __all_sync(unsigned mask, int predicate, Where where = Where::current()) {
  return static_cast<int>(warp_op(Op::all, mask, predicate != 0 ? 1 : 0, 0, 0, where));
}
// Which lanes run at the same time is not known on a GPU either; the least that code may rely on is itself.
inline unsigned __activemask() {
  return 1U << here.lane;
}

template <Shuffled T>
unsigned __match_any_sync(unsigned mask, T value, Where where = Where::current()) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return static_cast<unsigned>(warp_op(Op::match_any, mask, bits, 0, sizeof(T), where));
}
template <Shuffled T>
unsigned __match_all_sync(unsigned mask, T value, int* all, Where where = Where::current()) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  const auto same = static_cast<unsigned>(warp_op(Op::match_all, mask, bits, 0, sizeof(T), where));
  *all = same != 0 ? 1 : 0;
  return same;
}

#define EMULATOR_REDUCE(name, type, op)                                                           \
  inline type __reduce_##name##_sync(unsigned mask, type value, Where where = Where::current()) { \
    return static_cast<type>(warp_op(op, mask, static_cast<unsigned>(value), 0, 0, where));       \
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

// Atomics: nothing else runs in between, but others may run before.

template <class T, class... Allowed>
concept OneOf = (std::same_as<T, Allowed> || ...);
template <class T>
concept AtomicWord = OneOf<T, int, unsigned, unsigned long long>;

template <class T, class Change>
T atomic_change(T* address, Change change) {
  maybe_yield();
  const T old = *address;
  *address = change(old);
  return old;
}

template <class T>
requires AtomicWord<T> || OneOf<T, float, double> T atomicAdd(T* address, std::type_identity_t<T> value) {
  return atomic_change(address, [=](T old) {
    if constexpr (std::same_as<T, int>)
      return static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value));
    else
      return static_cast<T>(old + value);
  });
}
template <class T>
requires OneOf<T, int, unsigned> T atomicSub(T* address, std::type_identity_t<T> value) {
  return atomic_change(
      address, [=](T old) { return static_cast<T>(static_cast<unsigned>(old) - static_cast<unsigned>(value)); });
}
template <class T>
requires AtomicWord<T> || OneOf<T, long long> T atomicMin(T* address, std::type_identity_t<T> value) {
  return atomic_change(address, [=](T old) { return value < old ? value : old; });
}
template <class T>
requires AtomicWord<T> || OneOf<T, long long> T atomicMax(T* address, std::type_identity_t<T> value) {
  return atomic_change(address, [=](T old) { return old < value ? value : old; });
}
template <AtomicWord T>
T atomicAnd(T* address, std::type_identity_t<T> value) {
  return atomic_change(address, [=](T old) { return old & value; });
}
template <AtomicWord T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  return atomic_change(address, [=](T old) { return old | value; });
}
template <AtomicWord T>
T atomicXor(T* address, std::type_identity_t<T> value) {
  return atomic_change(address, [=](T old) { return old ^ value; });
}
template <class T>
requires AtomicWord<T> || OneOf<T, float> T atomicExch(T* address, std::type_identity_t<T> value) {
  return atomic_change(address, [=](T /*old*/) { return value; });
}
template <class T>
requires AtomicWord<T> || OneOf<T, unsigned short> T atomicCAS(T* address, std::type_identity_t<T> expected,
                                                               std::type_identity_t<T> value) {
  return atomic_change(address, [=](T old) { return old == expected ? value : old; });
}
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return atomic_change(address, [=](unsigned old) { return old >= limit ? 0 : old + 1; });
}
inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return atomic_change(address, [=](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}

// Integers

inline int __popc(unsigned x) {
  return std::popcount(x);
}
inline int __popcll(unsigned long long x) {
  return std::popcount(x);
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
inline int __clz(int x) {
  return std::countl_zero(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
  return std::countl_zero(static_cast<unsigned long long>(x));
}
inline unsigned long long __brevll(unsigned long long x) {
  unsigned long long reversed = 0;
  for (int bit = 0; bit < 64; ++bit, x >>= 1U) reversed = reversed << 1U | (x & 1U);
  return reversed;
}
inline unsigned __brev(unsigned x) {
  return static_cast<unsigned>(__brevll(x) >> 32U);
}
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
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32U | low) << (shift & 31U) >> 32U);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32U | low) >> (shift & 31U));
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32U);
}

// Loads and stores with a hint

template <class T>
T __ldg(const T* address) {
  return *address;
}
template <class T>
T __ldcs(const T* address) {
  return *address;
}
template <class T>
T __ldcg(const T* address) {
  return *address;
}
template <class T>
T __ldca(const T* address) {
  return *address;
}
template <class T>
void __stcs(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <class T>
void __stcg(T* address, std::type_identity_t<T> value) {
  *address = value;
}

// Bits of numbers, arithmetic

inline unsigned __float_as_uint(float x) {
  return std::bit_cast<unsigned>(x);
}
inline int __float_as_int(float x) {
  return std::bit_cast<int>(x);
}
inline float __uint_as_float(unsigned x) {
  return std::bit_cast<float>(x);
}
inline float __int_as_float(int x) {
  return std::bit_cast<float>(x);
}
inline long long __double_as_longlong(double x) {
  return std::bit_cast<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return std::bit_cast<double>(x);
}

#define EMULATOR_ARITHMETIC(letter, type, root, fused) \
  inline type __##letter##add_rn(type a, type b) {     \
    return a + b;                                      \
  }                                                    \
  inline type __##letter##sub_rn(type a, type b) {     \
    return a - b;                                      \
  }                                                    \
  inline type __##letter##mul_rn(type a, type b) {     \
    return a * b;                                      \
  }                                                    \
  inline type __##letter##div_rn(type a, type b) {     \
    return a / b;                                      \
  }                                                    \
  inline type __##letter##sqrt_rn(type a) {            \
    return root(a);                                    \
  }                                                    \
  inline type __##letter##rcp_rn(type a) {             \
    return 1 / a;                                      \
  }
EMULATOR_ARITHMETIC(f, float, sqrtf, fmaf)
EMULATOR_ARITHMETIC(d, double, sqrt, fma)
#undef EMULATOR_ARITHMETIC

inline float __fmaf_rn(float a, float b, float c) {
  return fmaf(a, b, c);
}
inline double __fma_rn(double a, double b, double c) {
  return fma(a, b, c);
}
inline float __fdividef(float a, float b) {
  return a / b;
}
inline float rsqrtf(float x) {
  return 1 / sqrtf(x);
}
inline double rsqrt(double x) {
  return 1 / sqrt(x);
}

#define EMULATOR_MIN_MAX(a_type, b_type, type)                                                        \
  inline type min(a_type a, b_type b) {                                                               \
    return static_cast<type>(a) < static_cast<type>(b) ? static_cast<type>(a) : static_cast<type>(b); \
  }                                                                                                   \
  inline type max(a_type a, b_type b) {                                                               \
    return static_cast<type>(a) < static_cast<type>(b) ? static_cast<type>(b) : static_cast<type>(a); \
  }
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
#undef EMULATOR_MIN_MAX

// As on the device, NaN loses.
inline float min(float a, float b) {
  return fminf(a, b);
}
inline float max(float a, float b) {
  return fmaxf(a, b);
}
inline double min(double a, double b) {
  return fmin(a, b);
}
inline double max(double a, double b) {
  return fmax(a, b);
}
inline double min(float a, double b) {
  return fmin(a, b);
}
inline double min(double a, float b) {
  return fmin(a, b);
}
inline double max(float a, double b) {
  return fmax(a, b);
}
inline double max(double a, float b) {
  return fmax(a, b);
}

}  // namespace emulator::cuda
