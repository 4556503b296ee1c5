#include "bits/bit_problem.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "support/random.hpp"

namespace kith::test {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

PackedRows make_rows(const BitRowsOptions& options) {
  Random random(options.seed);
  PackedRows made{options, {}};
  const std::int64_t stride = bit_bytes(options.bits) + options.extra_stride;
  made.bytes.resize(static_cast<std::size_t>(options.offset + options.rows * stride));
  for (auto& byte : made.bytes) byte = static_cast<std::uint8_t>(random.bits());
  for (std::int64_t row = 0; row < options.rows; ++row) {
    std::uint8_t* const to = made.bytes.data() + options.offset + row * stride;
    std::fill_n(to, bit_bytes(options.bits), std::uint8_t{0});
    Random of_row(options.seed * 1000003 +
                  static_cast<std::uint64_t>(options.distinct > 0 ? row % options.distinct : row));
    for (std::int64_t at = 0; at < options.bits; ++at)
      if (of_row.uniform() < options.density) to[at / 8] = static_cast<std::uint8_t>(to[at / 8] | 0x80 >> at % 8);
  }
  return made;
}

std::vector<std::uint8_t> unpacked(const PackedRows& rows) {
  std::vector<std::uint8_t> all;
  for (std::int64_t row = 0; row < rows.made.rows; ++row)
    for (std::int64_t at = 0; at < rows.made.bits; ++at) all.push_back(rows.bit(row, at) ? 1 : 0);
  return all;
}

float true_distance(BitMetric metric, const PackedRows& a, std::int64_t i, const PackedRows& b, std::int64_t j) {
  const std::uint8_t* const x = a.view().row(i);
  const std::uint8_t* const y = b.view().row(j);
  std::int64_t differing = 0;
  std::int64_t both = 0;
  std::int64_t either = 0;
  for (std::int64_t at = 0; at < bit_bytes(a.made.bits); ++at) {
    differing += __builtin_popcount(static_cast<unsigned>(x[at] ^ y[at]));
    both += __builtin_popcount(static_cast<unsigned>(x[at] & y[at]));
    either += __builtin_popcount(static_cast<unsigned>(x[at] | y[at]));
  }
  if (metric == BitMetric::hamming)
    return static_cast<float>(static_cast<double>(differing) / static_cast<double>(a.made.bits));
  return either == 0 ? 0 : static_cast<float>(1 - static_cast<double>(both) / static_cast<double>(either));
}

std::vector<std::pair<float, std::int64_t>> all_by_distance(BitMetric metric, const PackedRows& base,
                                                            const PackedRows& queries, std::int64_t query, bool self) {
  std::vector<std::pair<float, std::int64_t>> all;
  for (std::int64_t row = 0; row < base.made.rows; ++row)
    if (!self || row != query) all.emplace_back(true_distance(metric, base, row, queries, query), row);
  std::sort(all.begin(), all.end());
  return all;
}

AssertionResult is_exact(const BitNeighbors& found, BitMetric metric, const PackedRows& base, const PackedRows& queries,
                         bool self, float largest) {
  if (found.queries != queries.made.rows) return AssertionFailure() << found.queries << " queries";
  for (std::int64_t query = 0; query < found.queries; ++query) {
    auto want = all_by_distance(metric, base, queries, query, self);
    std::erase_if(want, [&](const auto& each) { return each.first > largest; });
    want.resize(static_cast<std::size_t>(found.k), {std::numeric_limits<float>::infinity(), -1});
    for (std::int64_t i = 0; i < found.k; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::pair got(found.distances_of(query)[at], found.ids_of(query)[at]);
      if (got != want[at])
        return AssertionFailure() << "query " << query << ", place " << i << ": " << got.second << " at " << got.first
                                  << " instead of " << want[at].second << " at " << want[at].first << " ("
                                  << to_string(metric) << ", " << base.made.rows << " rows of " << base.made.bits
                                  << " bits, k = " << found.k << ")";
    }
  }
  return AssertionSuccess();
}

AssertionResult is_exact(const BitRadiusNeighbors& found, BitMetric metric, const PackedRows& base,
                         const PackedRows& queries, const std::vector<float>& radii, bool self) {
  if (found.offsets.size() != static_cast<std::size_t>(queries.made.rows) + 1 || found.offsets[0] != 0)
    return AssertionFailure() << found.offsets.size() << " offsets";
  for (std::int64_t query = 0; query < queries.made.rows; ++query) {
    auto want = all_by_distance(metric, base, queries, query, self);
    const float radius = radii.size() == 1 ? radii[0] : radii[static_cast<std::size_t>(query)];
    std::erase_if(want, [&](const auto& each) { return each.first > radius; });
    const auto first = found.offsets[static_cast<std::size_t>(query)];
    const auto count = found.offsets[static_cast<std::size_t>(query) + 1] - first;
    if (count != static_cast<std::int64_t>(want.size()))
      return AssertionFailure() << "query " << query << " has " << count << " rows within " << radius << " instead of "
                                << want.size();
    for (std::int64_t i = 0; i < count && !found.ids.empty(); ++i) {
      const auto at = static_cast<std::size_t>(first + i);
      if (std::pair(found.distances[at], found.ids[at]) != want[static_cast<std::size_t>(i)])
        return AssertionFailure() << "query " << query << ", place " << i << ": " << found.ids[at];
    }
  }
  return AssertionSuccess();
}

int on_every_bit_target(const std::function<void()>& check) {
  int count = 0;
  // Other kernels of a search take the next best of the set.
  const std::int64_t here = hwy::SupportedTargets();
  for (const std::int64_t targets : {HWY_AVX3_DL | HWY_AVX3, HWY_AVX3, HWY_AVX2, HWY_NEON, HWY_SCALAR | HWY_EMU128}) {
    if ((here & targets) == 0 || (here & targets & -targets) == 0) continue;
    SCOPED_TRACE(hwy::TargetName(targets & -targets));
    hwy::SetSupportedTargetsForTest(targets & here);
    hwy::GetChosenTarget().Update(targets & here);
    check();
    ++count;
    hwy::SetSupportedTargetsForTest(0);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return count;
}

}  // namespace kith::test
