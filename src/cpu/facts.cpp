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
  // In half the registers a smaller tile fits, which uses what it loads less often.
  const std::vector<std::string> targets = simd_targets();
  if (!targets.empty() && targets.front() == "AVX2") facts.register_tiled.step = 2e-11;
  return facts;
}

}  // namespace kith::cpu
