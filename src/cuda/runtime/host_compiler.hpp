// host_compiler.hpp: declarations of device intrinsics for .cpp files, which the host compiler compiles.
// Shared headers name these outside of templates, so they must be declared; no .cpp file calls them. Only .cu files go
// through nvcc, which reads every header three times.
#pragma once

#include <device_launch_parameters.h>

unsigned __float_as_uint(float value);
float __uint_as_float(unsigned bits);
long long __double_as_longlong(double value);
double __longlong_as_double(long long bits);
int __clz(int bits);
int __clzll(long long bits);

template <class T>
T __shfl_sync(unsigned mask, T value, int lane);
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask);
