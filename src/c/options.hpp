// options.hpp: what a kith_options stands for, and its values by their names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kith.h"
#include "kith/options.hpp"
#include "kith/pivots.hpp"

namespace kith::c {

// Of kith_pivot_index (kith/pivots.hpp).
struct PivotSettings {
  std::int64_t count = 0;
  PivotChoice choice = PivotChoice::best_bounds;
  DistanceProperties distance;
};

struct AllOptions : Options {
  PivotSettings pivots;
};

// A copy, of the defaults where the handle is null.
AllOptions all_options_of(const kith_options* options);
// Of those that most functions have.
Options options_of(const kith_options* options);

// As the setters of kith.h take it: any option's as text, else of a type that the option has.
using OptionValue = std::variant<std::string_view, std::int64_t, double, std::span<const double>>;

// Both throw Error(invalid_argument) for an unknown name, which lists the known ones, and for values that do not go
// with the option; what else is wrong with a value is found where the options are used.
void set_option(AllOptions& options, std::string_view name, const OptionValue& value);
std::string option_text(const AllOptions& options, std::string_view name);

std::vector<std::string> option_names();

}  // namespace kith::c
