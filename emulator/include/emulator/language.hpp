// language.hpp: CUDA's keywords and built-in types. __shared__ is missing on purpose: shared memory comes from
// shared_array() and dynamic_shared(), which know its bounds.
#pragma once

#include <cstddef>
#include <cstdint>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)

namespace emulator::cuda {

// EMULATOR_VECTOR(float, float, 8, 16) defines float1 … float4 and their make_ functions; the numbers are the alignment
// of the vectors of two and of four.
// clang-format off
#define EMULATOR_VECTOR(name, type, align2, align4)                              \
  struct name##1 { type x; };                                                    \
  struct alignas(align2) name##2 { type x, y; };                                 \
  struct name##3 { type x, y, z; };                                              \
  struct alignas(align4) name##4 { type x, y, z, w; };                           \
  constexpr name##1 make_##name##1(type x) { return {x}; }                       \
  constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
// clang-format on

EMULATOR_VECTOR(char, signed char, 2, 4)
EMULATOR_VECTOR(uchar, unsigned char, 2, 4)
EMULATOR_VECTOR(short, short, 4, 8)
EMULATOR_VECTOR(ushort, unsigned short, 4, 8)
EMULATOR_VECTOR(int, int, 8, 16)
EMULATOR_VECTOR(uint, unsigned, 8, 16)
EMULATOR_VECTOR(long, long, 16, 16)
EMULATOR_VECTOR(ulong, unsigned long, 16, 16)
EMULATOR_VECTOR(longlong, long long, 16, 16)
EMULATOR_VECTOR(ulonglong, unsigned long long, 16, 16)
EMULATOR_VECTOR(float, float, 8, 16)
EMULATOR_VECTOR(double, double, 16, 16)
#undef EMULATOR_VECTOR

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

constexpr int warpSize = 32;

}  // namespace emulator::cuda

using namespace emulator::cuda;
