// stages.hpp: the distance stages alone, on a tile of the distance matrix.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/key.hpp"
#include "cuda/runtime/memory.hpp"

namespace kith::search_bench {

struct Tile {
  std::int64_t queries = 0;
  std::int64_t points = 0;
  std::int64_t dims = 0;

  double pairs() const { return static_cast<double>(queries) * static_cast<double>(points); }
};

// "8192 × 65536 × 128"
std::string describe(const Tile& tile);

struct Stage {
  std::string name;
  core::Form form;
  std::function<void()> run;  // fills the tile with scores, enqueued on the stream
};

// Everything they need lies ready: points, and their norms where scores come from products. It is freed with the last
// of them. Without cuBLASLt there is no gemm.
std::vector<Stage> all_stages(const Tile& tile, cudaStream_t stream);

}  // namespace kith::search_bench
