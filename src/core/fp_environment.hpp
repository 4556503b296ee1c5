// fp_environment.hpp: the floating-point environment that answers are promised in: rounding to nearest, subnormal
// numbers as they are, nothing that traps. A caller may have another one, and new threads have their maker's.
#pragma once

#if defined(__x86_64__)
#include <cstdint>

#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace kith::core {

// While one lives, its thread computes in the default environment; afterwards the thread has what it had before, flags
// included. That costs nanoseconds: on x86-64 the registers that say so are read, and written where they must be.
class DefaultFpEnvironment {
 public:
#if defined(__x86_64__)
  DefaultFpEnvironment() noexcept : sse_(_mm_getcsr()) {
    asm volatile("fnstcw %0" : "=m"(x87_));
    if ((sse_ & ~kSseFlags) != kDefaultSse) _mm_setcsr(kDefaultSse);
    if (x87_ != kDefaultX87) set_x87(kDefaultX87);
  }
  ~DefaultFpEnvironment() {
    _mm_setcsr(sse_);
    if (x87_ != kDefaultX87) set_x87(x87_);
  }
#else
  DefaultFpEnvironment() noexcept {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFpEnvironment() {
    std::fesetenv(&before_);
  }
#endif
  DefaultFpEnvironment(const DefaultFpEnvironment&) = delete;
  DefaultFpEnvironment& operator=(const DefaultFpEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned kDefaultSse = 0x1f80;  // all exceptions masked
  static constexpr unsigned kSseFlags = 0x3f;      // of exceptions that have happened
  static constexpr std::uint16_t kDefaultX87 = 0x37f;

  static void set_x87(std::uint16_t word) noexcept {
    asm volatile("fldcw %0" : : "m"(word));
  }

  unsigned sse_;
  std::uint16_t x87_ = 0;
#else
  std::fenv_t before_;
#endif
};

}  // namespace kith::core
