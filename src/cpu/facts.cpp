// facts.cpp: threads, memory, tile sizes and the cost of a tile step on this CPU.
#include "cpu/facts.hpp"

#include <chrono>

#include "backend/machine.hpp"
#include "backend/recent.hpp"
#include "cpu/simd/bf16_scores.hpp"
#include "cpu/simd/byte_scores.hpp"
#include "cpu/simd/kernels.hpp"
#include "plan/cpu_threads.hpp"

namespace kith::cpu {
namespace {

// Of the system, or of groups of processes.
std::int64_t recently_free_memory() {
  static backend::Recent<std::int64_t> free(std::chrono::milliseconds(50));
  return free.get([] { return backend::free_memory().bytes; });
}

// Asks the CPU, which takes microseconds on a virtual machine.
bool best_target_is(const char* name) {
  const std::vector<std::string> targets = simd_targets();
  return !targets.empty() && targets.front() == name;
}

// Without an instruction for four products of bytes, bytes are widened to 16 bits. AVX2 then has two products where
// single precision has one; the AVX-512 of these CPUs takes as long for both; others have no instruction for two.
void set_byte_products(core::CpuFacts& facts, bool is_avx2) {
  if (best_byte_layout() == ByteLayout::quads) return;
  facts.int8_group = 2;
  facts.byte_packing *= 1.5;
  facts.int8.step = is_avx2 ? 1.1e-11 : facts.register_tiled.step * (has_pair_products() ? 1 : 4);
}

}  // namespace

core::CpuFacts facts() {
  core::CpuFacts facts;
  const backend::ThreadLimit threads = backend::process_threads();
  facts.threads = threads.threads;
  facts.threads_source = threads.source;
  facts.free_memory = recently_free_memory();
  facts.has_blas = backend::free_address_space() > 2 * core::kBlasSpace;
  facts.block_rows = tiled_block_rows<float>();
  facts.block_rows_double = tiled_block_rows<double>();
  // AVX2 has half the registers of AVX-512, so its tile is smaller and reuses each load less often.
  static const bool is_avx2 = best_target_is("AVX2");
  if (is_avx2) facts.register_tiled.step = 2e-11;
  set_byte_products(facts, is_avx2);
  facts.has_bf16 = has_bf16_products();
  return facts;
}

int threads_for(int asked, double seconds) {
  return asked > 0 ? asked : plan::threads_worth(seconds, backend::available_threads().threads);
}

}  // namespace kith::cpu
