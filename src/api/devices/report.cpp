#include "api/devices/report.hpp"

#include <algorithm>

namespace kith::api {
namespace {

void add(TriangleStatistics& sum, const TriangleStatistics& part) {
  for (const auto count :
       {&TriangleStatistics::query_clusters, &TriangleStatistics::base_clusters, &TriangleStatistics::pairs,
        &TriangleStatistics::pairs_level_1, &TriangleStatistics::cluster_pairs_left,
        &TriangleStatistics::clusters_visited, &TriangleStatistics::center_distances, &TriangleStatistics::distances})
    sum.*count += part.*count;
  for (const TriangleStatistics::Step& step : part.steps) {
    const auto same = std::find_if(sum.steps.begin(), sum.steps.end(),
                                   [&](const TriangleStatistics::Step& known) { return known.name == step.name; });
    if (same == sum.steps.end()) {
      sum.steps.push_back(step);
    } else {
      same->seconds += step.seconds;
    }
  }
}

}  // namespace

void add_counts(SearchReport& sum, const SearchReport& part) {
  sum.finalists += part.finalists;
  for (const SearchStep& step : part.steps) {
    const auto same = std::find_if(sum.steps.begin(), sum.steps.end(),
                                   [&](const SearchStep& known) { return known.pass == step.pass; });
    if (same == sum.steps.end()) {
      sum.steps.push_back(step);
    } else {
      same->queries += step.queries;
    }
  }
  if (!part.triangle) return;
  if (!sum.triangle) sum.triangle.emplace();
  add(*sum.triangle, *part.triangle);
}

}  // namespace kith::api
