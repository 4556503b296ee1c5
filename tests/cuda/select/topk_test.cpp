// topk_test.cpp: the backend's entry points: topk of a host matrix in tiles, and of a device matrix.
#include "cuda/functions.hpp"
#include "kith/error.hpp"
#include "select/selection.hpp"

namespace kith::test {
namespace {

// The matrix and its answer both in memory of the host, or of the device.
template <class T>
void check(const RowsProblem<T>& problem, unsigned k, TopkOptions options, Memory memory) {
  options.largest = problem.largest;
  const bool has_ids = options.output == TopkOutput::sorted || options.output == TopkOutput::unsorted;
  const std::size_t width = options.output == TopkOutput::kth_only ? 1 : k;
  std::vector<T> values(static_cast<std::size_t>(problem.rows) * width);
  std::vector<std::int64_t> ids(has_ids ? values.size() : 0);
  const auto view = [&](const T* data) {
    return MatrixView<T>(data + problem.layout.offset, problem.rows, problem.length, problem.stride(), 1, memory);
  };
  if (memory == Memory::host) {
    device::topk<T>(view(problem.values.data()), k, options, {values.data(), ids.data()}, nullptr);
  } else {
    const device::Stream stream;
    DeviceArray<T> matrix(problem.values, stream);
    DeviceArray<T> values_out(values, stream);
    DeviceArray<std::int64_t> ids_out(ids, stream);
    device::topk<T>(view(matrix.data()), k, options, {values_out.data(), ids_out.data(), memory}, stream);
    values = values_out.values();
    ids = ids_out.values();
  }
  for (std::int64_t row = 0; row < problem.rows; ++row) {
    const std::size_t first = static_cast<std::size_t>(row) * width;
    const RowAnswer<T> answer{values.data() + first, has_ids ? ids.data() + first : nullptr};
    ASSERT_EQ(wrong_answer(problem, sorted_row(problem, row), k, options.output, answer), "") << "in row " << row;
  }
}

constexpr Memory kMemories[] = {Memory::host, Memory::device};

using TopkTest = DeviceTest;

TEST_F(TopkTest, InTilesOfAnySize) {
  const auto problem = make_problem<float>(Values::special, 23, 700, true, Ids::column, {.offset = 3, .padding = 5}, 1);
  for_each_schedule([&] {
    for (const TopkOutput form : kOutputs) {
      for (const std::int64_t budget : {std::int64_t{24} << 10, std::int64_t{100} << 10, std::int64_t{0}}) {
        SCOPED_TRACE(testing::Message() << to_string(form) << " within " << budget);
        TopkOptions options;
        options.output = form;
        options.memory_budget = budget;
        for (const Memory memory : kMemories) check(problem, 40, options, memory);
      }
    }
  });
}

TEST_F(TopkTest, OfDoubles) {
  const auto problem = make_problem<double>(Values::zeros, 9, 300, false, Ids::column, {.offset = 1, .padding = 2}, 1);
  for (const TopkOutput form : kOutputs) {
    TopkOptions options;
    options.output = form;
    for (const Memory memory : kMemories) check(problem, 300, options, memory);
  }
}

// Many tiles, which reuse the staging buffers, and an output larger than the rows.
TEST_F(TopkTest, OfManyTiles) {
  const auto problem = make_problem<float>(Values::few_distinct, 4000, 9, false, Ids::column, {}, 1);
  TopkOptions options;
  options.memory_budget = 64 << 10;
  for_each_schedule([&] { check(problem, 9, options, Memory::host); });
}

TEST_F(TopkTest, ABudgetTooSmallForARow) {
  const auto problem = make_problem<float>(Values::random, 2, 700, false, Ids::column, {}, 1);
  TopkOptions options;
  options.method = SelectMethod::sort;  // allocates a copy of the row
  options.memory_budget = 100;
  for (const Memory memory : kMemories) EXPECT_THROW(check(problem, 40, options, memory), Error);
}

}  // namespace
}  // namespace kith::test
