// The points of a 100 × 100 grid nearest to two places on it.
#include <kith/kith.hpp>

#include <cstdio>
#include <vector>

int main() {
  kith::Matrix<float> base(10000, 2);
  for (std::int64_t i = 0; i < base.rows(); ++i) {
    base(i, 0) = static_cast<float>(i % 100);
    base(i, 1) = static_cast<float>(i / 100);
  }
  const std::vector<float> places = {3.2F, 7.9F, 41.0F, 58.6F};
  const kith::MatrixView<float> queries(places.data(), 2, 2);

  try {
    kith::Options options;
    options.metric = kith::MetricKind::euclidean;
    const kith::Index<float> index(base.view(), options);
    const kith::Neighbors<float> found = index.search(queries, 3);
    for (std::int64_t query = 0; query < found.queries; ++query) {
      std::printf("query %d:", static_cast<int>(query));
      for (std::int64_t i = 0; i < found.k; ++i) {
        const auto at = static_cast<std::size_t>(i);
        std::printf("  %d at %.3f", static_cast<int>(found.ids_of(query)[at]), found.distances_of(query)[at]);
      }
      std::printf("\n");
    }
  } catch (const kith::Error& error) {
    std::fprintf(stderr, "%s: %s\n", kith::to_string(error.code()), error.what());
    return 1;
  }
}
