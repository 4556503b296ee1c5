// What is no matrix is refused in words; what is one, in any order of its columns, is searched.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sparse/dense_twin.hpp"
#include "sparse/sparse_points.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Csr<float> small() {
  Csr<float> sparse;
  sparse.cols = 5;
  sparse.indptr = {0, 2, 2, 4};
  sparse.indices = {0, 3, 1, 4};
  sparse.values = {1, 2, 3, 4};
  return sparse;
}

void index_of(const Csr<float>& sparse, const SparseOptions& options = {}) {
  const SparseIndex<float> index(sparse.view(), options);
}

TEST(SparseInput, NamesTheFaultOfAMatrix) {
  const auto refuses = [](const std::vector<std::string>& mentions, auto change) {
    Csr<float> sparse = small();
    change(sparse);
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, mentions, [&] { index_of(sparse); }));
  };
  refuses({"base row 2", "column 5 at position 1", "0 to 4"}, [](auto& sparse) { sparse.indices[3] = 5; });
  refuses({"base row 0", "column -1 at position 0"}, [](auto& sparse) { sparse.indices[0] = -1; });
  refuses({"indptr 2 behind 3 at row 1"}, [](auto& sparse) { sparse.indptr[1] = 3; });
  refuses({"indptr -1 of row 0"}, [](auto& sparse) { sparse.indptr[0] = -1; });
  refuses({"indptr 9 at its end but 4 entries"}, [](auto& sparse) { sparse.indptr[3] = 9; });
  refuses({"0 × 5"}, [](auto& sparse) { sparse.indptr = {0}; });
  refuses({"3 × 0"}, [](auto& sparse) { sparse.cols = 0; });
  CsrView<float> view = small().view();
  view.cols = std::int64_t{1} << 31;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"2147483648 columns", "at most 2147483647"},
                         [&] { const SparseIndex<float> index(view); }));
  for (int field = 0; field < 3; ++field) {
    const Csr<float> sparse = small();
    CsrView<float> broken = sparse.view();
    if (field == 0) broken.indptr = nullptr;
    if (field == 1) broken.indices = CsrIndices();
    if (field == 2) broken.values = nullptr;
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"null pointer"}, [&] { SparseIndex<float> index(broken); }));
  }
}

TEST(SparseInput, NamesTheValueThatIsNotFinite) {
  Csr<float> sparse = small();
  sparse.values[2] = kInfinity;
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"base row 2, column 1 is inf"}, [&] { index_of(sparse); }));
  SparseOptions options;
  options.check_finite = false;
  EXPECT_NO_THROW(index_of(sparse, options));
  const Csr<float> base = small();
  const SparseIndex<float> index(base.view());
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"query row 2, column 1"}, [&] { index.search(sparse.view(), 1); }));
  Csr<double> far;
  far.cols = 2;
  far.indptr = {0, 1};
  far.indices = {1};
  far.values = {1e200};
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"row 0, column 1 is 1e+200", "1e+150"},
                         [&] { const SparseIndex<double> made(far.view()); }));
}

TEST(SparseInput, HasNoZeroVectorsUnderCosine) {
  SparseOptions options;
  options.metric = SparseMetric::cosine;
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"base row 1 has length zero"}, [&] { index_of(small(), options); }));
}

TEST(SparseInput, NamesArgumentsOutOfRange) {
  const Csr<float> sparse = small();
  const SparseIndex<float> index(sparse.view());
  const auto refuses = [](const std::vector<std::string>& mentions, const std::function<void()>& work) {
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, mentions, work));
  };
  refuses({"k = 4", "base points is 3"}, [&] { index.search(sparse.view(), 4); });
  refuses({"k = 0"}, [&] { index.search(sparse.view(), 0); });
  refuses({"k = 3", "other points is 2"}, [&] { index.search_self(3); });
  refuses({"k = 3", "other points is 2"}, [&] { index.graph(3); });
  refuses({"radius = -1"}, [&] { index.search_radius_self(std::vector<float>{-1}); });
  refuses({"2 radii for 3 queries"}, [&] { index.search_radius_self(std::vector<float>{1, 2}); });
  refuses({"null pointer"}, [&] { index.search_into(sparse.view(), 1, {}); });
  Csr<float> other = small();
  other.cols = 6;
  refuses({"5 dimensions", "queries have 6"}, [&] { index.search(other.view(), 1); });
  other.cols = 5;
  other.indptr = {0};
  refuses({"queries are 0 × 5"}, [&] { index.search(other.view(), 1); });
  SparseOptions options;
  options.backend = Backend::cuda;
  refuses({"backend cuda for sparse points"}, [&] { index_of(sparse, options); });
  options = {};
  options.threads = -1;
  refuses({"threads = -1"}, [&] { index_of(sparse, options); });
  options = {};
  options.max_distance = -1;
  refuses({"max_distance = -1"}, [&] { index_of(sparse, options); });
  options.max_distance = 1;
  const SparseIndex<float> limited(sparse.view(), options);
  refuses({"max_distance = 1", "radius"}, [&] { limited.search_radius_self(std::vector<float>{1}); });
  options.metric = SparseMetric::inner_product;
  refuses({"max_distance = 1 under inner_product"}, [&] { index_of(sparse, options); });
}

TEST(SparseInput, AnIndexThatWasMovedFromThrows) {
  const Csr<float> sparse = small();
  SparseIndex<float> index(sparse.view());
  const SparseIndex<float> other = std::move(index);
  EXPECT_EQ(other.rows(), 3);
  EXPECT_EQ(other.dims(), 5);
  EXPECT_THROW(index.search_self(1), Error);  // NOLINT: this is what is tested
}

// Columns in any order, repeated, with wide numbers, and from the middle of longer arrays.
TEST(SparseInput, ComesInAnyOrder) {
  const Matrix<double> base = sparse_points<double>({60, 30, 0.3}, Values::counts, 51, false);
  const Csr<double> ordered = csr_of(base);
  Csr<double> mixed;
  mixed.cols = 30;
  Random random(52);
  mixed.indices = {7, 7};  // of no row
  mixed.values = {1, 1};
  mixed.indptr = {2};
  for (std::int64_t r = 0; r < 60; ++r) {
    for (auto at = ordered.indptr[static_cast<std::size_t>(r + 1)];
         at-- > ordered.indptr[static_cast<std::size_t>(r)];) {
      const auto i = static_cast<std::size_t>(at);
      const double part = static_cast<double>(random.below(9));
      for (const double value : {ordered.values[i] - part, part}) {
        mixed.indices.push_back(ordered.indices[i]);
        mixed.values.push_back(value);
      }
    }
    mixed.end_row();
  }
  const std::vector<std::int64_t> wide(mixed.indices.begin(), mixed.indices.end());
  CsrView<double> wide_view = mixed.view();
  wide_view.indices = wide.data();
  for (const SparseMetric metric : kSparseMetrics) {
    if (metric == SparseMetric::cosine) continue;  // has no zero vectors
    SparseOptions options;
    options.metric = metric;
    const List<double> want = expected_nearest<double>(base, nullptr, 10, metric);
    for (const CsrView<double>& view : {mixed.view(), wide_view}) {
      const SparseIndex<double> index(view, options);
      const SparseNeighbors<double> found = index.search_self(10);
      EXPECT_TRUE(same_bits(found.ids, found.distances, want)) << to_string(metric);
      const SparseNeighbors<double> again = index.search(view, 1);
      EXPECT_TRUE(same_bits(again.ids, again.distances, expected_nearest(base, &base, 1, metric)));
    }
  }
}

// Without an error a search of what is random must be that of a matrix; nothing is read that is not there, which the
// sanitizers watch.
TEST(SparseInput, OfRandomNumbersNeverCrashes) {
  Random random(61);
  int refused = 0;
  int searched = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::int64_t rows = 1 + random.below(5);
    const std::int64_t entries = random.below(8);
    const bool wild = random.below(3) == 0;
    std::vector<std::int64_t> indptr(static_cast<std::size_t>(rows) + 1);
    std::int64_t at = 0;
    for (std::int64_t& each : indptr) {
      each = wild && random.below(4) == 0 ? static_cast<std::int64_t>(random.bits()) : at;
      at = std::min(entries, at + random.below(4));
    }
    std::vector<std::int64_t> wide;
    std::vector<float> values;
    for (std::int64_t i = 0; i < entries; ++i) {
      wide.push_back(wild && random.below(8) == 0 ? static_cast<std::int64_t>(random.bits()) : random.below(6));
      values.push_back(random.below(40) == 0 ? kInfinity : static_cast<float>(random.below(3)));
    }
    const std::vector<std::int32_t> narrow(wide.begin(), wide.end());
    CsrView<float> view{rows, 6, entries, indptr.data(), {}, values.data()};
    if (round % 2 == 0) view.indices = narrow.data();
    if (round % 2 == 1) view.indices = wide.data();
    SparseOptions options;
    options.metric = kSparseMetrics[static_cast<std::size_t>(round) % kSparseMetrics.size()];
    options.check_finite = round % 5 != 0;
    try {
      const SparseNeighbors<float> found = search_sparse(view, view, 1, options);
      EXPECT_EQ(found.ids.size(), static_cast<std::size_t>(rows));
      ++searched;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(searched, 100);
}

}  // namespace
}  // namespace kith::test
