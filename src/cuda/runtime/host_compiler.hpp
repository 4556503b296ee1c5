// host_compiler.hpp: words of device code that headers use outside of templates, for the compiler of files without
// kernels (.cpp): there nothing calls them. nvcc, which reads every header three times, is kept for the others (.cu).
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
