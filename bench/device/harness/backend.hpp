// backend.hpp: the backend that the program is compiled for, cuda or emulated, under one name: the emulated one only
// shows that everything works.
#pragma once

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "kith/options.hpp"

namespace kith::bench::device {

namespace cuda = kith::KITH_BACKEND;

#if defined(KITH_IS_EMULATED)
inline constexpr Backend kBackend = Backend::emulated;
#else
inline constexpr Backend kBackend = Backend::cuda;
#endif

}  // namespace kith::bench::device
