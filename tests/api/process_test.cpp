// What a caller's process and threads may be like, and what they find afterwards: floating-point environments, limits
// on threads, forks, a busy machine; and how soon a search stops that is told to.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "kith/index.hpp"
#include "kith/machine.hpp"
#include "support/child.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"
#include "support/qemu.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace kith::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A caller's environment: how it is set.
struct Environment {
  const char* name;
  std::function<void()> set;
};

std::vector<Environment> environments() {
  std::vector<Environment> all = {{"upward", [] { std::fesetround(FE_UPWARD); }},
                                  {"downward", [] { std::fesetround(FE_DOWNWARD); }},
                                  {"toward zero", [] { std::fesetround(FE_TOWARDZERO); }}};
#if defined(__x86_64__)
  all.push_back({"subnormals are zero", [] { _mm_setcsr(_mm_getcsr() | 0x8040U); }});
  all.push_back({"everything traps", [] { _mm_setcsr(_mm_getcsr() & ~0x1f80U); }});
#elif defined(__aarch64__)
  all.push_back({"subnormals are zero", [] {
                   std::uint64_t control = 0;
                   asm volatile("mrs %0, fpcr" : "=r"(control));
                   asm volatile("msr fpcr, %0" : : "r"(control | std::uint64_t{1} << 24));
                 }});
#endif
  return all;
}

bool is_same(const std::fenv_t& a, const std::fenv_t& b) {
  const auto* const x = reinterpret_cast<const unsigned char*>(&a);
  return std::equal(x, x + sizeof a, reinterpret_cast<const unsigned char*>(&b));
}

// Runs work() in the environment, and expects to find that afterwards.
void in_environment(const Environment& environment, const std::function<void()>& work) {
  std::fenv_t usual;
  std::fenv_t before;
  std::fenv_t after;
  std::fegetenv(&usual);
  environment.set();
  std::fegetenv(&before);
  environment.set();  // fegetenv masks exceptions on x86
  work();
  std::fegetenv(&after);
  std::fesetenv(&usual);
  EXPECT_TRUE(is_same(before, after)) << environment.name;
}

Options on_this_cpu() {
  Options options;
  options.backend = Backend::cpu;
  return options;
}

class FloatingPoint : public testing::TestWithParam<Kind> {};

// `tiny` has squares that are subnormal, where scores and bounds would go wrong first.
TEST_P(FloatingPoint, EnvironmentsOfTheCallerChangeNothing) {
  const Sample<float> sample = generate<float>(GetParam(), {800, 40, 12}, MetricKind::euclidean, 7);
  for (const Method method : {Method::brute, Method::triangle}) {
    for (const DistanceStage stage : stages_of(DType::float32)) {
      if (method == Method::triangle && stage != DistanceStage::automatic) continue;
      Options options = on_this_cpu();
      options.method = method;
      options.distance = stage;
      const Neighbors<float> want = search(sample.base.view(), sample.queries.view(), 10, options);
      for (const Environment& environment : environments()) {
        for (const int threads : {1, 3}) {
          options.threads = threads;
          Neighbors<float> got;
          in_environment(environment, [&] { got = search(sample.base.view(), sample.queries.view(), 10, options); });
          EXPECT_TRUE(same_answer(got, want)) << environment.name << ", " << stage << ", " << threads << " threads";
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, FloatingPoint, testing::Values(Kind::gaussian, Kind::tiny, Kind::subnormal),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST(FloatingPoint, IsPutBackAfterAnException) {
  Sample<float> sample = generate<float>(Kind::gaussian, {300, 5, 4}, MetricKind::euclidean, 1);
  sample.base(250, 3) = std::numeric_limits<float>::infinity();
  for (const Environment& environment : environments())
    in_environment(environment, [&] {
      bool thrown = false;
      try {
        search(sample.base.view(), sample.queries.view(), 3, on_this_cpu());
      } catch (const Error&) {
        thrown = true;
      }
      EXPECT_TRUE(thrown);
    });
}

#ifdef _OPENMP
TEST(Threads, FollowWhatTheCallingThreadMayUse) {
  const int before = omp_get_max_threads();
  const Sample<float> sample = generate<float>(Kind::gaussian, {20000, 400, 32}, MetricKind::euclidean, 1);
  const Index<float> index(sample.base.view(), on_this_cpu());
  omp_set_num_threads(1);
  EXPECT_EQ(host_limits().threads, 1);
  EXPECT_EQ(explain({1000000, 10000, 32, 10, DType::float32}, on_this_cpu()).threads, 1);
  EXPECT_EQ(index.search(sample.queries.view(), 10).report.plan.threads, 1);
  omp_set_num_threads(before);
  EXPECT_EQ(index.search(sample.queries.view(), 10).report.plan.threads, host_limits().threads);
}
#endif

TEST(Threads, AChildSearchesAsItsParentDid) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {5000, 300, 32}, MetricKind::euclidean, 1);
  for (const DistanceStage stage : stages_of(DType::float32)) {
    Options options = on_this_cpu();
    options.threads = 4;
    options.distance = stage;
    const Index<float> index(sample.base.view(), options);
    const Neighbors<float> want = index.search(sample.queries.view(), 10);
    in_child([&] {
      EXPECT_TRUE(same_answer(index.search(sample.queries.view(), 10), want)) << stage;
      EXPECT_TRUE(same_answer(search(sample.base.view(), sample.queries.view(), 10, options), want)) << stage;
    });
  }
}

// The median of many searches for one query, in seconds.
double median_search(const Index<float>& index, MatrixView<float> query) {
  std::vector<double> times;
  for (int turn = 0; turn < 101; ++turn) {
    const Clock::time_point start = Clock::now();
    index.search(query, 5);
    times.push_back(seconds_since(start));
  }
  std::nth_element(times.begin(), times.begin() + 50, times.end());
  return times[50];
}

// A search of microseconds must not wait for threads that a busy machine does not let run.
TEST(Threads, SmallSearchesTakeNoLongerOnABusyMachine) {
  const Sample<float> sample = generate<float>(Kind::uniform, {10000, 1, 3}, MetricKind::euclidean, 1);
  Options alone = on_this_cpu();
  alone.threads = 1;
  const Index<float> usual(sample.base.view(), on_this_cpu());
  const Index<float> single(sample.base.view(), alone);
  std::atomic<bool> over{false};
  std::vector<std::thread> busy;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
    busy.emplace_back([&] {
      while (!over) continue;
    });
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < 5 && best > 1.5; ++turn)
    best = std::min(best, median_search(usual, sample.queries.view()) / median_search(single, sample.queries.view()));
  over = true;
  for (std::thread& thread : busy) thread.join();
  EXPECT_LE(best, 1.5);
}

TEST(MovedFrom, AnIndexSaysSo) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {300, 5, 4}, MetricKind::euclidean, 1);
  Index<float> index(sample.base.view());
  const Neighbors<float> want = index.search(sample.queries.view(), 3);
  Index<float> other(std::move(index));
  const float radius = 1;
  std::vector<std::int64_t> ids(15);
  std::vector<float> distances(15);
  // NOLINTBEGIN(bugprone-use-after-move)
  for (const std::function<void()>& call : std::vector<std::function<void()>>{
           [&] { index.rows(); }, [&] { index.dims(); }, [&] { index.options(); }, [&] { index.memory(); },
           [&] { index.search(sample.queries.view(), 3); }, [&] { index.search_self(3); },
           [&] {
             index.search_into(sample.queries.view(), 3, {ids.data(), distances.data()});
           },
           [&] {
             index.search_self_into(3, {ids.data(), distances.data()});
           },
           [&] {
             index.search_radius(sample.queries.view(), {&radius, 1});
           },
           [&] {
             index.search_radius_self({&radius, 1});
           },
           [&] { index.graph(3); }, [&] { index.reduce(sample.queries.view(), 3, {}, ReduceOp::density); },
           [&] { index.explain(5, 3); }})
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"moved"}, call));
  index = std::move(other);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_TRUE(same_answer(index.search(sample.queries.view(), 3), want));
}

// Says no once a tenth of a second has passed, and tells how long after that the work ended.
class LateCancel {
 public:
  ProgressCallback callback() {
    return [this](const Progress&) { return seconds_since(start_) < kPatience; };
  }
  double lateness(const std::function<void()>& work) {
    start_ = Clock::now();
    EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, work));
    return seconds_since(start_) - kPatience;
  }

 private:
  static constexpr double kPatience = 0.1;
  Clock::time_point start_;
};

// 0.3 s on a machine that has nothing else to do. qemu takes several times as long.
const double kLatest = under_qemu() ? 15 : 1.5;

TEST(Cancellation, StopsTheCheckOfTheBase) {
  const std::vector<float> row(8);
  const MatrixView<float> base(row.data(), std::int64_t{1} << 40, 8, 0, 1);
  LateCancel late;
  Options options = on_this_cpu();
  options.metric = MetricKind::manhattan;  // which needs no norms
  options.progress = late.callback();
  EXPECT_LT(late.lateness([&] { search(base, base.rows_from(0, 1), 1, options); }), kLatest);
  EXPECT_LT(late.lateness([&] { Index<float>(base, options); }), kLatest);
}

// Clusters around many centers, and then many distances that take long each: seconds where nobody asks meanwhile.
TEST(Cancellation, StopsMethodTriangle) {
  const Sample<float> sample = generate<float>(Kind::uniform, {50000, 256, 8}, MetricKind::euclidean, 1);
  LateCancel late;
  Options options = on_this_cpu();
  options.method = Method::triangle;
  options.threads = 1;
  options.progress = late.callback();
  options.triangle.base_landmarks = 20000;
  EXPECT_LT(late.lateness([&] { search(sample.base.view(), sample.queries.view(), 10, options); }), kLatest);
  EXPECT_LT(late.lateness([&] { Index<float>(sample.base.view(), options); }), kLatest);

  bool lasts = true;
  options.progress = [&, callback = late.callback()](const Progress& progress) { return lasts || callback(progress); };
  options.metric = Metric::minkowski(2.5);
  options.triangle.base_landmarks = 16;
  options.triangle.query_landmarks = 1;
  const Index<float> index(sample.base.view(), options);
  lasts = false;
  EXPECT_LT(late.lateness([&] { index.search(sample.queries.view(), 1000); }), kLatest);
}

// A matrix of 400 MB: the first question comes before all of it has been touched.
TEST(Cancellation, StopsBeforeTheMatrixOfDistancesIsThere) {
  const Sample<float> sample = generate<float>(Kind::uniform, {10000, 10000, 2}, MetricKind::euclidean, 1);
  std::int64_t calls = 0;
  Options options = on_this_cpu();
  options.progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.done, 0);
    EXPECT_EQ(progress.total, 100000000);
    return ++calls < 2;
  };
  EXPECT_TRUE(
      fails_with(ErrorCode::cancelled, {}, [&] { distances(sample.base.view(), sample.queries.view(), options); }));
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace kith::test
