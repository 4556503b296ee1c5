// cuda_runtime.h: the CUDA runtime and device language for the host compiler; docs/emulator.md.
// All names are in namespace emulator::cuda, with a using-directive: a library may contain NVIDIA's runtime as well.
#pragma once

#include "emulator/bulk_copy.hpp"
#include "emulator/execution.hpp"
#include "emulator/functions.hpp"
#include "emulator/language.hpp"
#include "emulator/mbarrier.hpp"
#include "emulator/runtime.hpp"
#include "emulator/warp_roles.hpp"
#include "emulator/wgmma.hpp"
