// exact_keys.hpp: exact keys: the distances that are returned and that order neighbors, by the direct formula in double
// and in the fixed order of core/key.hpp, so that every backend gets the same bits (except Minkowski's, whose powers
// are the device's own).
#pragma once

#include "core/key.hpp"
#include "cuda/points/point_rows.hpp"

namespace kith::KITH_BACKEND::distance {

// How listed pairs get their keys; the bits are the same. Pairs of floats (float_pair_sum.cuh) are for devices whose
// double precision is slow.
enum class KeyArithmetic : unsigned char { of_device, doubles, float_pairs };

template <class F>
struct KeyCall {
  ExactSet<F> queries;
  ExactSet<F> base;
  std::int64_t dims = 0;
  Metric metric;
  cudaStream_t stream = nullptr;
  KeyArithmetic arithmetic = KeyArithmetic::of_device;
};

// keys[q · count + i] becomes the key of query q and base point ids[q · count + i].
template <class F>
void candidate_keys(const KeyCall<F>& call, const unsigned* ids, std::int64_t count, F* keys);

// keys[i] becomes the key of query queries[i] and base point ids[i].
template <class F>
void pair_keys(const KeyCall<F>& call, const unsigned* queries, const unsigned* ids, std::int64_t count, F* keys);

// The same of *count pairs, which only the device knows; nothing where they are more than `most`.
template <class F>
void few_pair_keys(const KeyCall<F>& call, const unsigned* queries, const unsigned* ids,
                   const unsigned long long* count, std::int64_t most, F* keys);

// Computes the keys of all queries × all base points; rows of keys are `stride` apart.
template <class F>
void all_keys(const KeyCall<F>& call, F* keys, std::int64_t stride);

}  // namespace kith::KITH_BACKEND::distance
