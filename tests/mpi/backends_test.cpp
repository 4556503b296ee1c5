// Ranks that search on devices: those of the emulator, where the build has it. The answer is that of a CPU.
#include "kith/index.hpp"
#include "mpi/ranks.hpp"
#include "support/matrix_of.hpp"

namespace kith::test {
namespace {

bool has_emulator() {
  const auto backends = available_backends();
  return std::find(backends.begin(), backends.end(), Backend::emulated) != backends.end();
}

TEST(MpiBackends, EmulatedDevices) {
  if (!has_emulator()) GTEST_SKIP() << "this needs the emulated backend";
  for (const Metric& metric : {Metric(MetricKind::euclidean), Metric(MetricKind::cosine)}) {
    const auto sample = generate<float>(Kind::ties, {90, 11, 4}, metric, 31);
    const MatrixView<float> mine = cut_of(11, Spread::even).of(sample.queries);
    Neighbors<float> expected;
    if (mine.rows > 0) expected = search(sample.base.view(), mine, 6, options_of(metric));
    Options options = options_of(metric);
    options.backend = Backend::emulated;
    mpi::Index<float> index(MPI_COMM_WORLD, cut_of(90, Spread::uneven, 3).of(sample.base), options);
    for (const mpi::Layout layout : layouts_for(metric))
      EXPECT_TRUE(same_lists(index.search(mine, 6, by(layout, 4)), expected)) << to_string(layout);
  }
}

// Ranks of a CPU beside ranks of a device, with a metric whose bits are the same on both.
TEST(MpiBackends, CpusBesideEmulatedDevices) {
  if (!has_emulator()) GTEST_SKIP() << "this needs the emulated backend";
  const Metric metric = MetricKind::manhattan;
  const auto sample = generate<float>(Kind::duplicates, {80, 9, 3}, metric, 37);
  const MatrixView<float> mine = cut_of(9, Spread::even).of(sample.queries);
  Neighbors<float> expected;
  if (mine.rows > 0) expected = search(sample.base.view(), mine, 5, options_of(metric));
  Options options = options_of(metric);
  options.backend = my_rank() % 2 == 0 ? Backend::cpu : Backend::emulated;
  mpi::Index<float> index(MPI_COMM_WORLD, cut_of(80, Spread::even).of(sample.base), options);
  for (const mpi::Layout layout : layouts_for(metric))
    EXPECT_TRUE(same_lists(index.search(mine, 5, by(layout)), expected)) << to_string(layout);
}

TEST(MpiBackends, PowersOfTwoBackendsAreRefused) {
  if (!has_emulator() || ranks() == 1) GTEST_SKIP() << "this needs the emulated backend and two ranks";
  const auto rows = matrix_of<float>(5, 3, [](std::int64_t r, std::int64_t c) { return r + c; });
  Options options = options_of(Metric::minkowski(3));
  options.backend = my_rank() == ranks() - 1 ? Backend::emulated : Backend::cpu;
  expect_refused(ErrorCode::invalid_argument, {"minkowski(3)", "cpu", "emulated"},
                 [&] { mpi::Index<float>(MPI_COMM_WORLD, rows.view(), options); });
}

}  // namespace
}  // namespace kith::test
