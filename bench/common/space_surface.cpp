// A surface from files, or one of our own: a sphere whose radius depends on the direction.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numbers>
#include <optional>

#include "common/space_sets.hpp"

namespace kith::bench {
namespace {

// The values of a one-version .npy file of a four-byte type, in the order of rows.
template <class V>
std::optional<std::vector<V>> read_npy(const std::string& path, const char* type) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  constexpr std::size_t kStart = 10;
  if (bytes.size() < kStart || bytes.compare(1, 5, "NUMPY") != 0 || bytes[6] != 1) return std::nullopt;
  const std::size_t header = static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  if (bytes.size() < kStart + header || bytes.substr(kStart, header).find(type) == std::string::npos)
    return std::nullopt;
  std::vector<V> values((bytes.size() - kStart - header) / sizeof(V));
  std::memcpy(values.data(), bytes.data() + kStart + header, values.size() * sizeof(V));
  return values;
}

void scale_to_unit_cube(SpacePoints& points) {
  float least[] = {points[0], points[1], points[2]};
  float greatest[] = {points[0], points[1], points[2]};
  for (std::size_t i = 0; i < points.size(); ++i) {
    least[i % 3] = std::min(least[i % 3], points[i]);
    greatest[i % 3] = std::max(greatest[i % 3], points[i]);
  }
  const float side = std::max({greatest[0] - least[0], greatest[1] - least[1], greatest[2] - least[2]});
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = (points[i] - least[i % 3]) / side;
}

double bump(const double (&direction)[3], const double (&towards)[3], double height, double width) {
  double away = 0;
  for (int c = 0; c < 3; ++c) away += (direction[c] - towards[c]) * (direction[c] - towards[c]);
  return height * std::exp(-away / (width * width));
}

double radius(const double (&direction)[3]) {
  return 1 + bump(direction, {0.25, 0.95, 0.2}, 1.1, 0.18) + bump(direction, {-0.25, 0.95, 0.2}, 1.1, 0.18) +
         bump(direction, {0, 0.5, 0.87}, 0.6, 0.5) + bump(direction, {0, -0.2, -0.98}, 0.25, 0.25) +
         0.03 * std::sin(9 * direction[0]) * std::sin(11 * direction[1]) * std::sin(10 * direction[2]);
}

Surface body_with_ears() {
  constexpr int kRings = 192;
  constexpr int kSegments = 384;
  Surface surface;
  for (int ring = 0; ring <= kRings; ++ring)
    for (int segment = 0; segment < kSegments; ++segment) {
      const double polar = std::numbers::pi * ring / kRings;
      const double around = 2 * std::numbers::pi * segment / kSegments;
      const double direction[] = {std::sin(polar) * std::cos(around), std::cos(polar),
                                  std::sin(polar) * std::sin(around)};
      for (const double x : direction) surface.vertices.push_back(static_cast<float>(radius(direction) * x));
    }
  for (int ring = 0; ring < kRings; ++ring)
    for (int segment = 0; segment < kSegments; ++segment) {
      const int a = ring * kSegments + segment;
      const int b = ring * kSegments + (segment + 1) % kSegments;
      for (const int vertex : {a, b, a + kSegments, b, b + kSegments, a + kSegments}) surface.faces.push_back(vertex);
    }
  return surface;
}

}  // namespace

Surface load_surface(const std::string& folder) {
  Surface surface;
  const auto vertices = read_npy<float>(folder + "/bunny.npy", "<f4");
  const auto faces = read_npy<std::int32_t>(folder + "/bunny_faces.npy", "<i4");
  if (vertices && faces && !vertices->empty()) {
    surface.vertices = *vertices;
    surface.faces = *faces;
  } else {
    surface = body_with_ears();
  }
  scale_to_unit_cube(surface.vertices);
  return surface;
}

}  // namespace kith::bench
