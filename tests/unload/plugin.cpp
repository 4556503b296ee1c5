// A plugin that searches, linked with the library as any is.
#include <vector>

#include "kith/search.hpp"

extern "C" __attribute__((visibility("default"))) std::int64_t search_in_plugin() {
  std::vector<float> points(60000);
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = static_cast<float>(i * 37 % 101);
  kith::Options options;
  options.threads = 4;
  options.backend = kith::Backend::cpu;
  const kith::MatrixView<float> view(points.data(), 1875, 32);
  return kith::search(view, view, 3, options).queries;
}
