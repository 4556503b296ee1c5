// Formulas on the devices that are here, emulated ones included: the answers of the CPU, bit for bit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/order.hpp"
#include "kith/custom_metric.hpp"
#include "kith/named_metric.hpp"
#include "points.hpp"
#include "support/fails_with.hpp"
#include "support/on_backend.hpp"

namespace kith::test {
namespace {

constexpr ExpressionOptions kNotRecognized{false, true};
const char* const kTexts[] = {"sum(abs(x - y))", "sum(abs(x - y) / (1 + abs(x)))", "sum((x - mean(x)) * (y - mean(y)))",
                              "1 - sum(min(x, y)) / sum(max(x, y))"};

class FormulasOnDevice : public OnBackend {
 protected:
  void SetUp() override {
    const Matrix<float> point(1, 1, std::vector<float>{1});
    try {
      search_by(expression_metric("sum(x)"), point.view(), point.view(), 1, options());
    } catch (const Error& error) {
      if (error.code() != ErrorCode::no_device) throw;
      GTEST_SKIP() << error.what();
    }
  }
  static Options here() {
    Options options;
    options.backend = Backend::cpu;
    return options;
  }
};

template <class Found>
void expect_same(const Found& found, const Found& wanted, const char* text) {
  EXPECT_EQ(found.ids, wanted.ids) << text;
  ASSERT_EQ(found.distances.size(), wanted.distances.size());
  for (std::size_t i = 0; i < wanted.distances.size(); ++i)
    ASSERT_EQ(core::ordered_bits(found.distances[i]), core::ordered_bits(wanted.distances[i])) << text;
}

template <Element T>
void expect_same_searches(const Options& on_device, const Options& here) {
  const Matrix<T> base = random_points<T>(180, 11, 1, 0, 2, 0.1);
  const Matrix<T> queries = random_points<T>(6, 11, 2, 0, 2, 0.1);
  for (const char* text : kTexts) {
    const auto metric = expression_metric(text, kNotRecognized);
    const auto found = search_by(metric, base.view(), queries.view(), 20, on_device);
    expect_same(found, search_by(metric, base.view(), queries.view(), 20, here), text);
    EXPECT_EQ(found.report.plan.backend, on_device.backend);
    EXPECT_NE(to_string(found.report.plan).find(text), std::string::npos);
  }
}

TEST_P(FormulasOnDevice, HaveTheAnswersOfTheCpuForEveryType) {
  expect_same_searches<float>(options(), here());
  expect_same_searches<double>(options(), here());
  expect_same_searches<std::uint8_t>(options(), here());
  expect_same_searches<std::int8_t>(options(), here());
  expect_same_searches<Float16>(options(), here());
  expect_same_searches<BFloat16>(options(), here());
}

TEST_P(FormulasOnDevice, LeaveOutTheQueryItselfAndWhatIsFar) {
  const Matrix<float> base = random_points<float>(90, 4, 3, -1, 1, 0.6);
  const auto metric = expression_metric(kTexts[0], kNotRecognized);
  expect_same(search_self_by(metric, base.view(), 89, options()), search_self_by(metric, base.view(), 89, here()), "");
  Options limited = options();
  limited.max_distance = 0.8;
  limited.pad_missing = true;
  Options wanted = limited;
  wanted.backend = Backend::cpu;
  expect_same(search_self_by(metric, base.view(), 200, limited), search_self_by(metric, base.view(), 200, wanted), "");
}

TEST_P(FormulasOnDevice, FindAllWithinAndAllDistances) {
  const Matrix<float> base = random_points<float>(90, 4, 4, -1, 1, 0.3);
  const Matrix<float> queries = random_points<float>(5, 4, 5, -1, 1, 0.3);
  const float radius[] = {1.2F};
  const std::span<const float> radii(radius);
  const auto metric = expression_metric(kTexts[1]);
  const auto found = search_radius_by(metric, base.view(), queries.view(), radii, RadiusOutput::neighbors, options());
  const auto wanted = search_radius_by(metric, base.view(), queries.view(), radii, RadiusOutput::neighbors, here());
  EXPECT_EQ(found.offsets, wanted.offsets);
  expect_same(found, wanted, "");
  EXPECT_EQ(search_radius_by(metric, base.view(), queries.view(), radii, RadiusOutput::count_only, options()).offsets,
            wanted.offsets);
  const PairIndex<float> index(metric, base.view(), options());
  EXPECT_EQ(index.search_radius_self(radii).ids,
            PairIndex<float>(metric, base.view(), here()).search_radius_self(radii).ids);
  const auto all = index.distances(queries.view());
  const auto of_cpu = distances_by(metric, base.view(), queries.view(), here());
  for (std::int64_t i = 0; i < 450; ++i) ASSERT_EQ(all.data()[i], of_cpu.data()[i]);
}

TEST_P(FormulasOnDevice, RefuseWhatHasOtherBitsThere) {
  const Matrix<float> points = random_points<float>(9, 3, 6, 0.5, 1);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"sum(exp(-abs(x - y)))", "rounded otherwise on a device"}, [&] {
    search_by(expression_metric("sum(exp(-abs(x - y)))"), points.view(), points.view(), 1, options());
  }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"braycurtis", "on the CPU"},
                         [&] { search_by(named_metric("braycurtis"), points.view(), points.view(), 1, options()); }));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FormulasOnDevice);
INSTANTIATE_TEST_SUITE_P(Devices, FormulasOnDevice, testing::ValuesIn(device_backends()),
                         [](const auto& each) { return std::string(to_string(each.param)); });

}  // namespace
}  // namespace kith::test
