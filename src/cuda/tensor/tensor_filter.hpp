// tensor_filter.hpp: all scores of a matrix product, tested as they leave the tensor cores of sm_90: pairs whose score
// is not above the query's limit are listed, and no other score is stored. And the same for a sample of the base, of
// which only the best scores of groups of points are stored.
//
//   score of query x and base point y = bias(y) + factor · ⟨x, y⟩
//
// ⟨x, y⟩ is the product of the points as they are stored: in fp16 with sums in float, or in 8-bit integers, whose sums
// have no error. With remainders x = x̂ + x̌, both in fp16, it is ⟨x̂,y̌⟩ + ⟨x̌,ŷ⟩ + ⟨x̂,ŷ⟩, in this order.
#pragma once

#include "core/tensor_tiles.hpp"
#include "cuda/distance/fused_filter.hpp"

namespace kith::KITH_BACKEND::tensor {

enum class Element : unsigned { fp16, int8, uint8 };

constexpr std::int64_t element_bytes(Element element) {
  return element == Element::fp16 ? 2 : 1;
}

// Points as copies of tiles bring them: rows of whole 16 bytes.
struct TensorRows {
  const void* data = nullptr;
  const void* remainders = nullptr;  // of fp16; null: none
  std::int64_t count = 0;
  std::int64_t row_bytes = 0;  // from one row to the next, a multiple of 16
};

struct TensorProduct {
  Element element = Element::fp16;
  TensorRows queries;
  TensorRows base;              // with remainders if the queries have them
  std::int64_t dims = 0;        // with the zeros that fill 16 bytes
  const float* bias = nullptr;  // one a base point, or none; integers where elements are
  std::int64_t bias_step = 1;   // from that of a base point to the next
  float factor = -1;            // minus a power of two; −1 or −2 for integers
};

// Whether the current device has the instructions, and products of so many dimensions fit.
bool has_tensor_filter(Element element, std::int64_t dims);

// Lists pairs that pass. Exactly one of `lists` and `pairs` has counts.
struct TensorFilterCall {
  TensorProduct product;
  distance::CandidateLists<float> lists;
  distance::PairList<float> pairs;
  cudaStream_t stream = nullptr;
  // Queries and base are the same points, and there are lists: a product serves both of its points where that takes
  // less time. The sum of a pair may then be that of the pair with its points exchanged.
  bool mirrored = false;
  std::int64_t parts = 0;  // of the base, one after the other; 0: those that take the least time
};
void tensor_filter(const TensorFilterCall& call);

// The best scores of groups of base points: group g of part p has those points of the p-th part of the base whose index
// in it is g modulo kGroups, so that neighbors in memory are in different groups.
struct TensorSampleCall {
  static constexpr std::int64_t kGroups = core::kTensorTilePoints;

  TensorProduct product;
  std::int64_t parts = 1;
  float* best = nullptr;  // queries × parts · kGroups; infinite for groups without points
  cudaStream_t stream = nullptr;
};
void tensor_sample(const TensorSampleCall& call);

}  // namespace kith::KITH_BACKEND::tensor
