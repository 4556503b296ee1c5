// A room with two balls under a lamp: where light comes to rest after a few diffuse reflections, and what an eye sees.
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "common/space_sets.hpp"

namespace kith::bench {
namespace {

using Vector = std::array<double, 3>;

struct Ball {
  Vector center;
  double radius;
};
constexpr Ball kBalls[] = {{{0.32, 0.2, 0.6}, 0.2}, {{0.7, 0.15, 0.4}, 0.15}};
constexpr double kAway = 1e-6;  // from the surface that a ray starts on

struct Hit {
  Vector at;
  Vector normal;
};

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector unit(Vector v) {
  const double length = std::sqrt(dot(v, v));
  for (double& x : v) x /= length;
  return v;
}

// From within the unit cube, whose walls are the room's.
Hit trace(const Vector& from, const Vector& direction) {
  double nearest = std::numeric_limits<double>::infinity();
  Hit hit{};
  for (std::size_t c = 0; c < 3; ++c) {
    if (direction[c] == 0) continue;
    const double t = ((direction[c] > 0 ? 1.0 : 0.0) - from[c]) / direction[c];
    if (t >= nearest) continue;
    nearest = t;
    hit.normal = {};
    hit.normal[c] = direction[c] > 0 ? -1 : 1;
  }
  const Ball* met = nullptr;
  for (const Ball& ball : kBalls) {
    Vector towards;
    for (std::size_t c = 0; c < 3; ++c) towards[c] = ball.center[c] - from[c];
    const double along = dot(towards, direction);
    const double inside = ball.radius * ball.radius - dot(towards, towards) + along * along;
    if (inside <= 0) continue;
    const double t = along - std::sqrt(inside);
    if (t <= kAway || t >= nearest) continue;
    nearest = t;
    met = &ball;
  }
  for (std::size_t c = 0; c < 3; ++c) hit.at[c] = from[c] + nearest * direction[c];
  if (met == nullptr) return hit;
  for (std::size_t c = 0; c < 3; ++c) hit.normal[c] = (hit.at[c] - met->center[c]) / met->radius;
  return hit;
}

// With the cosine of the angle to the normal.
template <class Random>
Vector diffuse(const Vector& normal, Random& random) {
  std::normal_distribution<double> any;
  Vector direction = unit({any(random), any(random), any(random)});
  for (std::size_t c = 0; c < 3; ++c) direction[c] += normal[c] * (1 + kAway);
  return unit(direction);
}

void append(SpacePoints& points, const Vector& at) {
  for (const double x : at) points.push_back(static_cast<float>(x));
}

}  // namespace

SpacePoints photons(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> chance;
  SpacePoints points;
  points.reserve(static_cast<std::size_t>(3 * count));
  while (static_cast<std::int64_t>(points.size()) < 3 * count) {
    Hit hit{{0.45 + 0.1 * chance(random), 0.999, 0.45 + 0.1 * chance(random)}, {0, -1, 0}};
    do {
      const Vector direction = diffuse(hit.normal, random);
      for (std::size_t c = 0; c < 3; ++c) hit.at[c] += kAway * hit.normal[c];
      hit = trace(hit.at, direction);
    } while (chance(random) < 0.6);
    append(points, hit.at);
  }
  return points;
}

SpacePoints eye_rays(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> chance;
  SpacePoints points;
  points.reserve(static_cast<std::size_t>(3 * count));
  for (std::int64_t i = 0; i < count; ++i) {
    const Vector direction = unit({1.4 * chance(random) - 0.7, 1.4 * chance(random) - 0.75, 1});
    append(points, trace({0.5, 0.55, 0.01}, direction).at);
  }
  return points;
}

}  // namespace kith::bench
