// scan_candidates_test.cpp: the best scores of each query against sorts of all of them.
#include "cuda/brute/scan_candidates.hpp"

#include "tensor/tensor_problem.hpp"

namespace kith::test::tensor {
namespace {

using ScanCandidates = DeviceTest;
using Candidate = std::pair<float, unsigned>;

// The `width` first of a query, by (score, row).
std::vector<Candidate> first_of(std::vector<Candidate> all, std::int64_t width) {
  std::sort(all.begin(), all.end());
  all.resize(static_cast<std::size_t>(width));
  return all;
}

std::vector<Candidate> scored_rows(const Problem& problem, const Shape& shape, std::int64_t query) {
  std::vector<Candidate> all;
  for (std::int64_t row = 0; row < shape.base; ++row)
    all.emplace_back(problem.scores()[static_cast<std::size_t>(query * shape.base + row)], row);
  return all;
}

// What the lists hold, without the places of nobody. None may be there twice.
std::vector<std::vector<Candidate>> scan(Problem& problem, const Shape& shape, std::int64_t width,
                                         std::int64_t blocks) {
  device::Workspace workspace(problem.stream());
  const auto lists = device::brute::scan_candidates(
      {.product = problem.call(), .width = width, .blocks = blocks, .workspace = workspace});
  std::vector<float> scores(static_cast<std::size_t>(shape.queries) * lists.capacity);
  std::vector<unsigned> ids(scores.size());
  std::vector<unsigned> counts(static_cast<std::size_t>(shape.queries));
  const auto fetch = [&](auto& to, const auto* from) {
    KITH_CUDA(cudaMemcpyAsync(to.data(), from, to.size() * sizeof(to[0]), cudaMemcpyDeviceToHost, problem.stream()));
  };
  fetch(scores, lists.scores);
  fetch(ids, lists.ids);
  fetch(counts, lists.counts);
  KITH_CUDA(cudaStreamSynchronize(problem.stream()));
  std::vector<std::vector<Candidate>> found(static_cast<std::size_t>(shape.queries));
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (ids[i] != ~0U) found[i / lists.capacity].emplace_back(scores[i], ids[i]);
  for (const unsigned count : counts) EXPECT_EQ(count, lists.capacity);
  return found;
}

void check(const Shape& shape, std::int64_t width, std::int64_t blocks) {
  SCOPED_TRACE(name_of(shape) + ", width " + std::to_string(width) + ", blocks " + std::to_string(blocks));
  ASSERT_TRUE(core::can_scan(shape.queries, width, shape.dims * element_bytes(shape.element),
                             device::device_policy().hardware));
  Random random(static_cast<std::uint64_t>(shape.queries * 7 + shape.base * 3 + shape.dims));
  Problem problem(shape, random);
  for_each_schedule([&] {
    if (testing::Test::HasFailure()) return;
    const auto found = scan(problem, shape, width, blocks);
    for (std::int64_t query = 0; query < shape.queries; ++query) {
      const auto& list = found[static_cast<std::size_t>(query)];
      ASSERT_GE(static_cast<std::int64_t>(list.size()), width);
      EXPECT_EQ(first_of(list, width), first_of(scored_rows(problem, shape, query), width)) << "query " << query;
    }
  });
}

// Rows of one, two, four and more chunks, their last vectors missing or not; tiny integers tie often.
TEST_F(ScanCandidates, FindsTheBest) {
  for (const Element element : {Element::fp16, Element::int8, Element::uint8}) {
    check({element, 1, 1, 1}, 1, 0);
    check({element, 3, 5, 1}, 4, 0);
    check({element, 8, 40, 7, false}, 40, 0);
    check({element, 1, 2100, 16}, 16, 0);
    check({element, 2, 700, 33, false}, 20, 0);
    check({element, 4, 530, 64}, 1, 0);
    check({element, 5, 600, 100, false}, 16, 0);
    check({element, 8, 300, 128}, 128, 0);
    check({element, 7, 270, 384}, 33, 0);
    check({element, 1, 530, 700, false}, 16, 0);
  }
}

// Blocks that take many rounds, so that buffers fill up again and again; the last round is not full.
TEST_F(ScanCandidates, ManyRoundsOfFewBlocks) {
  check({Element::fp16, 1, 5003, 100}, 16, 1);
  check({Element::fp16, 8, 3000, 130, false}, 128, 1);
  check({Element::fp16, 3, 9000, 20}, 16, 2);
  check({Element::uint8, 4, 6000, 100}, 100, 2);
  check({Element::int8, 2, 6000, 1}, 256, 2);
}

// All scores are equal: the first rows stay.
TEST_F(ScanCandidates, Ties) {
  const Shape shape{Element::int8, 2, 4000, 3, false};
  Random random(1);
  Problem problem(shape, random);
  device::tensor::TensorProduct product = problem.call();
  DeviceArray<unsigned char> zeros(std::vector<unsigned char>(device::as_size(2 * product.queries.row_bytes), 0),
                                   problem.stream());
  product.queries.data = zeros.data();
  for_each_schedule([&] {
    device::Workspace workspace(problem.stream());
    const auto lists =
        device::brute::scan_candidates({.product = product, .width = 50, .blocks = 1, .workspace = workspace});
    std::vector<unsigned> ids(100);
    KITH_CUDA(cudaMemcpyAsync(ids.data(), lists.ids, ids.size() * sizeof(unsigned), cudaMemcpyDeviceToHost,
                              problem.stream()));
    KITH_CUDA(cudaStreamSynchronize(problem.stream()));
    std::sort(ids.begin(), ids.begin() + 50);
    std::sort(ids.begin() + 50, ids.end());
    for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(ids[i], i % 50);
  });
}

TEST_F(ScanCandidates, SaysWhatItTakes) {
  const core::DeviceHardware large{.shared_per_block = 227 << 10};
  EXPECT_TRUE(core::can_scan(1, 16, 256, large));
  EXPECT_TRUE(core::can_scan(8, 125, 8192, large));
  EXPECT_FALSE(core::can_scan(9, 16, 256, large));
  EXPECT_FALSE(core::can_scan(1, 257, 256, large));
  EXPECT_FALSE(core::can_scan(1, 16, 8208, large));
  const core::DeviceHardware small{.shared_per_block = 48 << 10};
  EXPECT_TRUE(core::can_scan(2, 16, 256, small));
  EXPECT_FALSE(core::can_scan(8, 16, 256, small));
  EXPECT_FALSE(core::can_scan(1, 16, 8192, small));
}

// 99 KiB are what most chips but those of data centers have. Eight queries of short rows take more with four sets.
TEST_F(ScanCandidates, TakesFewerRowsAtOnceWhereSharedMemoryIsSmall) {
  for (const std::int64_t kib : {48, 99, 163, 227})
    for (const std::int64_t queries : {1, 3, 8})
      for (const std::int64_t bytes : {16, 64, 128, 1024, 8192}) {
        SCOPED_TRACE(testing::Message() << kib << " KiB, " << queries << " queries, rows of " << bytes << " bytes");
        const core::DeviceHardware hardware{.shared_per_block = kib << 10};
        if (!core::can_scan(queries, 16, bytes, hardware)) continue;
        const core::ScanPlan plan = core::plan_scan(100000, queries, bytes, hardware);
        EXPECT_LE(plan.shared_bytes + core::kScanOtherBytes, hardware.shared_per_block);
        EXPECT_GE(plan.chunks * core::kScanChunk, bytes);
      }
  EXPECT_EQ(core::plan_scan(100000, 8, 64, {.shared_per_block = 99 << 10}).sets, 2);
  EXPECT_EQ(core::plan_scan(100000, 8, 64, {.shared_per_block = 227 << 10}).sets, 4);
}

}  // namespace
}  // namespace kith::test::tensor
