#include "common/check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/tests/support.hpp"

namespace kith::bench {
namespace {

template <Element T>
std::string fault_of(const Problem<T>& problem, const Answer& answer) {
  return Oracle<T>(problem.question(), problem.row.metric).judge_exact(answer).fault;
}

template <Element T>
void expect_accepted(RowSpec row) {
  row.dtype = dtype_of<T>();
  const Problem<T> problem = make_problem<T>(row, 1);
  EXPECT_EQ(fault_of(problem, library_answer(problem)), "") << describe(row);
}

// Distances as the metric's definition gives them, for a point the answer does not have.
double true_distance(const Problem<float>& problem, std::int64_t query, std::int64_t id) {
  double sum = 0;
  for (std::int64_t c = 0; c < problem.row.dims; ++c) {
    const double difference =
        static_cast<double>(problem.queries()(query, c)) - static_cast<double>(problem.base(id, c));
    sum += difference * difference;
  }
  return static_cast<double>(static_cast<float>(sum));
}

class SmallProblem : public testing::Test {
 protected:
  SmallProblem() : problem(make_problem<float>(small_row(), 2)), answer(library_answer(problem)) {}

  Verdict peer_verdict() const { return Oracle<float>(problem.question(), problem.row.metric).judge_peer(answer); }

  Problem<float> problem;
  Answer answer;
};

TEST(Check, AcceptsEveryMetricAndType) {
  for (const MetricKind kind : {MetricKind::sqeuclidean, MetricKind::manhattan, MetricKind::chebyshev,
                                MetricKind::cosine, MetricKind::inner_product, MetricKind::hamming}) {
    expect_accepted<float>(small_row(kind));
    expect_accepted<double>(small_row(kind));
    expect_accepted<std::uint8_t>(small_row(kind));
  }
}

TEST(Check, AcceptsClustersAndGraphs) {
  RowSpec row = small_row();
  row.data = DataKind::clustered;
  expect_accepted<float>(row);
  row.self = true;
  expect_accepted<float>(row);
}

TEST(Check, RefusesAMetricItDoesNotKnow) {
  const Problem<float> problem = make_problem<float>(small_row(MetricKind::canberra), 1);
  EXPECT_THROW(Oracle<float>(problem.question(), problem.row.metric), std::logic_error);
}

TEST_F(SmallProblem, FindsNeighborsOutOfOrder) {
  std::swap(answer.ids[1], answer.ids[2]);
  std::swap(answer.distances[1], answer.distances[2]);
  EXPECT_NE(fault_of(problem, answer).find("query 0, rank 2"), std::string::npos);
}

TEST_F(SmallProblem, FindsADistanceOffByOneRounding) {
  auto value = static_cast<float>(answer.distances[10]);
  value = std::nextafter(value, std::numeric_limits<float>::infinity());
  answer.distances[10] = static_cast<double>(value);
  EXPECT_NE(fault_of(problem, answer).find("query 1, rank 3"), std::string::npos);
}

TEST_F(SmallProblem, FindsARepeatedId) {
  answer.ids[3] = answer.ids[2];
  EXPECT_NE(fault_of(problem, answer).find("once more"), std::string::npos);
}

TEST_F(SmallProblem, FindsAnIdThatDoesNotExist) {
  answer.ids[3] = problem.base.rows();
  EXPECT_NE(fault_of(problem, answer).find("id 200 of 200 points"), std::string::npos);
  answer.ids[3] = -1;
  EXPECT_NE(fault_of(problem, answer).find("id -1 of 200 points"), std::string::npos);
}

TEST_F(SmallProblem, FindsMissingRows) {
  answer.ids.pop_back();
  EXPECT_NE(fault_of(problem, answer), "");
}

// The farthest neighbor of query 2 gives way to a point farther still, with its true distance.
TEST_F(SmallProblem, FindsAMissedNeighbor) {
  RowSpec wider = problem.row;
  wider.k += 1;
  const Answer more = library_answer(make_problem<float>(wider, 1));
  answer.ids[2 * 7 + 6] = more.ids[2 * 8 + 7];
  answer.distances[2 * 7 + 6] = true_distance(problem, 2, more.ids[2 * 8 + 7]);
  EXPECT_NE(fault_of(problem, answer).find("query 2, rank 6"), std::string::npos);
}

// All points equal: the smallest ids in order are the only right answer.
TEST(Check, FindsTiesInTheWrongOrder) {
  Problem<std::uint8_t> problem;
  problem.row = small_row();
  problem.base = Matrix<std::uint8_t>(200, 5);
  problem.own_queries = Matrix<std::uint8_t>(12, 5);
  const Answer right = library_answer(problem);
  EXPECT_EQ(fault_of(problem, right), "");
  Answer swapped = right;
  std::swap(swapped.ids[0], swapped.ids[1]);
  EXPECT_NE(fault_of(problem, swapped).find("out of order"), std::string::npos);
}

TEST(Check, FindsThePointItselfInAGraph) {
  RowSpec row = small_row();
  row.self = true;
  const Problem<float> problem = make_problem<float>(row, 1);
  Answer answer = library_answer(problem);
  answer.ids[7] = 1;
  EXPECT_NE(fault_of(problem, answer).find("the point itself"), std::string::npos);
}

TEST_F(SmallProblem, ChecksAllQueriesOfASmallRow) {
  EXPECT_EQ(peer_verdict().checked, 12);
}

TEST_F(SmallProblem, MeasuresRecallOfAPeer) {
  EXPECT_EQ(peer_verdict().recall, 1);
  EXPECT_FALSE(peer_verdict().inexact);
  RowSpec wider = problem.row;
  wider.k += 1;
  answer.ids[6] = library_answer(make_problem<float>(wider, 1)).ids[7];
  answer.distances[6] = true_distance(problem, 0, answer.ids[6]);
  EXPECT_DOUBLE_EQ(peer_verdict().recall, 1 - 1.0 / (12 * 7));
  EXPECT_TRUE(peer_verdict().inexact);
}

TEST_F(SmallProblem, MeasuresDistanceErrorsOfAPeer) {
  answer.distances[6] *= 1.5;
  EXPECT_NEAR(peer_verdict().error, 0.5, 1e-5);
  EXPECT_TRUE(peer_verdict().inexact);
  answer.distances[6] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(peer_verdict().error));
  EXPECT_TRUE(peer_verdict().inexact);
}

}  // namespace
}  // namespace kith::bench
