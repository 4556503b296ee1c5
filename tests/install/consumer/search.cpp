// A user of libkith alone: a right answer, and an error caught across the library's border.
#include <kith/kith.hpp>

#include <cstdio>
#include <string>
#include <vector>

int main() {
  const std::string header = std::to_string(KITH_VERSION_MAJOR) + "." + std::to_string(KITH_VERSION_MINOR) + "." +
                             std::to_string(KITH_VERSION_PATCH);
  if (header != kith::version()) {
    std::printf("header %s, library %s\n", header.c_str(), kith::version());
    return 1;
  }

  const std::vector<float> base = {0, 0, 3, 4, 6, 8};
  const std::vector<float> query = {3, 3};
  const auto found = kith::search<float>({base.data(), 3, 2}, {query.data(), 1, 2}, 2);
  if (found.ids != std::vector<std::int64_t>{1, 0} || found.distances[0] != 1.0F) {
    std::printf("wrong neighbors\n");
    return 1;
  }

  std::vector<float> matrix(3);
  kith::distances_into<float>({base.data(), 3, 2}, {query.data(), 1, 2}, matrix.data());
  if (matrix[static_cast<std::size_t>(found.ids[0])] != found.distances[0]) {
    std::printf("wrong distances\n");
    return 1;
  }

  std::vector<float> smallest(2);
  std::vector<std::int64_t> ids(2);
  kith::topk_into<float>({base.data() + 1, 1, 5}, 2, {smallest.data(), ids.data()});
  if (ids != std::vector<std::int64_t>{0, 1}) {
    std::printf("wrong smallest values\n");
    return 1;
  }

  try {
    kith::search<float>({base.data(), 3, 2}, {query.data(), 1, 2}, 4);
  } catch (const kith::Error& error) {
    return error.code() == kith::ErrorCode::invalid_argument ? 0 : 1;
  }
  std::printf("k = 4 of 3 points was not refused\n");
  return 1;
}
