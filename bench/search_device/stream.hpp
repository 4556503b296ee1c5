// stream.hpp: search of a base that is larger than the device's budget and streamed to it from the host.
//
// The bar: at most 1.2 times as long as copying the same bytes from pinned memory and doing nothing else. The base lies
// in pageable memory first and is pinned then; the same search is timed on both, by the host's clock, from the queries
// to the answer in the host's memory. The answer is compared with a plain scan for some queries, and for all of them
// between the two.
// Beside it: how fast pageable memory goes up by threads and buffers, and the time of a search whose points are there
// over the time of bringing them there (Hanák, Figure 5.14).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/search.hpp"
#include "search_device/harness.hpp"

namespace kith::search_bench {

struct StreamSettings {
  bool wanted = false;
  std::int64_t bytes = 60'000'000'000;          // of the base
  std::int64_t budget = std::int64_t{8} << 30;  // of the device's memory
};

// Milliseconds of each run.
using Samples = std::vector<double>;

struct StreamedSearch {
  std::string memory;  // "pageable" or "pinned"
  Samples ms;
  SearchReport report;
};

struct StagingRow {
  int threads = 0;
  std::int64_t buffer_bytes = 0;
  double pin_ms = 0;  // getting the buffers
  double gb_per_s = 0;
};

struct RatioRow {
  std::int64_t queries = 0;
  std::int64_t dims = 0;
  double search_ms = 0;
  double transfer_ms = 0;  // of base, queries and answers
};

struct StreamResult {
  static constexpr double kBar = 1.2;

  std::int64_t base_rows = 0;
  std::int64_t dims = 128;
  std::int64_t queries = 1000;
  std::int64_t k = 10;
  std::int64_t budget = 0;
  Plan plan;
  Samples base_copy_ms;    // a plain copy of the base, pinned, tile by tile
  Samples buffer_copy_ms;  // the same bytes from a small buffer of cudaMallocHost
  double tile_ms = 0;      // search of one tile that is there
  std::vector<StreamedSearch> searches;
  std::string not_pinned;  // why
  std::int64_t queries_checked = 0;
  std::string fault;  // of an answer; empty: none
  bool judged = true;
  std::int64_t ratio_rows = 0;  // base points of the ratios
  std::vector<StagingRow> staging;
  std::vector<RatioRow> ratios;

  double bytes() const { return static_cast<double>(base_rows * dims) * sizeof(float); }
  std::int64_t tiles() const { return (base_rows + plan.base_tile - 1) / plan.base_tile; }
  // The faster of the plain copies.
  double copy_ms() const;
  // Of all tiles, had they been there.
  double search_alone_ms() const { return tile_ms * static_cast<double>(tiles()); }
  double ratio(const StreamedSearch& search) const;
  // Of the shorter of copying and searching, the part that was hidden behind the other.
  double overlap(const StreamedSearch& search) const;
};

// Prints its phases.
StreamResult measure_stream(const StreamSettings& settings, const Limits& limits);

}  // namespace kith::search_bench
