// Exact search among rows of packed bits: fingerprints, hashes, binary embeddings.
//
// That bytes are bits is declared by this type and never guessed: under Metric hamming a uint8 matrix has bytes, which
// are compared as a whole. Rows, queries and answers are host memory; backends for devices keep a copy of the rows.
//
// Of the options backend, threads, memory_budget, max_distance, pad_missing, check_finite (here: bits past the end) and
// progress are followed. The metric is given beside them, and every search looks at all rows: what asks for something
// else is refused (metric, method, distance, select, epsilon, period).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kith/bit_metric.hpp"
#include "kith/export.hpp"
#include "kith/options.hpp"
#include "kith/radius.hpp"
#include "kith/search.hpp"

namespace kith {

// The bytes of a row of so many bits.
constexpr std::int64_t bit_bytes(std::int64_t bits) {
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

// Rows of bits, eight in a byte, the first in its highest place, as numpy.packbits has them. Where the last byte is not
// full its other bits must be 0: a row with one of them set is refused, because it is of more bits, or of another
// order. Rows may begin anywhere, `stride` bytes apart; what lies between them is not read.
struct BitsView {
  const std::uint8_t* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t bits = 0;  // of a row: 1 to 2^30
  std::int64_t stride = 0;

  constexpr BitsView() = default;
  constexpr BitsView(const std::uint8_t* data_, std::int64_t rows_, std::int64_t bits_)
      : BitsView(data_, rows_, bits_, bit_bytes(bits_)) {}
  constexpr BitsView(const std::uint8_t* data_, std::int64_t rows_, std::int64_t bits_, std::int64_t stride_)
      : data(data_), rows(rows_), bits(bits_), stride(stride_) {}

  constexpr const std::uint8_t* row(std::int64_t index) const { return data + index * stride; }
};

// What a search of bits will do, why, and what it should cost.
struct BitPlan {
  std::int64_t base_rows = 0;
  std::int64_t queries = 0;
  std::int64_t bits = 0;
  std::int64_t k = 0;  // 0: within a radius
  bool self = false;   // the queries are the base
  BitMetric metric = BitMetric::hamming;
  double max_distance = std::numeric_limits<double>::infinity();  // Options::max_distance
  Backend backend = Backend::cpu;
  std::string kernel;  // the instructions that count bits on the CPU, as simd_targets() calls them, or the device
  int threads = 1;
  std::string threads_reason;    // on the CPU: why so many
  std::int64_t query_block = 0;  // queries of a tile
  std::int64_t base_tile = 0;    // base rows of a tile
  std::int64_t base_splits = 1;  // parts of the base searched independently, then merged
  std::int64_t candidates = 0;   // kept per query before they are thinned out
  std::int64_t workspace_bytes = 0;
  std::int64_t budget_bytes = 0;
  double seconds = 0;  // predicted
  std::string reason;
};

// Several lines of text for people.
KITH_API std::string to_string(const BitPlan& plan);
KITH_API std::ostream& operator<<(std::ostream& out, const BitPlan& plan);

// What was done, beside the answer.
struct BitReport {
  BitPlan plan;
  double seconds = 0;
  std::int64_t candidates = 0;  // pairs that counts alone did not rule out
};

// queries × k neighbors, each row sorted by (distance, id). Options::max_distance and pad_missing may leave the last
// places of a row without one: with id −1 and an infinite distance.
struct BitNeighbors {
  std::int64_t queries = 0;
  std::int64_t k = 0;
  std::vector<std::int64_t> ids;  // queries × k, row-major
  std::vector<float> distances;   // queries × k, row-major
  BitReport report;

  std::span<const std::int64_t> ids_of(std::int64_t query) const {
    return {ids.data() + query * k, static_cast<std::size_t>(k)};
  }
  std::span<const float> distances_of(std::int64_t query) const {
    return {distances.data() + query * k, static_cast<std::size_t>(k)};
  }
};

// Query q has ids[offsets[q]] … ids[offsets[q + 1] − 1] with their distances, sorted by (distance, id).
struct BitRadiusNeighbors {
  std::int64_t queries = 0;
  std::vector<std::int64_t> offsets;  // queries + 1
  std::vector<std::int64_t> ids;      // empty for count_only
  std::vector<float> distances;       // empty for count_only
  BitReport report;
};

// A base that is kept for many searches. All functions are thread-safe. Those that end in _into write to the caller's
// host memory, whose contents are unspecified after an error.
class KITH_API BitIndex {
 public:
  // Keeps a view: the base must outlive the index and not change. It is checked here.
  explicit BitIndex(BitsView base, BitMetric metric = BitMetric::hamming, Options options = {});
  // Keeps the bytes: rows of `bits` bits, one after the other, as many as the bytes hold.
  BitIndex(std::vector<std::uint8_t> bytes, std::int64_t bits, BitMetric metric = BitMetric::hamming,
           Options options = {});
  // An index that was moved from has no rows: all but assignment and destruction throw Error(invalid_argument).
  BitIndex(BitIndex&&) noexcept;
  BitIndex& operator=(BitIndex&&) noexcept;
  ~BitIndex();

  std::int64_t rows() const;
  std::int64_t bits() const;
  BitMetric metric() const;
  const Options& options() const;

  // The k nearest of each query: 1 ≤ k ≤ rows, or any k where Options::pad_missing is set.
  BitNeighbors search(BitsView queries, std::int64_t k) const;
  BitReport search_into(BitsView queries, std::int64_t k, NeighborsView<float> out) const;
  // The k nearest of each row of the base, itself left out by its id. k ≤ rows − 1.
  BitNeighbors search_self(std::int64_t k) const;
  BitReport search_self_into(std::int64_t k, NeighborsView<float> out) const;

  // All rows within the radii: one for all queries, or one for each. No max_distance.
  BitRadiusNeighbors search_radius(BitsView queries, std::span<const float> radii,
                                   RadiusOutput output = RadiusOutput::neighbors) const;
  // The same of each row of the base, itself left out by its id.
  BitRadiusNeighbors search_radius_self(std::span<const float> radii,
                                        RadiusOutput output = RadiusOutput::neighbors) const;

  // The plan of a search of so many queries, without doing it.
  BitPlan explain(std::int64_t queries, std::int64_t k) const;

 private:
  struct State;
  const State& state() const;

  std::unique_ptr<State> state_;
};

// The same for a base that is searched once.
KITH_API BitNeighbors search_bits(BitsView base, BitsView queries, std::int64_t k,
                                  BitMetric metric = BitMetric::hamming, const Options& options = {});
KITH_API BitReport search_bits_into(BitsView base, BitsView queries, std::int64_t k, NeighborsView<float> out,
                                    BitMetric metric = BitMetric::hamming, const Options& options = {});

}  // namespace kith
