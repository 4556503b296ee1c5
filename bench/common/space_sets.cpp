#include "common/space_sets.hpp"

#include <cmath>
#include <random>
#include <stdexcept>

namespace kith::bench {
namespace {

constexpr int kClusters = 25;
constexpr float kDeviation = 0.01F;

using Random = std::mt19937_64;

SpacePoints uniform(std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  std::uniform_real_distribution<float> unit;
  SpacePoints points(static_cast<std::size_t>(3 * count));
  for (float& x : points) x = unit(random);
  return points;
}

SpacePoints clusters(std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  std::uniform_real_distribution<float> unit;
  std::normal_distribution<float> normal(0, kDeviation);
  SpacePoints centers(3 * kClusters);
  for (float& x : centers) x = unit(random);
  std::uniform_int_distribution<std::size_t> any(0, kClusters - 1);
  SpacePoints points(static_cast<std::size_t>(3 * count));
  for (std::size_t i = 0; i < points.size(); i += 3) {
    const std::size_t cluster = 3 * any(random);
    for (std::size_t c = 0; c < 3; ++c) points[i + c] = centers[cluster + c] + normal(random);
  }
  return points;
}

double twice_area(const Surface& surface, std::size_t face) {
  double edges[2][3];
  for (std::size_t e = 0; e < 2; ++e)
    for (std::size_t c = 0; c < 3; ++c)
      edges[e][c] =
          static_cast<double>(surface.vertices[3 * static_cast<std::size_t>(surface.faces[face + e + 1]) + c]) -
          static_cast<double>(surface.vertices[3 * static_cast<std::size_t>(surface.faces[face]) + c]);
  const double x = edges[0][1] * edges[1][2] - edges[0][2] * edges[1][1];
  const double y = edges[0][2] * edges[1][0] - edges[0][0] * edges[1][2];
  const double z = edges[0][0] * edges[1][1] - edges[0][1] * edges[1][0];
  return std::sqrt(x * x + y * y + z * z);
}

// Evenly by area.
SpacePoints on_surface(const Surface& surface, std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  std::uniform_real_distribution<float> unit;
  std::vector<double> areas;
  for (std::size_t face = 0; face < surface.faces.size(); face += 3) areas.push_back(twice_area(surface, face));
  std::discrete_distribution<std::size_t> any(areas.begin(), areas.end());
  SpacePoints points(static_cast<std::size_t>(3 * count));
  for (std::size_t i = 0; i < points.size(); i += 3) {
    const std::size_t face = 3 * any(random);
    const float s = std::sqrt(unit(random));
    const float t = unit(random);
    const float weights[] = {1 - s, s * (1 - t), s * t};
    for (std::size_t c = 0; c < 3; ++c) {
      points[i + c] = 0;
      for (std::size_t v = 0; v < 3; ++v)
        points[i + c] += weights[v] * surface.vertices[3 * static_cast<std::size_t>(surface.faces[face + v]) + c];
    }
  }
  return points;
}

}  // namespace

const std::vector<std::string>& space_set_names() {
  static const std::vector<std::string> names = {"uniform", "cluster-into-bunny", "bunny-into-cluster", "photons"};
  return names;
}

SpaceSets make_space_sets(const std::string& name, std::int64_t base, std::int64_t queries, const Surface& surface) {
  if (name == "uniform") return {uniform(base, 1), uniform(queries, 2)};
  if (name == "cluster-into-bunny") return {on_surface(surface, base, 3), clusters(queries, 4)};
  if (name == "bunny-into-cluster") return {clusters(base, 5), on_surface(surface, queries, 6)};
  if (name == "photons") return {photons(base, 7), eye_rays(queries, 8)};
  throw std::runtime_error("no set of points is called " + name);
}

}  // namespace kith::bench
