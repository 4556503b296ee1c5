// cuda_runtime.h: the CUDA runtime and device language for the host compiler; docs/emulator.md.
// Names lie in namespace emulator::cuda, seen from everywhere: a library may hold NVIDIA's runtime beside this one.
#pragma once

#include "emulator/execution.hpp"
#include "emulator/functions.hpp"
#include "emulator/language.hpp"
#include "emulator/runtime.hpp"
