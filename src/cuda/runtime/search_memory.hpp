// search_memory.hpp: device memory that a search hands on to the next.
// Idea    a search asks for some twenty arrays, and the driver's pool takes 1 to 45 µs for each, together longer than a
//         search of few points. What a search frees serves its own next array, in the stream's order; what is free when
//         it ends serves another search, on whatever stream, which waits on the device for the first to end.
// Limits  arrays of up to 16 MiB, 64 MiB of them; others come from the pool and go back to it. Nothing is handed on
//         where there is no KeepSpares, nor on the default stream of a thread, whose handle all threads share.
// Thread-safe. The emulator has none of this: there each array is an allocation of its own, whose bounds and life are
// checked.
#pragma once

#include <cstddef>

#include "cuda/runtime/check.hpp"

namespace kith::KITH_BACKEND::inline runtime {

#if defined(KITH_IS_EMULATED)
inline constexpr bool kHandsOnMemory = false;
#else
inline constexpr bool kHandsOnMemory = true;
#endif

// While it lives, arrays of the stream are handed on. Searches that share a stream share what they free.
class SearchMemory {
 public:
  explicit SearchMemory(cudaStream_t stream, bool hands_on = kHandsOnMemory);
  SearchMemory(const SearchMemory&) = delete;
  SearchMemory& operator=(const SearchMemory&) = delete;
  ~SearchMemory();

 private:
  cudaStream_t stream_;
  int device_ = -1;  // none: nothing is handed on
};

// What is allocated for so many bytes, so that it serves similar sizes too.
std::size_t size_handed_on(std::size_t bytes);
// Memory of size_handed_on(bytes) that a search of the stream has freed, or null.
void* find_handed_on(std::size_t bytes, int device, cudaStream_t stream);
// Whether a search of the stream keeps this memory, of size_handed_on(bytes).
bool hand_on(void* memory, std::size_t bytes, int device, cudaStream_t stream) noexcept;
// Bytes of the device that wait for a search.
std::size_t bytes_handed_on(int device);
// Frees them, once the searches that had them have ended.
void free_handed_on(int device) noexcept;

}  // namespace kith::KITH_BACKEND::inline runtime
