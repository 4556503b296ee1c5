#include "cpu/json.hpp"

#include <algorithm>

#include "cpu/problem/data.hpp"

namespace kith::bench {
namespace {

Json or_null(double ratio) {
  return ratio > 0 ? Json(ratio) : Json();
}

const char* role_name(Kind kind) {
  switch (role_of(kind)) {
    case Role::exact: return "exact";
    case Role::approximate: return "approximate";
    case Role::peer: return "peer";
    case Role::ceiling: return "ceiling";
  }
  return "";
}

// "exact", "within tolerance" or "inexact" (peers), "ceiling", "wrong" or "absent".
std::string status_of(const ContenderResult& contender) {
  if (!contender.absent.empty()) return "absent";
  if (!contender.verdict.fault.empty()) return "wrong";
  if (role_of(contender.kind) != Role::peer) return role_name(contender.kind);
  return contender.verdict.inexact ? "inexact" : "within tolerance";
}

Json check_json(const ContenderResult& contender) {
  const Verdict& verdict = contender.verdict;
  Json json = {{"status", status_of(contender)}};
  if (!verdict.fault.empty()) json["fault"] = verdict.fault;
  if (verdict.checked > 0) json["queries_checked"] = verdict.checked;
  if (verdict.checked > 0 && role_of(contender.kind) != Role::exact) {
    json["recall"] = verdict.recall;
    json["distance_error"] = verdict.error;
  }
  return json;
}

Json contender_json(const RowResult& result, const ContenderResult& contender) {
  Json json = {{"name", contender.name}, {"role", role_name(contender.kind)}, {"check", check_json(contender)}};
  if (!contender.absent.empty()) {
    json["absent"] = contender.absent;
    return json;
  }
  if (!contender.note.empty()) json["note"] = contender.note;
  if (role_of(contender.kind) != Role::ceiling) json["build_ms"] = contender.build_ms;
  if (!contender.timed()) return json;
  put_times(json, contender);
  if (contender.work.amount > 0)
    json["rate"] = {{"value", contender.work.amount / contender.median_ms() / 1e6}, {"unit", contender.work.unit}};
  Json ratios = Json::object();
  for (const ContenderResult& other : result.contenders)
    if (&other != &contender && other.timed()) ratios[other.name] = ratio(contender, other);
  json["ratio_to"] = std::move(ratios);
  return json;
}

Json bar_json(const RowResult& result, const BarResult& bar) {
  return {{"against", name_of(bar.bar.against, result.row.dtype)},
          {"limit", bar.bar.limit},
          {"ratio", or_null(bar.ratio)},
          {"result", !bar.judged ? "not judged"
                     : bar.ok()  ? "ok"
                                 : "missed"}};
}

Json row_json(const RowResult& result) {
  const RowSpec& row = result.row;
  Json json = {{"name", row.name},
               {"queries", row.queries},
               {"base_rows", row.base_rows},
               {"dims", row.dims},
               {"k", row.k},
               {"metric", to_string(row.metric)},
               {"dtype", to_string(row.dtype)},
               {"data", to_string(row.data)},
               {"self", row.self},
               {"correct", !result.wrong()},
               {"cpu_wait_share", result.waited},
               {"busy", result.busy()},
               {"contenders", Json::array()},
               {"bars", Json::array()}};
  for (const ContenderResult& contender : result.contenders)
    json["contenders"].push_back(contender_json(result, contender));
  for (const BarResult& bar : result.bars) json["bars"].push_back(bar_json(result, bar));
  return json;
}

}  // namespace

Json to_json(const Json& environment, int threads, int rounds, bool quick, const std::vector<RowResult>& results) {
  Json json = {{"schema", "kith-bench"}, {"schema_version", kSchemaVersion}};
  json.update(environment);
  json.update({{"threads", threads},
               {"rounds", rounds},
               {"quick", quick},
               {"seeds", {{"base", kBaseSeed}, {"queries", kQuerySeed}, {"centers", kCenterSeed}}},
               {"correct", std::none_of(results.begin(), results.end(), [](const auto& r) { return r.wrong(); })},
               {"rows", Json::array()}});
  for (const RowResult& result : results) json["rows"].push_back(row_json(result));
  return json;
}

}  // namespace kith::bench
