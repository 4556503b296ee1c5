// topk_test.cpp: the backend's entry points: topk of a host matrix in tiles, and of a device matrix.
#include "cuda/functions.hpp"
#include "cuda/select/select.hpp"
#include "kith/error.hpp"
#include "select/selection.hpp"

namespace kith::test {
namespace {

template <class T>
void expect_right(const RowsProblem<T>& problem, const TopkOptions& options, unsigned k, const std::vector<T>& values,
                  const std::vector<std::int64_t>& ids) {
  const std::size_t width = options.output == TopkOutput::kth_only ? 1 : k;
  for (std::int64_t row = 0; row < problem.rows; ++row) {
    const std::size_t first = static_cast<std::size_t>(row) * width;
    const RowAnswer<T> answer{values.data() + first, ids.empty() ? nullptr : ids.data() + first};
    ASSERT_EQ(wrong_answer(problem, sorted_row(problem, row), k, options.output, answer), "") << "in row " << row;
  }
}

template <class T>
void check_on_host(const RowsProblem<T>& problem, unsigned k, TopkOptions options) {
  options.largest = problem.largest;
  const MatrixView<T> matrix(problem.values.data() + problem.layout.offset, problem.rows, problem.length,
                             problem.stride(), 1);
  const bool ids = options.output == TopkOutput::sorted || options.output == TopkOutput::unsorted;
  Topk<T> out;
  out.rows = problem.rows;
  out.k = options.output == TopkOutput::kth_only ? 1 : k;
  out.values.resize(static_cast<std::size_t>(out.rows * out.k));
  if (ids) out.ids.resize(out.values.size());
  device::topk<T>(matrix, k, options, {out.values.data(), out.ids.data()}, nullptr);
  expect_right(problem, options, k, out.values, out.ids);
}

template <class T>
void check_on_device(const RowsProblem<T>& problem, unsigned k, TopkOptions options) {
  options.largest = problem.largest;
  const bool ids = options.output == TopkOutput::sorted || options.output == TopkOutput::unsorted;
  const std::size_t count = static_cast<std::size_t>(problem.rows) * (options.output == TopkOutput::kth_only ? 1 : k);
  const device::Stream stream;
  DeviceArray<T> values(problem.values, stream);
  DeviceArray<T> values_out(std::vector<T>(count), stream);
  DeviceArray<std::int64_t> ids_out(std::vector<std::int64_t>(ids ? count : 0), stream);
  const auto matrix =
      MatrixView<T>::on_device(values.data() + problem.layout.offset, problem.rows, problem.length, problem.stride());
  device::topk<T>(matrix, k, options, {values_out.data(), ids_out.data(), Memory::device}, stream);
  expect_right(problem, options, k, values_out.values(), ids_out.values());
}

using TopkTest = DeviceTest;

constexpr TopkOutput kTopkForms[] = {TopkOutput::sorted, TopkOutput::unsorted, TopkOutput::values_only,
                                     TopkOutput::kth_only};

TEST_F(TopkTest, InTilesOfAnySize) {
  const auto problem = make_problem<float>(Values::special, 23, 700, true, Ids::column, {.offset = 3, .padding = 5}, 1);
  for_each_schedule([&] {
    for (const TopkOutput form : kTopkForms) {
      for (const std::int64_t budget : {std::int64_t{24} << 10, std::int64_t{100} << 10, std::int64_t{0}}) {
        SCOPED_TRACE(testing::Message() << to_string(form) << " within " << budget);
        TopkOptions options;
        options.output = form;
        options.memory_budget = budget;
        check_on_host(problem, 40, options);
        check_on_device(problem, 40, options);
      }
    }
  });
}

TEST_F(TopkTest, OfDoubles) {
  const auto problem = make_problem<double>(Values::zeros, 9, 300, false, Ids::column, {.offset = 1, .padding = 2}, 1);
  for (const TopkOutput form : kTopkForms) {
    TopkOptions options;
    options.output = form;
    check_on_host(problem, 300, options);
    check_on_device(problem, 300, options);
  }
}

// Many tiles, which reuse the staging buffers, and an output larger than the rows.
TEST_F(TopkTest, OfManyTiles) {
  const auto problem = make_problem<float>(Values::few_distinct, 4000, 9, false, Ids::column, {}, 1);
  TopkOptions options;
  options.memory_budget = 64 << 10;
  for_each_schedule([&] { check_on_host(problem, 9, options); });
}

TEST_F(TopkTest, ABudgetTooSmallForARow) {
  const auto problem = make_problem<float>(Values::random, 2, 700, false, Ids::column, {}, 1);
  TopkOptions options;
  options.method = SelectMethod::sort;  // allocates a copy of the row
  options.memory_budget = 100;
  EXPECT_THROW(check_on_host(problem, 40, options), Error);
  EXPECT_THROW(check_on_device(problem, 40, options), Error);
}

}  // namespace
}  // namespace kith::test
