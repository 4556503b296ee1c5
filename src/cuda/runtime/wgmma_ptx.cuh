// wgmma_ptx.cuh: the assembly of wgmma. Each number of sums has its own text, since registers are named one by one.
#pragma once

#include "cuda/runtime/hopper.cuh"

// clang-format off
#define KITH_NAMES_16 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define KITH_NAMES_32 KITH_NAMES_16 \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define KITH_NAMES_64 KITH_NAMES_32 \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define KITH_NAMES_128 KITH_NAMES_64 \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95" \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define KITH_SUMS_4(kind, sums, i) kind((sums)[i]), kind((sums)[(i) + 1]), kind((sums)[(i) + 2]), kind((sums)[(i) + 3])
#define KITH_SUMS_16(kind, sums, i) \
  KITH_SUMS_4(kind, sums, i), KITH_SUMS_4(kind, sums, (i) + 4), KITH_SUMS_4(kind, sums, (i) + 8), KITH_SUMS_4(kind, sums, (i) + 12)
#define KITH_SUMS_32(kind, sums, i) KITH_SUMS_16(kind, sums, i), KITH_SUMS_16(kind, sums, (i) + 16)
#define KITH_SUMS_64(kind, sums, i) KITH_SUMS_32(kind, sums, i), KITH_SUMS_32(kind, sums, (i) + 32)
#define KITH_SUMS_128(kind, sums, i) KITH_SUMS_64(kind, sums, i), KITH_SUMS_64(kind, sums, (i) + 64)

namespace kith::KITH_BACKEND::inline runtime {

enum class WgmmaElement : unsigned { fp16, bf16, int8, uint8 };

template <WgmmaElement kElement, unsigned kSums>
struct WgmmaPtx;

// `types` is what follows the number of columns; `scales` and `scales_of_registers` end the instruction: factors of 1 for
// both operands, and no transposition. n0 … n5 are the numbers of the operands after the sums.
#define KITH_WGMMA(element, type, kind, types, scales, scales_of_registers, columns, count, n0, n1, n2, n3, n4, n5)      \
  template <>                                                                                                            \
  struct WgmmaPtx<WgmmaElement::element, count> {                                                                        \
    __device__ __forceinline__ static void multiply(type (&sums)[count], std::uint64_t left, std::uint64_t right, int add) { \
      KITH_SM90A("{\n.reg .pred adds;\nsetp.ne.b32 adds, %" #n2 ", 0;\n"                                                  \
                 "wgmma.mma_async.sync.aligned.m64n" #columns types " {" KITH_NAMES_##count "}, %" #n0 ", %" #n1           \
                 ", adds" scales ";\n}\n"                                                                                 \
                 : KITH_SUMS_##count(kind, sums, 0) : "l"(left), "l"(right), "r"(add));                                  \
    }                                                                                                                    \
    __device__ __forceinline__ static void multiply(type (&sums)[count], const unsigned (&left)[4], std::uint64_t right, int add) { \
      KITH_SM90A("{\n.reg .pred adds;\nsetp.ne.b32 adds, %" #n5 ", 0;\n"                                                  \
                 "wgmma.mma_async.sync.aligned.m64n" #columns types " {" KITH_NAMES_##count "}, {%" #n0 ", %" #n1 ", %" #n2 ", %" #n3 \
                 "}, %" #n4 ", adds" scales_of_registers ";\n}\n"                                                         \
                 : KITH_SUMS_##count(kind, sums, 0)                                                                      \
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right), "r"(add));                        \
    }                                                                                                                    \
  };

#define KITH_WGMMA_SIZES(...)                                     \
  KITH_WGMMA(__VA_ARGS__, 32, 16, 16, 17, 18, 19, 20, 21)         \
  KITH_WGMMA(__VA_ARGS__, 64, 32, 32, 33, 34, 35, 36, 37)         \
  KITH_WGMMA(__VA_ARGS__, 128, 64, 64, 65, 66, 67, 68, 69)        \
  KITH_WGMMA(__VA_ARGS__, 256, 128, 128, 129, 130, 131, 132, 133)

KITH_WGMMA_SIZES(fp16, float, "+f", "k16.f32.f16.f16", ", 1, 1, 0, 0", ", 1, 1, 0")
KITH_WGMMA_SIZES(bf16, float, "+f", "k16.f32.bf16.bf16", ", 1, 1, 0, 0", ", 1, 1, 0")
KITH_WGMMA_SIZES(int8, int, "+r", "k32.s32.s8.s8", "", "")
KITH_WGMMA_SIZES(uint8, int, "+r", "k32.s32.u8.u8", "", "")
// clang-format on

#undef KITH_WGMMA_SIZES
#undef KITH_WGMMA
#undef KITH_SUMS_128
#undef KITH_SUMS_64
#undef KITH_SUMS_32
#undef KITH_SUMS_16
#undef KITH_SUMS_4
#undef KITH_NAMES_128
#undef KITH_NAMES_64
#undef KITH_NAMES_32
#undef KITH_NAMES_16

}  // namespace kith::KITH_BACKEND::inline runtime
