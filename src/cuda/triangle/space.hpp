// space.hpp: the metric space in which the triangle inequality is used, and points in it.
// Rows are the working rows of a PointStore (unit vectors under cosine and correlation), copied in an order of ours and
// padded with zeros, which no sum notices, to whole vectors of 16 bytes.
#pragma once

#include <type_traits>

#include "core/triangle_bounds.hpp"
#include "cuda/distance/exact_keys.hpp"

namespace kith::KITH_BACKEND::triangle {

// Elements that rows are padded to a multiple of.
constexpr unsigned kRowUnit = 4;

// Up to so many dimensions a lane has a point for itself; from there on eight lanes share one.
constexpr unsigned kLaneDims = 32;
constexpr unsigned kTeamLanes = 8;

// Lengths are computed in double, but unit vectors were rounded to F: so the bounds are those of F.
template <class F>
struct Space {
  Space(const Metric& of, std::int64_t dimensions)
      : bounds(of, dimensions),
        metric(of),
        form(core::length_form(of)),
        directions(core::has_directions(of)),
        dims(static_cast<unsigned>(dimensions)),
        width((dims + kRowUnit - 1) / kRowUnit * kRowUnit) {}

  core::TriangleBounds<F> bounds;
  Metric metric;
  core::Form form;  // of lengths
  bool directions;
  unsigned dims;
  unsigned width;  // of padded rows

  bool is_squared() const { return form == core::Form::squared; }
  // So that keys are those of padded rows too.
  bool is_plain() const { return is_squared() && !directions; }
  bool in_teams() const { return dims > kLaneDims; }
};

// body(squared, team): whether lengths and keys are made of squares, and how many lanes share a point, as constants.
template <class F, class Body>
void with_space(const Space<F>& space, Body body) {
  const auto with_team = [&](auto squared) {
    if (space.in_teams()) return body(squared, std::integral_constant<unsigned, kTeamLanes>{});
    body(squared, std::integral_constant<unsigned, 1>{});
  };
  if (space.is_plain()) return with_team(std::true_type{});
  with_team(std::false_type{});
}

}  // namespace kith::KITH_BACKEND::triangle
