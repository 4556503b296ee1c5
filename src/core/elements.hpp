// elements.hpp: what generic code must know of the types that points are stored in.
#pragma once

#include <type_traits>

#include "kith/float16.hpp"

namespace kith::core {

// Floating-point numbers of 16 bits, which are widened to float before anything is computed of them.
template <class T>
inline constexpr bool kIs16BitFloat = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// Whether values may be NaN or infinite.
template <class T>
inline constexpr bool kIsFloating = std::is_floating_point_v<T> || kIs16BitFloat<T>;

// Whether values may be so large or small that their squares, in single precision, are not finite or lose digits.
template <class T>
inline constexpr bool kSquaresLeaveFloat = std::is_same_v<T, float> || std::is_same_v<T, BFloat16>;

}  // namespace kith::core
