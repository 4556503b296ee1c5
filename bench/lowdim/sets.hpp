// sets.hpp: the pairs of queries and points that Li et al. measure (section 4), made up here, in the unit cube.
//   uniform            both uniform
//   cluster-into-bunny queries in 25 tight Gaussian clusters, points on a surface
//   bunny-into-cluster the other way round
//   photons            points where light comes to rest in a room, queries where rays of an eye meet it
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kith::lowdim_bench {

// x, y, z of one point after the other.
using Points = std::vector<float>;

struct Triangles {
  Points vertices;
  std::vector<std::int32_t> faces;  // three vertices each
};

// bunny.npy and bunny_faces.npy of a folder, scaled to the unit cube; where they are not there, a body with bumps and
// two ears.
Triangles load_surface(const std::string& folder);

struct Pair {
  Points base;
  Points queries;
};

const std::vector<std::string>& pair_names();
Pair make_pair(const std::string& name, std::int64_t base, std::int64_t queries, const Triangles& surface);

// Of the room, for make_pair().
Points photons(std::int64_t count, std::uint64_t seed);
Points eye_rays(std::int64_t count, std::uint64_t seed);

}  // namespace kith::lowdim_bench
