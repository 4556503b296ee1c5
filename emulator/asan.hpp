// asan.hpp: poisons memory and announces fibers to AddressSanitizer; empty functions in builds without it.
#pragma once

#include <cstddef>

#if defined(EMULATOR_ASAN)  // for files that are compiled without the sanitizer
#elif defined(__SANITIZE_ADDRESS__)
#define EMULATOR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATOR_ASAN 1
#endif
#endif

#ifdef EMULATOR_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// clang-format off
namespace emulator::asan {

#ifdef EMULATOR_ASAN
constexpr bool kOn = true;
inline void start_switch(void** save, const void* stack, std::size_t bytes) { __sanitizer_start_switch_fiber(save, stack, bytes); }
inline void finish_switch(void* saved, const void** stack, std::size_t* bytes) { __sanitizer_finish_switch_fiber(saved, stack, bytes); }
inline void poison(const void* address, std::size_t bytes) { __asan_poison_memory_region(address, bytes); }
inline void unpoison(const void* address, std::size_t bytes) { __asan_unpoison_memory_region(address, bytes); }
#else
constexpr bool kOn = false;
inline void start_switch(void** /*save*/, const void* /*stack*/, std::size_t /*bytes*/) {}
inline void finish_switch(void* /*saved*/, const void** /*stack*/, std::size_t* /*bytes*/) {}
inline void poison(const void* /*address*/, std::size_t /*bytes*/) {}
inline void unpoison(const void* /*address*/, std::size_t /*bytes*/) {}
#endif

}  // namespace emulator::asan
