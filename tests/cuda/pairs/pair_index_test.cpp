// Formulas on a device beside plain loops: shapes, several sums, sums of sums, ties, both ways of a search, radii.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/pairs.hpp"
#include "device_test.hpp"
#include "kith/error.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

using PairRow = std::vector<double>;
using PairDefinition = double (*)(const PairRow& x, const PairRow& y);

struct KnownFormula {
  const char* text;
  PairDefinition distance;
};

double lesser_of(double a, double b) {
  return a < b || std::isnan(a) ? a : b;
}
double greater_of(double a, double b) {
  return a > b || std::isnan(a) ? a : b;
}
template <class Term>
double pair_sum(const PairRow& x, const PairRow& y, Term term) {
  double sum = 0;
  for (std::size_t c = 0; c < x.size(); ++c) sum += term(x[c], y[c]);
  return sum;
}
double pair_mean(const PairRow& x) {
  return pair_sum(x, x, [](double a, double) { return a; }) / static_cast<double>(x.size());
}

// One sum and several, sums that need another, ⊕ of each kind, and numbers of the pair and of the coordinate.
const KnownFormula kPairFormulas[] = {
    {"sum(abs(x - y))",
     [](const PairRow& x, const PairRow& y) {
       return pair_sum(x, y, [](double a, double b) { return std::abs(a - b); });
     }},
    {"sum(abs(x - y) / (1 + abs(x)))",
     [](const PairRow& x, const PairRow& y) {
       return pair_sum(x, y, [](double a, double b) { return std::abs(a - b) / (1 + std::abs(a)); });
     }},
    {"1 - sum(min(x, y)) / sum(max(x, y))",
     [](const PairRow& x, const PairRow& y) { return 1 - pair_sum(x, y, lesser_of) / pair_sum(x, y, greater_of); }},
    {"sqrt(sum((x - y)^2)) + sum(abs(x - y))",
     [](const PairRow& x, const PairRow& y) {
       return std::sqrt(pair_sum(x, y, [](double a, double b) { return (a - b) * (a - b); })) +
              pair_sum(x, y, [](double a, double b) { return std::abs(a - b); });
     }},
    {"sum((x - mean(x)) * (y - mean(y)))",
     [](const PairRow& x, const PairRow& y) {
       const double mx = pair_mean(x);
       const double my = pair_mean(y);
       return pair_sum(x, y, [&](double a, double b) { return (a - mx) * (b - my); });
     }},
    {"max(abs(x - y)) - min(x * y)",
     [](const PairRow& x, const PairRow& y) {
       double most = -std::numeric_limits<double>::infinity();
       double fewest = std::numeric_limits<double>::infinity();
       for (std::size_t c = 0; c < x.size(); ++c) {
         most = greater_of(most, std::abs(x[c] - y[c]));
         fewest = lesser_of(fewest, x[c] * y[c]);
       }
       return most - fewest;
     }},
    {"prod(1 + abs(x - y)) / n",
     [](const PairRow& x, const PairRow& y) {
       double product = 1;
       for (std::size_t c = 0; c < x.size(); ++c) product = product * (1 + std::abs(x[c] - y[c]));
       return product / static_cast<double>(x.size());
     }},
    {"sum(select(x < y, (i + 1) * (y - x), 2 * n))",
     [](const PairRow& x, const PairRow& y) {
       double sum = 0;
       for (std::size_t c = 0; c < x.size(); ++c)
         sum += x[c] < y[c] ? static_cast<double>(c + 1) * (y[c] - x[c]) : 2 * static_cast<double>(x.size());
       return sum;
     }},
    {"-sum(x == y)",
     [](const PairRow& x, const PairRow& y) {
       return -pair_sum(x, y, [](double a, double b) { return a == b ? 1.0 : 0.0; });
     }},
    {"sum(abs(x - sum(abs(y - min(x)))))",
     [](const PairRow& x, const PairRow& y) {
       double fewest = std::numeric_limits<double>::infinity();
       for (const double a : x) fewest = lesser_of(fewest, a);
       const double inner = pair_sum(x, y, [&](double, double b) { return std::abs(b - fewest); });
       return pair_sum(x, y, [&](double a, double) { return std::abs(a - inner); });
     }},
    {"sum(x / y)",
     [](const PairRow& x, const PairRow& y) { return pair_sum(x, y, [](double a, double b) { return a / b; }); }},
};

// Coordinates are multiples of 1 / grain, so that few of them make ties.
template <class D>
struct PairSet {
  std::int64_t rows;
  std::int64_t dims;
  std::vector<D> values;

  PairSet(std::int64_t rows_, std::int64_t dims_, int grain, std::uint64_t seed) : rows(rows_), dims(dims_) {
    Random random(seed);
    for (std::int64_t i = 0; i < rows * dims; ++i)
      values.push_back(static_cast<D>(std::round((random.uniform() * 4 - 2) * grain) / grain));
  }
  backend::PairRows<D> view() const {
    return {rows, dims, [this](std::int64_t first, std::int64_t count, D* out) {
              std::copy_n(values.data() + first * dims, count * dims, out);
            }};
  }
  std::vector<PairRow> all() const {
    std::vector<PairRow> made;
    for (std::int64_t at = 0; at < rows; ++at)
      made.emplace_back(values.begin() + at * dims, values.begin() + (at + 1) * dims);
    return made;
  }
};

template <class D>
class SearchedPairs {
 public:
  using Hits = std::vector<core::Hit<D>>;

  SearchedPairs(const KnownFormula& known, const PairSet<D>& base, std::int64_t budget = 0)
      : known_(known),
        base_(base),
        base_rows_(base.all()),
        rows_(base.view()),
        formula_(core::parse_expression(known.text)) {
    index_ = device::make_pair_index<D>({rows_, &formula_, nullptr, budget});
  }

  backend::PairDeviceWork expect_nearest(const PairSet<D>& queries, std::int64_t k) {
    std::int64_t next = 0;
    const ProgressCallback progress = [](const Progress&) { return true; };
    const auto work = index_->nearest(queries.view(), k, progress, [&](std::int64_t query, Hits hits) {
      ASSERT_EQ(query, next++);
      expect_hits(queries, query, hits, [k](Hits& all) { all.resize(static_cast<std::size_t>(k)); });
    });
    EXPECT_EQ(next, queries.rows);
    return work;
  }

  void expect_within(const PairSet<D>& queries, std::vector<D> radii) {
    const ProgressCallback none;
    index_->within(queries.view(), radii, none, [&](std::int64_t query, Hits hits) {
      const D radius = radii[radii.size() == 1 ? 0 : static_cast<std::size_t>(query)];
      expect_hits(queries, query, hits,
                  [radius](Hits& all) { std::erase_if(all, [&](const auto& hit) { return !(hit.key <= radius); }); });
    });
  }

  void expect_distances(const PairSet<D>& queries) {
    std::vector<D> out(static_cast<std::size_t>(queries.rows * base_.rows));
    const ProgressCallback none;
    index_->distances(queries.view(), none, out.data());
    const std::vector<PairRow> rows = queries.all();
    for (std::int64_t q = 0; q < queries.rows; ++q)
      for (std::int64_t r = 0; r < base_.rows; ++r)
        ASSERT_TRUE(same(out[static_cast<std::size_t>(q * base_.rows + r)], key(rows[static_cast<std::size_t>(q)], r)))
            << known_.text << ", query " << q << ", row " << r;
  }

 private:
  // Bit for bit, but that any NaN is NaN.
  static bool same(D a, D b) {
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
  }
  using Bits = std::conditional_t<sizeof(D) == 8, std::uint64_t, std::uint32_t>;

  D key(const PairRow& query, std::int64_t row) const {
    return static_cast<D>(known_.distance(query, base_rows_[static_cast<std::size_t>(row)]));
  }

  template <class Cut>
  void expect_hits(const PairSet<D>& queries, std::int64_t query, const Hits& hits, Cut cut) const {
    const auto at = queries.values.begin() + query * queries.dims;
    const PairRow of(at, at + queries.dims);
    Hits all;
    for (std::int64_t row = 0; row < base_.rows; ++row) all.push_back({key(of, row), row});
    std::sort(all.begin(), all.end());
    cut(all);
    ASSERT_EQ(hits.size(), all.size()) << known_.text << ", query " << query;
    for (std::size_t i = 0; i < hits.size(); ++i)
      ASSERT_TRUE(hits[i].id == all[i].id && same(hits[i].key, all[i].key))
          << known_.text << " of " << base_.dims << " dimensions, query " << query << ", place " << i << ": "
          << hits[i].id << " at " << hits[i].key << ", not " << all[i].id << " at " << all[i].key;
  }

  const KnownFormula& known_;
  const PairSet<D>& base_;
  std::vector<PairRow> base_rows_;
  backend::PairRows<D> rows_;
  core::Expression formula_;
  std::unique_ptr<backend::BackendPairIndex<D>> index_;
};

class DeviceFormulas : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (const std::string obstacle = device::formula_obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  }
};

TEST_F(DeviceFormulas, FindsTheNearestByEveryFormula) {
  for (const KnownFormula& known : kPairFormulas)
    for (const std::int64_t dims : {1, 16, 21}) {
      const PairSet<float> base(150, dims, 1 << 20, 1);
      const PairSet<float> queries(7, dims, 1 << 20, 2);
      SearchedPairs<float> index(known, base);
      for (const std::int64_t k : {10, 150}) index.expect_nearest(queries, k);
    }
}

TEST_F(DeviceFormulas, FindsTheNearestOfDoubles) {
  for (const KnownFormula& known : kPairFormulas) {
    const PairSet<double> base(140, 19, 1 << 30, 3);
    const PairSet<double> queries(9, 19, 1 << 30, 4);
    SearchedPairs<double> index(known, base);
    index.expect_nearest(queries, 12);
    index.expect_distances(queries);
  }
}

TEST_F(DeviceFormulas, OrdersTiesById) {
  for (const KnownFormula& known : kPairFormulas) {
    const PairSet<float> base(70, 3, 1, 5);
    SearchedPairs<float> index(known, base);
    index.expect_nearest(base, 40);
  }
}

TEST_F(DeviceFormulas, IsTheSameUnderEverySchedule) {
  const PairSet<float> base(130, 18, 1 << 20, 6);
  const PairSet<float> queries(5, 18, 1 << 20, 7);
  for (std::uint64_t schedule = 0; schedule < kSchedules; ++schedule) {
    set_schedule(schedule);
    for (const std::size_t which : {1, 2, 4})
      SearchedPairs<float>(kPairFormulas[which], base).expect_nearest(queries, 9);
  }
}

// Scores in float leave out what is provably farther; those of doubles are distances.
TEST_F(DeviceFormulas, ScoresLeaveOutNoNeighbor) {
  for (const std::size_t which : {0, 1, 2, 3}) {
    const KnownFormula& known = kPairFormulas[which];
    const PairSet<float> base(2500, 9, 1 << 20, 8);
    const PairSet<float> queries(6, 9, 1 << 20, 9);
    const auto work = SearchedPairs<float>(known, base).expect_nearest(queries, 5);
    EXPECT_GT(work.candidates, 0);
    EXPECT_EQ(work.scores_in_float, which != 2) << known.text;
    EXPECT_LT(work.exact_queries, queries.rows) << known.text;
    const PairSet<double> same(2500, 9, 1 << 20, 8);
    const PairSet<double> of(6, 9, 1 << 20, 9);
    EXPECT_FALSE(SearchedPairs<double>(known, same).expect_nearest(of, 5).scores_in_float);
  }
}

// So many points are as near as the k-th that scores prove nothing.
TEST_F(DeviceFormulas, QueriesWithoutAProofGetAllDistances) {
  const PairSet<float> base(2500, 2, 1, 10);
  const PairSet<float> queries(5, 2, 1, 11);
  for (const std::size_t which : {0, 8}) {
    const auto work = SearchedPairs<float>(kPairFormulas[which], base).expect_nearest(queries, 30);
    EXPECT_EQ(work.exact_queries, queries.rows);
  }
}

TEST_F(DeviceFormulas, RadiusFindsAllWithin) {
  const PairSet<float> base(300, 6, 4, 12);
  const PairSet<float> queries(4, 6, 4, 13);
  SearchedPairs<float> index(kPairFormulas[0], base);
  for (const float radius : {-1.0F, 0.0F, 4.5F, std::numeric_limits<float>::infinity()})
    index.expect_within(queries, {radius});
  index.expect_within(queries, {1, 3, 5, 7});
}

TEST_F(DeviceFormulas, TilesAreMergedUnderABudget) {
  const PairSet<float> base(1000, 4, 2, 14);
  const PairSet<float> queries(40, 4, 2, 15);
  SearchedPairs<float> index(kPairFormulas[0], base, 1200000);
  const auto work = index.expect_nearest(queries, 300);
  EXPECT_LT(work.base_tile, base.rows);
  EXPECT_LT(work.query_block, queries.rows);
  EXPECT_LE(work.workspace_bytes, 1200000);
  try {
    SearchedPairs<float>(kPairFormulas[0], base, 10000);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("1000 points of 4 dimensions"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace kith::test
