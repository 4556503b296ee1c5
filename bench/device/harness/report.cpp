#include "device/harness/report.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "cuda/runtime/properties.hpp"

namespace kith::bench::device {
namespace {

Json to_json(const Row& row) {
  Json json = Json::object();
  if (!row.figure.empty()) json["figure"] = row.figure;
  json["problem"] = row.problem;
  json["contender"] = row.contender;
  json.update(row.facts);
  json["status"] = to_string(row.status);
  if (!row.reason.empty()) json["reason"] = row.reason;
  if (row.first_run) json["first_run"] = true;
  if (row.status == Status::timed) put_times(json, row);
  if (row.status == Status::timed && row.wall.timed()) {
    json["wall_median_ms"] = row.wall.median_ms();
    json["wall_samples_ms"] = row.wall.samples_ms;
  }
  if (row.bar)
    json["bar"] = {{"asked", row.bar->asked}, {"reached", row.bar->reached}, {"result", row.bar->ok ? "ok" : "missed"}};
  return json;
}

}  // namespace

Json device_json() {
  const auto devices = cuda::devices();
  if (devices.empty()) return {};
  const auto& device = devices.front();
  int driver = 0;
  int runtime = 0;
  KITH_CUDA(cudaDriverGetVersion(&driver));
  KITH_CUDA(cudaRuntimeGetVersion(&runtime));
  return {{"name", device.name},
          {"compute_capability", fmt::format("{}.{}", device.hardware.compute_major, device.hardware.compute_minor)},
          {"processors", device.hardware.multiprocessors},
          {"memory_bytes", device.memory},
          {"l2_bytes", device.hardware.l2_bytes},
          {"cuda_driver", driver},     // the newest CUDA that the driver knows, 13000 for 13.0
          {"cuda_runtime", runtime}};  // what this program was built with
}

void list(const Suite& suite) {
  fmt::print("{}: {}\n", suite.name, suite.what);
  if (!suite.left_out.empty()) fmt::print("  left out: {}\n", suite.left_out);
  for (const Case& one : suite.cases)
    fmt::print("  {}{}{}{}{}\n", one.figure, one.figure.empty() ? "" : ": ", one.problem,
               one.contenders.empty() ? "" : ": ", one.contenders);
}

void print(const std::vector<CeilingResult>& ceilings) {
  double fma = 0;
  for (const CeilingResult& result : ceilings)
    if (result.ceiling.name == "fma") fma = result.rate();
  for (const CeilingResult& result : ceilings) {
    fmt::print("{:<40} {:10.3f} {}", result.ceiling.name, result.rate(), result.ceiling.unit);
    if (result.ceiling.is_kernel) fmt::print(" {:6.3f} of the fma rate", result.rate() / fma);
    fmt::print("\n");
  }
}

void print(const Row& row) {
  fmt::print("{:<54} {:<30} ", row.problem, row.contender);
  if (row.status == Status::timed) fmt::print("{:10.4f} ms  {} runs  ", row.median_ms(), row.samples_ms.size());
  if (row.status == Status::timed && row.wall.timed()) fmt::print("wall {:.4f} ms  ", row.wall.median_ms());
  if (!row.reason.empty())
    fmt::print("{}: {}", row.status == Status::wrong ? "WRONG" : to_string(row.status), row.reason);
  fmt::print("{}", row.note);
  if (row.bar) fmt::print("  {} {}: {}", row.bar->ok ? "ok" : "MISSED", row.bar->asked, row.bar->reached);
  fmt::print("\n");
  std::fflush(stdout);
}

Json to_json(const Suite& suite, const Harness& harness) {
  const Limits& limits = suite.limits;
  Json json = {{"left_out", suite.left_out},
               {"quick", harness.quick()},
               {"seconds", harness.seconds()},
               {"limits",
                {{"rounds", limits.rounds},
                 {"budget_ms", limits.budget_ms},
                 {"slow_ms", limits.slow_ms},
                 {"skip_ms", limits.skip_ms},
                 {"suite_seconds", limits.suite_seconds},
                 {"samples", limits.samples}}},
               {"ceilings", Json::array()},
               {"rows", Json::array()}};
  for (const CeilingResult& result : harness.ceilings())
    json["ceilings"].push_back({{"name", result.ceiling.name},
                                {"kind", result.ceiling.is_kernel ? "distance stage" : "ceiling"},
                                {"unit", result.ceiling.unit},
                                {"rate", result.rate()},
                                {"ms", result.ms}});
  for (const Row& row : harness.rows) json["rows"].push_back(to_json(row));
  return json;
}

}  // namespace kith::bench::device
