#include "search_device/stream_report.hpp"

#include <fmt/format.h>

namespace kith::search_bench {
namespace {

using Json = nlohmann::ordered_json;

Json steps_json(const SearchReport& report) {
  Json steps = Json::array();
  for (const SearchStep& step : report.steps)
    steps.push_back({{"distance", to_string(step.pass)}, {"queries", step.queries}});
  return steps;
}

Json search_json(const StreamResult& result, const StreamedSearch& search) {
  const double ms = select_bench::median(search.ms);
  Json json = {{"memory", search.memory},
               {"median_ms", ms},
               {"samples_ms", search.ms},
               {"gb_per_s", result.bytes() / ms * 1e-6},
               {"ratio_to_copy", result.ratio(search)},
               {"overlap", result.overlap(search)},
               {"steps", steps_json(search.report)}};
  if (result.judged)
    json["bar"] = {{"at_most", StreamResult::kBar},
                   {"result", result.ratio(search) <= StreamResult::kBar ? "ok" : "missed"}};
  return json;
}

}  // namespace

void print(const StreamResult& result) {
  fmt::print("{} × {} × {}, k {}, budget {:.1f} GiB: {} tiles of {}, {}\n", result.queries, result.base_rows,
             result.dims, result.k, static_cast<double>(result.budget) / (1 << 30), result.tiles(),
             result.plan.base_tile, to_string(result.plan.distance));
  const double copy = result.copy_ms();
  fmt::print("{:<24} {:10.1f} ms {:8.2f} GB/s\n", "plain copy", copy, result.bytes() / copy * 1e-6);
  fmt::print("{:<24} {:10.1f} ms, from one tile\n", "search alone", result.search_alone_ms());
  for (const StreamedSearch& search : result.searches) {
    const double ms = select_bench::median(search.ms);
    fmt::print("{:<24} {:10.1f} ms {:8.2f} GB/s  {:.3f} × the copy  {:.2f} overlapped", "search, " + search.memory, ms,
               result.bytes() / ms * 1e-6, result.ratio(search), result.overlap(search));
    if (result.judged)
      fmt::print("  {} ≤ {:g}", result.ratio(search) <= StreamResult::kBar ? "ok" : "MISSED", StreamResult::kBar);
    fmt::print("\n");
  }
  for (const StagingRow& row : result.staging)
    fmt::print("staging, {:>2} threads, {} MiB {:8.2f} GB/s, {:.2f} ms to pin\n", row.threads, row.buffer_bytes >> 20,
               row.gb_per_s, row.pin_ms);
  for (const RatioRow& row : result.ratios)
    fmt::print("{:>5} × {} × {:<3} search {:9.3f} ms, transfer {:9.3f} ms, ratio {:.3f}\n", row.queries,
               result.ratio_rows, row.dims, row.search_ms, row.transfer_ms, row.search_ms / row.transfer_ms);
  if (!result.not_pinned.empty()) fmt::print("the base could not be pinned: {}\n", result.not_pinned);
  if (!result.fault.empty()) fmt::print("WRONG: {}\n", result.fault);
}

Json to_json(const StreamResult& result) {
  Json json = {{"queries", result.queries},
               {"base_rows", result.base_rows},
               {"dims", result.dims},
               {"k", result.k},
               {"bytes", result.bytes()},
               {"budget_bytes", result.budget},
               {"base_tile", result.plan.base_tile},
               {"tiles", result.tiles()},
               {"distance", to_string(result.plan.distance)},
               {"status", result.fault.empty() ? "timed" : "wrong"},
               {"queries_checked", result.queries_checked},
               {"copy_ms", result.copy_ms()},
               {"base_copy_samples_ms", result.base_copy_ms},
               {"buffer_copy_samples_ms", result.buffer_copy_ms},
               {"tile_search_ms", result.tile_ms},
               {"search_alone_ms", result.search_alone_ms()}};
  if (!result.fault.empty()) json["reason"] = result.fault;
  if (!result.not_pinned.empty()) json["not_pinned"] = result.not_pinned;
  json["searches"] = Json::array();
  for (const StreamedSearch& search : result.searches) json["searches"].push_back(search_json(result, search));
  json["staging"] = Json::array();
  for (const StagingRow& row : result.staging)
    json["staging"].push_back({{"threads", row.threads},
                               {"buffer_bytes", row.buffer_bytes},
                               {"pin_ms", row.pin_ms},
                               {"gb_per_s", row.gb_per_s}});
  json["compute_to_transfer"] = {{"figure", "Hanák, Figure 5.14"}, {"base_rows", result.ratio_rows}, {"k", result.k}};
  json["compute_to_transfer"]["rows"] = Json::array();
  for (const RatioRow& row : result.ratios)
    json["compute_to_transfer"]["rows"].push_back({{"queries", row.queries},
                                                   {"dims", row.dims},
                                                   {"search_ms", row.search_ms},
                                                   {"transfer_ms", row.transfer_ms},
                                                   {"ratio", row.search_ms / row.transfer_ms}});
  return json;
}

}  // namespace kith::search_bench
