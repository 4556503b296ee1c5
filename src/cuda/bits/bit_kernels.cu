// bit_kernels.cu: a thread has a row of the base, a block some queries in shared memory.
// Cost    per pair and 64 bits a combination, a count and an addition; a word of the base is read once for eight
//         queries. The matrix of distances is written once and read by the selection.
#include "cuda/bits/bit_kernels.hpp"

#include <limits>

#include "core/bit_key.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::bits {
namespace {

constexpr unsigned kThreads = 128;
constexpr unsigned kQueries = 8;  // of a block
constexpr unsigned kChunk = 32;   // words of them that are in shared memory at a time

__global__ void arrange_words_kernel(PackedRows from, Layout layout, std::int64_t first, std::int64_t rows,
                                     std::int64_t words, Word* to) {
  const std::int64_t i = thread_index();
  if (i >= from.count * words) return;
  // Neighboring threads write neighboring words.
  const std::int64_t row = layout == Layout::by_word ? i % from.count : i / words;
  const std::int64_t word = layout == Layout::by_word ? i / from.count : i % words;
  const std::uint8_t* const bytes = from.bytes + row * from.bytes_each;
  Word value = 0;
  for (std::int64_t at = 0; at < 8 && word * 8 + at < from.bytes_each; ++at)
    value |= static_cast<Word>(bytes[word * 8 + at]) << static_cast<unsigned>(8 * at);
  to[layout == Layout::by_word ? word * rows + first + row : (first + row) * words + word] = value;
}

// Bits that a query and a row have different, or both, and bits of each.
template <BitMetric kMetric>
struct Counter {
  unsigned pair = 0;
  unsigned in_query = 0;

  __device__ __forceinline__ void add(Word x, Word y) {
    if constexpr (kMetric == BitMetric::hamming) {
      pair += static_cast<unsigned>(__popcll(x ^ y));
    } else {
      pair += static_cast<unsigned>(__popcll(x & y));
      in_query += static_cast<unsigned>(__popcll(x));
    }
  }
  __device__ __forceinline__ float distance(std::int64_t bits, unsigned in_row) const {
    if constexpr (kMetric == BitMetric::hamming) return core::hamming_key(pair, bits);
    return core::jaccard_key(pair, in_query, in_row);
  }
};

// Words `word` … of the block's queries; zeros where there are none. All threads of the block call it.
__device__ void load_queries(const BitTile& tile, std::int64_t first_query, std::int64_t word, Word* queries) {
  for (unsigned i = threadIdx.x; i < kQueries * kChunk; i += kThreads) {
    const std::int64_t query = first_query + i / kChunk;
    const std::int64_t at = word + i % kChunk;
    queries[i] = query < tile.query_count && at < tile.words ? tile.queries[query * tile.words + at] : 0;
  }
}

template <BitMetric kMetric>
__global__ void __launch_bounds__(kThreads)
    bit_distances_kernel(const __grid_constant__ BitTile tile, std::int64_t row_blocks, float* distances) {
  KITH_SHARED(Word, queries, kQueries * kChunk);
  const std::int64_t block = blockIdx.x;
  const std::int64_t row = block % row_blocks * kThreads + threadIdx.x;
  const std::int64_t first_query = block / row_blocks * kQueries;
  Counter<kMetric> counters[kQueries];
  unsigned in_row = 0;
  for (std::int64_t word = 0; word < tile.words; word += kChunk) {
    __syncthreads();
    load_queries(tile, first_query, word, queries);
    __syncthreads();
    const auto chunk = static_cast<unsigned>(tile.words - word < kChunk ? tile.words - word : kChunk);
    if (row >= tile.base_count) continue;
    for (unsigned i = 0; i < chunk; ++i) {
      const Word y = tile.base[(word + i) * tile.base_stride + row];
      if constexpr (kMetric == BitMetric::jaccard) in_row += static_cast<unsigned>(__popcll(y));
      KITH_UNROLL
      for (unsigned q = 0; q < kQueries; ++q) counters[q].add(queries[q * kChunk + i], y);
    }
  }
  if (row >= tile.base_count) return;
  KITH_UNROLL
  for (unsigned q = 0; q < kQueries; ++q) {
    const std::int64_t query = first_query + q;
    if (query >= tile.query_count) break;
    const bool own = tile.excludes_self && tile.own_row + query == row;
    distances[query * tile.base_count + row] =
        own ? std::numeric_limits<float>::quiet_NaN() : counters[q].distance(tile.bits, in_row);
  }
}

__global__ void append_within_kernel(const float* distances, std::int64_t queries, std::int64_t rows,
                                     const float* radii, RadiusHit* hits, unsigned long long* count) {
  const std::int64_t i = thread_index();
  if (i >= queries * rows) return;
  const std::int64_t query = i / rows;
  const float distance = distances[i];
  if (!(distance <= radii[query])) return;
  hits[atomicAdd(count, 1ULL)] = {static_cast<unsigned>(query), static_cast<unsigned>(i % rows), distance};
}

}  // namespace

void arrange_words(const PackedRows& from, Layout layout, std::int64_t first, std::int64_t rows, std::int64_t words,
                   Word* to, cudaStream_t stream) {
  launch("arrange_words", arrange_words_kernel, thread_each(from.count * words), stream, from, layout, first, rows,
         words, to);
}

void bit_distances(const BitTile& tile, BitMetric metric, float* distances, cudaStream_t stream) {
  const std::int64_t row_blocks = ceil_div(tile.base_count, kThreads);
  const LaunchShape shape{.blocks = row_blocks * ceil_div(tile.query_count, kQueries), .threads = kThreads};
  launch("bit_distances",
         metric == BitMetric::hamming ? bit_distances_kernel<BitMetric::hamming>
                                      : bit_distances_kernel<BitMetric::jaccard>,
         shape, stream, tile, row_blocks, distances);
}

void append_within(const float* distances, std::int64_t queries, std::int64_t rows, const float* radii, RadiusHit* hits,
                   unsigned long long* count, cudaStream_t stream) {
  launch("append_within", append_within_kernel, thread_each(queries * rows), stream, distances, queries, rows, radii,
         hits, count);
}

}  // namespace kith::KITH_BACKEND::bits
