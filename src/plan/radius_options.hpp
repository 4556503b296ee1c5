// radius_options.hpp: what every planner of radius searches refuses.
#pragma once

#include <initializer_list>
#include <string_view>

#include "kith/options.hpp"

namespace kith::plan {

// Error(invalid_argument) for a method or stage that a radius search does not have; `stages` are those that it has
// beside auto.
void check_radius_options(const Options& options, std::initializer_list<std::string_view> stages);

}  // namespace kith::plan
