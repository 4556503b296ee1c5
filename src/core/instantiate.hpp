// instantiate.hpp: KITH_FOR_EACH_ELEMENT(INSTANTIATE) expands INSTANTIATE(T) for the element types T of points.
#pragma once

#include <cstdint>

#include "kith/float16.hpp"

#define KITH_FOR_EACH_ELEMENT(instantiate)                                                                       \
  instantiate(float) instantiate(double) instantiate(std::uint8_t) instantiate(std::int8_t) instantiate(Float16) \
      instantiate(BFloat16)
