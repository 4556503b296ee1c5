// space.hpp: the metric space in which the triangle inequality is used.
// Rows are the working rows of a PointStore (unit vectors under cosine and correlation), copied in the order of the
// clusters and padded to whole vectors of 16 bytes with zeros, which change no sum.
#pragma once

#include <type_traits>

#include "core/triangle_bounds.hpp"
#include "cuda/distance/exact_keys.hpp"

namespace kith::KITH_BACKEND::triangle {

// Rows are padded to a multiple of so many elements.
constexpr unsigned kRowUnit = 4;

// Up to kLaneDims dimensions a lane takes a pair of points alone; beyond, a team of kTeamLanes lanes shares it.
constexpr unsigned kLaneDims = 32;
constexpr unsigned kTeamLanes = 8;

// Bounds are those of F although distances are computed in double: unit vectors were rounded to F.
template <class F>
struct Space {
  Space(const Metric& of, std::int64_t dimensions)
      : bounds(of, dimensions),
        metric(of),
        form(core::metric_distance_form(of)),
        directions(core::has_directions(of)),
        dims(static_cast<unsigned>(dimensions)),
        width((dims + kRowUnit - 1) / kRowUnit * kRowUnit) {}

  core::TriangleBounds<F> bounds;
  Metric metric;
  core::Form form;  // of metric distances
  bool directions;
  unsigned dims;
  unsigned width;  // of padded rows

  bool is_squared() const { return form == core::Form::squared; }
  // Whether keys too are made of squares, of the padded rows.
  bool is_plain() const { return is_squared() && !directions; }
  bool uses_teams() const { return dims > kLaneDims; }
};

// Calls body(squared, team) with constants: whether distances and keys are made of squares, and the lanes of a team.
template <class F, class Body>
void with_space(const Space<F>& space, Body body) {
  const auto with_team = [&](auto squared) {
    if (space.uses_teams()) return body(squared, std::integral_constant<unsigned, kTeamLanes>{});
    body(squared, std::integral_constant<unsigned, 1>{});
  };
  if (space.is_plain()) return with_team(std::true_type{});
  with_team(std::false_type{});
}

}  // namespace kith::KITH_BACKEND::triangle
