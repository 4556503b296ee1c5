// figure.hpp: measurements as the thesis's figures show them: billions of distances a second, a row a shape, a column a
// contender, and beside them what the ceilings of the same run would allow.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "search_device/harness.hpp"

namespace kith::search_bench {

struct FigureRow {
  std::string shape;
  double ceiling = 0;                    // 10⁹ distances/s
  std::map<std::string, double> values;  // the same, by contender; what was not timed is not there
};

struct Figure {
  std::string name;
  std::vector<std::string> contenders;  // in the order in which they came
  std::vector<FigureRow> rows;
};

// Of everything that belongs to a figure. A ceiling is one multiply-add a coordinate of a pair, or the reading of both
// sets of points, whichever takes longer; where stages run alone also the writing of the scores.
std::vector<Figure> make_figures(const std::vector<Measurement>& searches, const std::vector<StageMeasurement>& stages,
                                 const std::vector<CeilingResult>& ceilings);

std::string to_string(const Figure& figure);

}  // namespace kith::search_bench
