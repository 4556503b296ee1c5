// facts.cpp: threads, memory, tile sizes and the cost of a tile step on this CPU.
#include "cpu/facts.hpp"

#include "backend/machine.hpp"
#include "cpu/simd/kernels.hpp"

namespace kith::cpu {

core::CpuFacts facts() {
  core::CpuFacts facts;
  facts.threads = backend::available_threads();
  facts.free_memory = backend::free_memory();
  facts.block_rows = tiled_block_rows<float>();
  facts.block_rows_double = tiled_block_rows<double>();
  // AVX2 has half the registers of AVX-512, so its tile is smaller and reuses each load less often.
  const std::vector<std::string> targets = simd_targets();
  if (!targets.empty() && targets.front() == "AVX2") facts.register_tiled.step = 2e-11;
  return facts;
}

}  // namespace kith::cpu
