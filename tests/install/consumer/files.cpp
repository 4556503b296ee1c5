// A user of libkith_io: points written, read back and searched.
#include <kith/io.hpp>
#include <kith/kith.hpp>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<float> values = {0, 0, 3, 4, 6, 8};
  kith::io::save("points.npy", kith::io::Array::borrow(values.data(), 3, 2));
  const kith::io::Array points = kith::io::load("points.npy");

  const std::vector<float> query = {7, 8};
  const auto found = kith::search<float>(points.view<float>(), {query.data(), 1, 2}, 1);
  if (found.ids != std::vector<std::int64_t>{2} || found.distances[0] != 1.0F) {
    std::printf("wrong neighbor\n");
    return 1;
  }
  return 0;
}
