// Plans and reports: what will be done, and what was.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>

#include "bindings.hpp"
#include "kith/search.hpp"

namespace kith::python {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

// The lines of the text, each of a name and what follows it, as rows of a table.
std::string html_table(std::string_view text) {
  std::string out = "<table>";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t name_end = line.find(' ');
    const std::size_t value = line.find_first_not_of(' ', name_end);
    out += "<tr><th style=\"text-align:left\">" + escaped(line.substr(0, name_end)) +
           "</th><td style=\"text-align:left\">" +
           (value == std::string_view::npos ? "" : escaped(line.substr(value))) + "</td></tr>";
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return out + "</table>";
}

std::string text_of(const Plan& plan) {
  std::string text = to_string(plan);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

nb::list alternatives_of(const Plan& plan) {
  nb::list list;
  for (const Plan::Alternative& other : plan.alternatives)
    list.append(nb::make_tuple(to_string(other.distance), other.seconds));
  return list;
}

nb::list stripes_of(const Plan& plan) {
  nb::list list;
  for (const Plan::Stripe& stripe : plan.stripes)
    list.append(nb::make_tuple(stripe.device, stripe.first_row, stripe.rows, stripe.seconds));
  return list;
}

nb::list steps_of(const SearchReport& report) {
  nb::list list;
  for (const SearchStep& step : report.steps) list.append(nb::make_tuple(to_string(step.pass), step.queries));
  return list;
}

nb::object triangle_of(const SearchReport& report) {
  if (!report.triangle) return nb::none();
  const TriangleStatistics& statistics = *report.triangle;
  nb::dict steps;
  for (const TriangleStatistics::Step& step : statistics.steps) steps[step.name.c_str()] = step.seconds;
  nb::dict facts;
  facts["query_clusters"] = statistics.query_clusters;
  facts["base_clusters"] = statistics.base_clusters;
  facts["pairs"] = statistics.pairs;
  facts["pairs_level_1"] = statistics.pairs_level_1;
  facts["cluster_pairs_left"] = statistics.cluster_pairs_left;
  facts["clusters_visited"] = statistics.clusters_visited;
  facts["center_distances"] = statistics.center_distances;
  facts["distances"] = statistics.distances;
  facts["saved"] = statistics.saved();
  facts["steps"] = steps;
  return facts;
}

nb::object filter_of(const SearchReport& report) {
  if (!report.filter) return nb::none();
  nb::dict facts;
  facts["segments"] = report.filter->segments;
  facts["tested"] = report.filter->tested;
  facts["repeated"] = report.filter->repeated;
  facts["narrowed"] = report.filter->narrowed;
  facts["gathered"] = report.filter->gathered;
  facts["copied"] = report.filter->copied;
  return facts;
}

nb::object quality_of(const SearchReport& report) {
  if (!report.quality) return nb::none();
  const SearchQuality& quality = *report.quality;
  nb::dict facts;
  facts["queries"] = quality.queries;
  facts["recall"] = quality.recall;
  facts["ratio_mean"] = quality.ratios.mean;
  facts["ratio_p99"] = quality.ratios.p99;
  facts["ratio_p999"] = quality.ratios.p999;
  facts["ratio_max"] = quality.ratios.max;
  facts["ratio_unbounded"] = quality.ratios.unbounded;
  return facts;
}

}  // namespace

void bind_report(nb::module_& module) {
  nb::class_<Plan>(module, "Plan", "What a search will do, why, and what it should cost.")
      .def_prop_ro("metric", [](const Plan& plan) { return to_string(plan.metric); })
      .def_prop_ro("backend", [](const Plan& plan) { return to_string(plan.backend); })
      .def_prop_ro("method", [](const Plan& plan) { return to_string(plan.method); })
      .def_prop_ro(
          "distance", [](const Plan& plan) { return to_string(plan.distance); }, "The distance stage.")
      .def_prop_ro(
          "select", [](const Plan& plan) { return to_string(plan.select); }, "The selection stage.")
      .def_ro("approximate", &Plan::approximate, "Neighbors may be missed.")
      .def_ro("max_distance", &Plan::max_distance)
      .def_ro("epsilon", &Plan::epsilon, "How far distances may be off, where the method makes use of it.")
      .def_ro("period", &Plan::period, "Of each axis, 0 for one without; empty for none at all.")
      .def_ro("expanded", &Plan::expanded, "Euclidean candidates come from norms and products.")
      .def_ro("threads", &Plan::threads)
      .def_ro("threads_reason", &Plan::threads_reason, "Why so many.")
      .def_ro("query_block", &Plan::query_block)
      .def_ro("base_tile", &Plan::base_tile)
      .def_ro("base_splits", &Plan::base_splits)
      .def_ro("candidates", &Plan::candidates)
      .def_ro("distinct_rows", &Plan::distinct_rows, "Base rows that are searched once for all copies; 0: all are.")
      .def_ro("workspace", &Plan::workspace_bytes, "Bytes beside inputs and outputs.")
      .def_ro("budget", &Plan::budget_bytes, "Bytes that were allowed.")
      .def_ro("peak", &Plan::peak_bytes, "On a device: bytes that the search should take at its peak beside the base.")
      .def_ro("device", &Plan::device, "That it is for, by name; empty on the CPU.")
      .def_ro("base_fits", &Plan::base_fits, "On a device: the budget has room for all points.")
      .def_ro("profile", &Plan::profile, "Where the costs of a device's steps come from.")
      .def_ro("seconds", &Plan::seconds, "Predicted.")
      .def_ro("reason", &Plan::reason)
      .def_prop_ro("alternatives", &alternatives_of,
                   nb::for_getter(nb::sig("def alternatives(self, /) -> list[tuple[str, float]]")),
                   "(distance stage, predicted seconds) of what else was considered.")
      .def_prop_ro(
          "stripes", &stripes_of, nb::for_getter(nb::sig("def stripes(self, /) -> list[tuple[int, int, int, float]]")),
          "Of several devices: (device, first row, rows, predicted seconds) of each; the rest is the slowest's.")
      .def("__repr__", &text_of)
      .def("__str__", &text_of)
      .def("_repr_html_", [](const Plan& plan) { return html_table(text_of(plan)); });

  nb::class_<SearchReport>(module, "Report", "What a search did, beside its answer.")
      .def_ro("plan", &SearchReport::plan)
      .def_ro("seconds", &SearchReport::seconds)
      .def_ro("finalists", &SearchReport::finalists, "Candidates whose distance was computed in double.")
      .def_prop_ro("steps", &steps_of, nb::for_getter(nb::sig("def steps(self, /) -> list[tuple[str, int]]")),
                   "On a device: (distance stage, queries) of each pass that was tried.")
      .def_prop_ro("triangle", &triangle_of,
                   nb::for_getter(nb::sig("def triangle(self, /) -> dict[str, typing.Any] | None")),
                   "What method triangle counted, where statistics were asked for.")
      .def_prop_ro("filter", &filter_of, nb::for_getter(nb::sig("def filter(self, /) -> dict[str, int] | None")),
                   "How a collection found the points that a filter leaves.")
      .def_prop_ro("quality", &quality_of, nb::for_getter(nb::sig("def quality(self, /) -> dict[str, float] | None")),
                   "How near an approximate search came, where statistics were asked for: of a sample of queries, the "
                   "recall, and the k-th distance over the true one.")
      .def_prop_ro(
          "certified",
          [](const SearchReport& report) -> nb::object {
            return report.certified ? nb::cast(*report.certified) : nb::none();
          },
          nb::for_getter(nb::sig("def certified(self, /) -> int | None")),
          "Queries whose rows are proven to be exact, where tuning asked for it and the answer is of the host.")
      .def("__repr__", [](const SearchReport& report) {
        return text_of(report.plan) + "\ntook      " + std::to_string(report.seconds * 1e3) + " ms";
      });
}

}  // namespace kith::python
