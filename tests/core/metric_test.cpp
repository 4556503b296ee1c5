// Metrics by name: canonical names, aliases, minkowski's p, and what is not a metric.
#include "kith/metric.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kith/search.hpp"
#include "support/compare.hpp"

namespace kith::test {
namespace {

TEST(Metric, NamesAreThoseOfTheTable) {
  EXPECT_EQ(metric_names(),
            (std::vector<std::string>{"sqeuclidean", "euclidean", "manhattan", "chebyshev", "minkowski", "cosine",
                                      "correlation", "inner_product", "hamming", "canberra"}));
}

TEST(Metric, EveryNameParsesToItself) {
  const std::vector<std::string> names = metric_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Metric metric = parse_metric(names[i]);
    EXPECT_EQ(metric.kind, static_cast<MetricKind>(i)) << names[i];
    if (metric.kind != MetricKind::minkowski) {
      EXPECT_EQ(to_string(metric), names[i]);
    }
  }
}

TEST(Metric, AliasesAreUnderstood) {
  const std::vector<std::pair<std::string, MetricKind>> aliases = {
      {"l2_squared", MetricKind::sqeuclidean}, {"l2", MetricKind::euclidean},      {"l1", MetricKind::manhattan},
      {"cityblock", MetricKind::manhattan},    {"linf", MetricKind::chebyshev},    {"pearson", MetricKind::correlation},
      {"ip", MetricKind::inner_product},       {"dot", MetricKind::inner_product},
  };
  for (const auto& [name, kind] : aliases) EXPECT_EQ(parse_metric(name).kind, kind) << name;
}

TEST(Metric, CaseAndDashesDoNotMatter) {
  EXPECT_EQ(parse_metric("Euclidean"), Metric(MetricKind::euclidean));
  EXPECT_EQ(parse_metric("L2"), Metric(MetricKind::euclidean));
  EXPECT_EQ(parse_metric("inner-product"), Metric(MetricKind::inner_product));
  EXPECT_EQ(parse_metric("Inner_Product"), Metric(MetricKind::inner_product));
  EXPECT_EQ(parse_metric("L2-Squared"), Metric(MetricKind::sqeuclidean));
}

TEST(Metric, MinkowskiCarriesItsP) {
  EXPECT_EQ(parse_metric("minkowski(3)"), Metric::minkowski(3));
  EXPECT_EQ(parse_metric("Minkowski(1.5)"), Metric::minkowski(1.5));
  EXPECT_EQ(parse_metric("minkowski(inf)"), Metric::minkowski(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(parse_metric("minkowski").p, 2);
  EXPECT_EQ(to_string(Metric::minkowski(3)), "minkowski(3)");
  EXPECT_FALSE(Metric::minkowski(3) == Metric::minkowski(4));
  for (const double p : {1.0, 1.25, 2.0, 3.0, 7.1, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(parse_metric(to_string(Metric::minkowski(p))), Metric::minkowski(p)) << p;
  }
}

TEST(Metric, UnknownNamesAreRefusedWithTheList) {
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"jaccard", "sqeuclidean", "cosine", "hamming"},
                         [] { parse_metric("jaccard"); }));
  for (const char* name : {"", " ", "euclid", "euclidean ", "euclidean(2)", "minkowski(", "minkowski()", "minkowski(3",
                           "minkowski(3))", "minkowski(x)", "minkowski(3x)", "minkowski 3", "l3"}) {
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { parse_metric(name); })) << '"' << name << '"';
  }
}

TEST(Metric, MinkowskiBelowOneIsRefused) {
  for (const char* name : {"minkowski(0.5)", "minkowski(0)", "minkowski(-1)", "minkowski(nan)", "minkowski(-inf)"}) {
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { parse_metric(name); })) << name;
  }
}

// Distances of each metric for vectors where they can be computed by hand.
TEST(Metric, ReturnsWhatTheTableSays) {
  const Matrix<float> base(1, 2, {3, 4});
  const Matrix<float> query(1, 2, {0, 0});
  const auto distance = [&](const Metric& metric, const Matrix<float>& x, const Matrix<float>& y) {
    Options options;
    options.metric = metric;
    return search(y.view(), x.view(), 1, options).distances[0];
  };
  EXPECT_EQ(distance(MetricKind::sqeuclidean, query, base), 25);
  EXPECT_EQ(distance(MetricKind::euclidean, query, base), 5);
  EXPECT_EQ(distance(MetricKind::manhattan, query, base), 7);
  EXPECT_EQ(distance(MetricKind::chebyshev, query, base), 4);
  EXPECT_FLOAT_EQ(distance(Metric::minkowski(3), query, base), 4.497941445F);
  EXPECT_EQ(distance(Metric::minkowski(1), query, base), 7);
  EXPECT_EQ(distance(Metric::minkowski(2), query, base), 5);
  EXPECT_EQ(distance(Metric::minkowski(std::numeric_limits<double>::infinity()), query, base), 4);
  EXPECT_EQ(distance(MetricKind::inner_product, query, base), 0);
  EXPECT_EQ(distance(MetricKind::hamming, query, base), 1);
  EXPECT_EQ(distance(MetricKind::canberra, query, base), 2);
  const Matrix<float> x(1, 2, {1, 0});
  EXPECT_FLOAT_EQ(distance(MetricKind::cosine, x, base), 0.4F);
  EXPECT_EQ(distance(MetricKind::cosine, x, Matrix<float>(1, 2, {-2, 0})), 2);
  EXPECT_EQ(distance(MetricKind::cosine, x, Matrix<float>(1, 2, {7, 0})), 0);
  EXPECT_EQ(distance(MetricKind::cosine, x, Matrix<float>(1, 2, {0, 7})), 1);
  EXPECT_EQ(distance(MetricKind::correlation, x, base), 2);  // one falls, the other rises
  EXPECT_EQ(distance(MetricKind::correlation, x, Matrix<float>(1, 2, {9, 8})), 0);
}

// A vector is at distance 0 from itself and its multiples, never at −1e−17, never above 2 from its opposite.
TEST(Metric, CosineStaysWithinItsRange) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {300, 300, 7}, MetricKind::cosine, 1);
  for (const MetricKind metric : {MetricKind::cosine, MetricKind::correlation}) {
    Options options;
    options.metric = metric;
    Matrix<float> scaled = sample.base;
    for (std::int64_t i = 0; i < 300; ++i) {
      for (std::int64_t c = 0; c < 7; ++c) scaled(i, c) *= i % 2 == 0 ? 3.0F : -3.0F;
    }
    const Matrix<float> all = distances(sample.base.view(), scaled.view(), options);
    const Matrix<float> own = distances(sample.base.view(), sample.base.view(), options);
    for (std::int64_t i = 0; i < 300; ++i) {
      EXPECT_EQ(own(i, i), 0);
      EXPECT_NEAR(all(i, i), i % 2 == 0 ? 0 : 2, 1e-6);
      for (std::int64_t j = 0; j < 300; ++j) {
        EXPECT_GE(all(i, j), 0);
        EXPECT_LE(all(i, j), 2);
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
