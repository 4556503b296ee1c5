// nvrtc.hpp: NVRTC, the compiler of CUDA C++ that runs with a program. It is opened when it is needed first, so that
// Kith neither needs it at build time nor is linked to it.
#pragma once

#include <string>
#include <vector>

namespace kith::KITH_BACKEND::pairs {

// Why there is no NVRTC here: names the libraries that were looked for; empty where there is one.
const std::string& nvrtc_obstacle();

// Machine code for devices of compute capability `capability`, 90 for 9.0. Nothing is contracted to fused operations,
// and divisions and roots are rounded correctly. Throws Error(no_device) where there is no NVRTC or it does not know
// the device, Error(internal) with the compiler's words for a program that does not compile. `resources`: where not
// null, what the assembler says of registers and spills.
std::vector<char> compile_program(const std::string& source, int capability, std::string* resources = nullptr);

}  // namespace kith::KITH_BACKEND::pairs
