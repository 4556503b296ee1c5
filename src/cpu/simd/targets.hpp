// targets.hpp: the instruction sets the kernels are compiled for; included before Highway.
// The disabled ones would add compile time without a measurable gain: on x86 the
// baseline, AVX2 and AVX-512 remain.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
