// pair_kernel_text.hpp: the text of include/kith/cuda_pair_kernel.cuh, for compilers that run with the program. It is
// written by src/CMakeLists.txt.
#pragma once

namespace kith::core {

const char* pair_kernel_text();

}  // namespace kith::core
