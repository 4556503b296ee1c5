// Promise 4, the budget that an error names: it is enough, and little less is not. Random problems on every backend
// that runs on this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/key.hpp"
#include "kith/radius.hpp"
#include "kith/search.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

constexpr double kSharp = 0.95;  // this fraction of the least must be refused

struct BudgetProblem {
  Case spec;
  Backend backend = Backend::cpu;
  bool radius = false;

  Options options(std::int64_t budget) const {
    Options options = spec.options();
    options.backend = backend;
    options.memory_budget = budget;
    return options;
  }
};

std::ostream& operator<<(std::ostream& out, const BudgetProblem& problem) {
  return out << to_string(problem.backend) << (problem.radius ? " radius " : " ") << problem.spec;
}

template <class V>
V one_of(Random& random, const std::vector<V>& values) {
  return values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(values.size())))];
}

BudgetProblem random_problem(Random& random, Backend backend) {
  const bool device = backend != Backend::cpu;
  BudgetProblem problem;
  problem.backend = backend;
  problem.radius = random.below(5) == 0;
  Case& c = problem.spec;
  c.kind = Kind::gaussian;
  c.dtype = one_of(random, all_dtypes());
  c.shape = {one_of<std::int64_t>(random, {1, 5, 100, device ? 300 : 20000}),
             one_of<std::int64_t>(random, {1, 3, device ? 8 : 300}),
             one_of<std::int64_t>(random, {1, 2, 4, 8, 33, 100})};
  c.k = std::min(c.shape.base_rows, one_of<std::int64_t>(random, {1, 2, 10, 100, 1000}));
  c.threads = static_cast<int>(1 + random.below(3));
  c.seed = random.bits();
  c.metric = one_of<Metric>(random, {MetricKind::euclidean, MetricKind::cosine, MetricKind::manhattan,
                                     MetricKind::inner_product, MetricKind::correlation});
  if (c.metric.kind == MetricKind::correlation) c.shape.dims = std::max<std::int64_t>(c.shape.dims, 3);
  if (problem.radius) return problem;
  c.method = one_of<Method>(random, {Method::automatic, Method::automatic, Method::brute, Method::triangle,
                                     Method::tree, Method::shifted_sort});
  if (c.method == Method::tree && !core::has_box_bounds(c.metric)) c.method = Method::automatic;
  if (device && c.method == Method::brute) c.method = one_of<Method>(random, {Method::two_stage, Method::fused});
  if (c.method == Method::triangle && c.metric.kind == MetricKind::inner_product) c.metric = MetricKind::euclidean;
  // Longer lists on a device take what the bounds leave of the points, which no plan knows.
  if (device && c.method == Method::triangle) c.k = std::min<std::int64_t>(c.k, 100);
  if (c.method == Method::shifted_sort) {
    c.metric = MetricKind::euclidean;
    c.shape.dims = std::min<std::int64_t>(c.shape.dims, 16);
  }
  return problem;
}

// The error of a search within the budget, or nothing where it is enough.
template <Element T>
std::optional<std::string> refusal(const BudgetProblem& problem, const Sample<T>& sample, std::int64_t budget) {
  using D = DistanceOf<T>;
  try {
    if (problem.radius) {
      const std::vector<D> radius = {problem.spec.metric.kind == MetricKind::inner_product ? D{1e6} : D{0.5}};
      search_radius<T>(sample.base.view(), sample.queries.view(), radius, RadiusOutput::count_only,
                       problem.options(budget));
    } else {
      search(sample.base.view(), sample.queries.view(), problem.spec.k, problem.options(budget));
    }
    return std::nullopt;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << problem << ": " << error.what();
    return error.what();
  }
}

// The last number of bytes that a message has.
std::int64_t named_bytes(const std::string& message) {
  const std::size_t end = message.rfind(" bytes");
  if (end == std::string::npos) return -1;
  const std::size_t begin = message.find_last_not_of("0123456789", end - 1) + 1;
  return begin < end ? std::stoll(message.substr(begin, end - begin)) : -1;
}

void expect_least(const BudgetProblem& problem) {
  with_dtype(problem.spec.dtype, [&]<class T>() {
    const Sample<T> sample = generate<T>(problem.spec.kind, problem.spec.shape, problem.spec.metric, problem.spec.seed);
    const std::optional<std::string> first = refusal(problem, sample, 1);
    ASSERT_TRUE(first) << problem << " runs in a byte";
    const std::int64_t least = named_bytes(*first);
    ASSERT_GT(least, 1) << problem << ": " << *first;
    EXPECT_EQ(refusal(problem, sample, least), std::nullopt) << problem << ": " << *first;
    const auto less = static_cast<std::int64_t>(kSharp * static_cast<double>(least));
    EXPECT_NE(refusal(problem, sample, less), std::nullopt) << problem << ": " << less << " would do; " << *first;
  });
}

class LeastBudgetOn : public testing::TestWithParam<Backend> {};

TEST_P(LeastBudgetOn, IsEnoughAndLittleLessIsNot) {
  Random random(4);
  const int problems = GetParam() == Backend::cpu ? 150 : 16;
  for (int i = 0; i < problems; ++i) expect_least(random_problem(random, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Backends, LeastBudgetOn, testing::ValuesIn(available_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });

// Products need norms of 300,000 points; rows that are read as they lie need next to nothing.
TEST(LeastBudget, IsThatOfTheStageThatNeedsLeast) {
  Options options;
  options.memory_budget = 1;
  options.threads = 1;
  const Problem problem{300000, 5, 32, 3, DType::float32};
  try {
    explain(problem, options);
    ADD_FAILURE() << "planned in a byte";
  } catch (const Error& error) {
    options.memory_budget = named_bytes(error.what());
    EXPECT_LT(options.memory_budget, 50000) << error.what();
    EXPECT_LE(explain(problem, options).workspace_bytes, options.memory_budget);
  }
}

}  // namespace
}  // namespace kith::test
