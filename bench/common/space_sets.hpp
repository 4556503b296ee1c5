// space_sets.hpp: the pairs of queries and points that Li et al. measure (section 4), made up here, in the unit cube.
//   uniform            both uniform
//   cluster-into-bunny queries in 25 tight Gaussian clusters, points on a surface
//   bunny-into-cluster the other way round
//   photons            points where light comes to rest in a room, queries where rays of an eye meet it
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kith::bench {

// x, y, z of one point after the other.
using SpacePoints = std::vector<float>;

struct Surface {
  SpacePoints vertices;
  std::vector<std::int32_t> faces;  // three vertices each
};

// bunny.npy and bunny_faces.npy of a folder, scaled to the unit cube; where they are not there, a body with bumps and
// two ears.
Surface load_surface(const std::string& folder);

struct SpaceSets {
  SpacePoints base;
  SpacePoints queries;
};

const std::vector<std::string>& space_set_names();
SpaceSets make_space_sets(const std::string& name, std::int64_t base, std::int64_t queries, const Surface& surface);

// Of the room, for make_space_sets().
SpacePoints photons(std::int64_t count, std::uint64_t seed);
SpacePoints eye_rays(std::int64_t count, std::uint64_t seed);

}  // namespace kith::bench
