// targets.hpp: the instruction sets the kernels are compiled for; included before Highway.
// On x86 the baseline, AVX2 and AVX-512 remain, on ARM NEON. The other ones of x86 would add compile time without a
// measurable gain. SVE's vectors have no size that the compiler knows, so there can be no arrays of them, which is what
// sums in registers are here; every processor with SVE has NEON.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
