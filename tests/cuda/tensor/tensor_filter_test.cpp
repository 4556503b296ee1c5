// tensor_filter() and tensor_sample() against plain sums, in several schedules of the emulator.
#include "cuda/runtime/properties.hpp"
#include "tensor/tensor_problem.hpp"

namespace kith::test::tensor {
namespace {

class TensorFilter : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !device::tensor::has_tensor_filter(Element::fp16, 64))
      GTEST_SKIP() << "this device has no wgmma";
  }
};

struct Division {
  bool mirrored = false;
  std::int64_t parts = 0;
};

void check_lists(Problem& problem, const std::vector<float>& limits, unsigned capacity, const Division& division = {}) {
  CandidateCheck<float>(problem.scores(), limits, capacity, false).run(problem.stream(), [&](const auto& lists) {
    device::tensor::tensor_filter({.product = problem.call(),
                                   .lists = lists,
                                   .pairs = {},
                                   .stream = problem.stream(),
                                   .mirrored = division.mirrored,
                                   .parts = division.parts});
  });
}

void check(const Shape& shape, std::int64_t parts = 0) {
  SCOPED_TRACE(name_of(shape));
  Random random(static_cast<std::uint64_t>(shape.queries * 7 + shape.base * 3 + shape.dims));
  Problem problem(shape, random);
  const std::vector<float> limits = make_limits(problem.scores(), shape.queries, random);
  for_each_schedule([&] {
    if (!testing::Test::HasFailure())
      check_lists(problem, limits, shape.dims % 2 == 0 ? static_cast<unsigned>(shape.base) + 3 : 4,
                  {shape.mirrored, parts});
  });
}

// Rows of less than a chunk, of one, and of several; queries that stay in shared memory and those that do not; one,
// two and four sets of 64 queries.
TEST_F(TensorFilter, FindsWhatPassesTheLimits) {
  for (const Element element : {Element::fp16, Element::int8, Element::uint8}) {
    check({element, 3, 5, 1});
    check({element, 64, 129, 33, false});
    check({element, 65, 128, 64});
    check({element, 130, 300, 130, false});
    check({element, 257, 131, 8});
    check({element, 130, 140, element == Element::fp16 ? 300 : 700});
  }
}

TEST_F(TensorFilter, AddsProductsWithRemainders) {
  check({Element::fp16, 5, 200, 20, true, true});
  check({Element::fp16, 150, 130, 70, false, true});
  check({Element::fp16, 130, 130, 200, true, true});
}

// Consumers that take tiles by turns, whose stages come round at other tiles.
TEST_F(TensorFilter, FewQueriesTakeTilesByTurns) {
  for (const std::int64_t dims : {8, 70, 200, 300}) {
    check({Element::fp16, 9, 128 * 23 - 7, dims});
    check({Element::fp16, 128, 128 * 9, dims, false});
  }
}

// Rows so long that shared memory has room for two stages of each turn, and no more.
TEST_F(TensorFilter, FewQueriesOfLongRows) {
  check({Element::fp16, 9, 600, 768});
  check({Element::fp16, 100, 300, 768, false});
  check({Element::uint8, 64, 600, 1600});
  check({Element::fp16, 20, 300, 512, true, true});
}

// A product serves both of its points: groups of 256 queries, of which some are not whole, and rows whose queries stay
// in shared memory or do not. Rows of one chunk, or with remainders, are multiplied for each point.
TEST_F(TensorFilter, ProductsServeBothPoints) {
  const auto both = [](std::int64_t points, std::int64_t dims, bool expanded, bool remainders = false) {
    return Shape{Element::fp16, points, points, dims, expanded, remainders, true};
  };
  check(both(129, 70, true));
  check(both(256, 128, false));
  check(both(530, 66, true));
  check(both(700, 66, false));
  check(both(300, 300, true));
  check(both(200, 64, true));
  check(both(140, 70, true, true));
}

// However the base is divided, each pair is listed once.
TEST_F(TensorFilter, DividesTheBase) {
  for (const std::int64_t parts : {1, 2, 3, 5, 100}) {
    check({Element::fp16, 300, 700, 8}, parts);
    check({Element::fp16, 900, 900, 68, true, false, true}, parts);
  }
}

// More candidates than the buffers of hits hold, and more tiles than they are kept for.
TEST_F(TensorFilter, ManyHitsAndTiles) {
  Random random(5);
  for (const std::int64_t queries : {3, 140}) {
    Problem problem({Element::fp16, queries, 128 * 21 - 3, 8}, random);
    for_each_schedule([&] {
      for (const unsigned capacity : {7U, 3000U})
        check_lists(problem, std::vector<float>(static_cast<std::size_t>(queries), 1e9F), capacity);
    });
  }
}

TEST_F(TensorFilter, ListsPairs) {
  Random random(9);
  Problem problem({Element::fp16, 70, 200, 16}, random);
  const std::vector<float> limits = make_limits(problem.scores(), 70, random);
  std::vector<std::vector<bool>> wanted(70, std::vector<bool>(200));
  unsigned long long count = 0;
  for (std::size_t i = 0; i < 70; ++i)
    for (std::size_t j = 0; j < 200; ++j) {
      wanted[i][j] = !std::isnan(limits[i]) && problem.scores()[i * 200 + j] <= limits[i];
      count += wanted[i][j] ? 1 : 0;
    }
  ASSERT_GT(count, 70U);
  for_each_schedule([&] {
    DeviceArray<float> on_device(limits, problem.stream());
    DeviceArray<unsigned> queries(std::vector<unsigned>(count + 1, 0), problem.stream());
    DeviceArray<unsigned> ids(std::vector<unsigned>(count + 1, 0), problem.stream());
    DeviceArray<unsigned long long> counter({0}, problem.stream());
    device::tensor::tensor_filter({.product = problem.call(),
                                   .lists = {},
                                   .pairs = {.limits = on_device.data(),
                                             .queries = queries.data(),
                                             .ids = ids.data(),
                                             .capacity = count,
                                             .first_id = 10,
                                             .count = counter.data()},
                                   .stream = problem.stream()});
    ASSERT_EQ(counter.values()[0], count);
    std::vector<std::vector<bool>> found(70, std::vector<bool>(200));
    for (std::size_t i = 0; i < count; ++i) found[queries.values()[i]][ids.values()[i] - 10] = true;
    EXPECT_EQ(found, wanted);
  });
}

// Every third point is in the sample; the groups of each part are its columns modulo kGroups.
TEST_F(TensorFilter, SamplesBestOfGroups) {
  constexpr std::int64_t kGroups = device::tensor::TensorSampleCall::kGroups;
  constexpr std::int64_t kStep = 3;
  for (const Shape& shape : {Shape{Element::fp16, 5, 3 * 700, 20}, Shape{Element::uint8, 140, 3 * 128, 40},
                             Shape{Element::fp16, 70, 3 * 300, 200, false, true}}) {
    SCOPED_TRACE(name_of(shape));
    Random random(3);
    Problem problem(shape, random);
    const std::int64_t samples = shape.base / kStep;
    const std::int64_t tiles = device::ceil_div(samples, kGroups);
    const std::int64_t parts = std::min<std::int64_t>(tiles, 2);
    std::vector<float> wanted(static_cast<std::size_t>(shape.queries * parts * kGroups),
                              std::numeric_limits<float>::infinity());
    for (std::int64_t i = 0; i < shape.queries; ++i)
      for (std::int64_t j = 0; j < samples; ++j) {
        std::int64_t part = 0;
        while ((part + 1) * tiles / parts <= j / kGroups) ++part;
        float& best = wanted[static_cast<std::size_t>((i * parts + part) * kGroups + j % kGroups)];
        best = std::min(best, problem.scores()[static_cast<std::size_t>(i * shape.base + j * kStep)]);
      }
    for_each_schedule([&] {
      DeviceArray<float> best(std::vector<float>(wanted.size(), -1), problem.stream());
      device::tensor::tensor_sample(
          {.product = problem.call(kStep), .parts = parts, .best = best.data(), .stream = problem.stream()});
      EXPECT_EQ(best.values(), wanted);
    });
  }
}

TEST_F(TensorFilter, NothingToDo) {
  const device::Stream stream;
  device::tensor::tensor_filter({.product = {}, .lists = {}, .pairs = {}, .stream = stream});
  device::tensor::tensor_sample({.product = {}, .stream = stream});
}

}  // namespace
}  // namespace kith::test::tensor
