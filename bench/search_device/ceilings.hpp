// ceilings.hpp: what the device can do when it does nothing else, each as work that can be timed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/runtime/memory.hpp"

namespace kith::search_bench {

struct Ceiling {
  std::string name;
  std::string unit;
  double work = 0;  // units · seconds of one run: divided by its seconds it is a rate
  std::function<void()> run;
  bool is_kernel = false;  // no ceiling but a distance stage alone, to be judged by one
};

// Reads of a large array on several grids (TB/s), matrix products of three precisions (TFLOP/s; none where there is no
// cuBLASLt), fused multiply-adds in registers (TFMA/s), and each distance stage on a tile of its own (TFMA/s: one a
// coordinate of a pair). Everything is enqueued on the stream; memory is theirs. `quick`: small.
std::vector<Ceiling> all_ceilings(bool quick, cudaStream_t stream);

}  // namespace kith::search_bench
