// engine.cpp: the shapes that tensor cores decide, from one query to all-kNN of half a million points, on points that
// fp16 can tell apart and on points that it cannot. Bounds are for an H200 and the host's clock: from an idle device
// until the host knows that the answer is there.
#include "device/search/engine.hpp"

#include <fmt/format.h>

#include "device/harness/int8_product.hpp"

namespace kith::bench::device::search {
namespace {

constexpr MetricKind kCosine = MetricKind::cosine;

struct EngineRow {
  const char* name;
  Problem problem;
  DistanceStage distance = DistanceStage::automatic;
};

const EngineRow kEngineRows[] = {
    {"d128-k10", {10000, 1000000, 128, 10, kL2, 6.3}},
    {"d128-k100", {10000, 1000000, 128, 100, kL2, 7.5}},
    {"d128-k1024", {10000, 1000000, 128, 1024, kL2, 13}},
    {"d768-k10", {10000, 1000000, 768, 10, kL2, 27}},
    {"d32-k10", {10000, 1000000, 32, 10, kL2, 4.0}},
    {"d16-k32", {10000, 1000000, 16, 32, kL2, 4.0}},
    {"q1000", {1000, 1000000, 128, 10, kL2, 1.0}},
    {"q64", {64, 1000000, 256, 10, kL2, 0.45}},
    {"q1", {1, 1000000, 128, 10, kL2, 0.14}},
    {"q1-fp16", {1, 1000000, 128, 10, kL2, 0.10}, DistanceStage::fp16},
    {"q1-k100", {1, 1000000, 128, 100, kL2}},
    {"q1-bytes", {1, 1000000, 128, 10, kL2, 0, false, Data::bytes}},
    {"q2", {2, 1000000, 128, 10, kL2}},
    {"q8", {8, 1000000, 128, 10, kL2}},
    {"self-d96", {100000, 100000, 96, 32, kL2, 8, true}},
    {"self-cosine", {500000, 500000, 384, 15, kCosine, 330, true}},
    {"cosine", {10000, 490000, 384, 10, kCosine, 9}},
    {"tight", {10000, 1000000, 128, 10, kL2, 25, false, Data::tight}},
    {"tight-shuffled", {10000, 1000000, 128, 10, kL2, 25, false, Data::tight_shuffled}},
    {"copies", {10000, 1000000, 128, 10, kL2, 12, false, Data::copies}},
    {"bytes", {10000, 1000000, 128, 10, kL2, 4.5, false, Data::bytes}},
    {"cube", {300000, 300000, 8, 10, kL2, 48, false, Data::uniform}},
};
const EngineRow kRadiusRows[] = {
    {"radius", {10000, 1000000, 128, 0, kL2, 30}},
    {"radius-q1", {1, 1000000, 128, 0, kL2, 0.3}},
};
constexpr std::int64_t kRadiusNeighbors = 234;
const EngineRow kHostRow = {"host", {10000, 1000000, 128, 10}};

// What the first pass read of the base: bytes of a coordinate.
double store_bytes(const Row& row) {
  const Json& steps = row.facts["steps"];
  const bool fp16 = !steps.empty() && steps.front()["distance"].get<std::string>().find("fp16") != std::string::npos;
  if (fp16) return 2;
  return row.facts["data"] == to_string(Data::bytes) ? 1 : 4;
}

Case engine_case(const EngineRow& one, const Settings& settings) {
  std::vector<Variant> variants;
  if (one.distance != DistanceStage::automatic)
    variants.push_back(forced(kith::to_string(one.distance), Method::automatic, one.distance));
  Case made = search_case(one.name, one.problem, variants, {.both_clocks = true}, settings);
  made.measure = [search = made.measure](Harness& harness) {
    std::vector<Row> rows = search(harness);
    for (Row& row : rows)
      if (row.timed()) add_shares(harness, store_bytes(row), row);
    return rows;
  };
  return made;
}

std::vector<Ceiling> engine_ceilings(bool quick, const cuda::Stream& stream) {
  std::vector<Ceiling> ceilings = device_ceilings(quick, stream);
  if (auto int8 = int8_ceiling(quick ? 128 : 8192, stream)) ceilings.push_back(std::move(*int8));
  return ceilings;
}

std::string ms_text(const Times& times) {
  return times.timed() ? fmt::format("{:.3f}", times.median_ms()) : "–";
}

std::string percent(const Row& row, const char* fact) {
  return row.facts.contains(fact) ? fmt::format("{:.0f} %", 100 * row.facts[fact].get<double>()) : "–";
}

void print_table(const Harness& harness) {
  fmt::print("\n{:<16} {:<14} {:>9} {:>9}  {:<34} {:>9} {:>9}  {}\n", "row", "by", "wall ms", "device ms", "bound",
             "of tensor", "of read", "plan");
  for (const Row& row : harness.rows) {
    const std::string bound =
        row.bar ? fmt::format("{} {}", row.bar->ok ? "ok" : "MISSED", row.bar->asked) : std::string();
    fmt::print("{:<16} {:<14} {:>9} {:>9}  {:<34} {:>9} {:>9}  {}{}\n", row.figure, row.contender, ms_text(row.wall),
               row.facts.contains("clock") ? "–" : ms_text(row), bound, percent(row, "tensor_share"),
               percent(row, "read_share"), row.note, row.reason.empty() ? "" : " " + row.reason);
  }
  fmt::print(
      "of tensor: 2 · queries · points · dimensions over the device's time, of the rate of a large product of fp16, "
      "for "
      "bytes of int8, by cuBLASLt\nof read: the bytes that the first pass reads of the base, of the rate of a plain "
      "read\n");
}

}  // namespace

void add_shares(const Harness& harness, double store_bytes, Row& row) {
  const double base = row.facts["base_rows"].get<double>() * row.facts["dims"].get<double>();
  const double seconds = row.median_ms() * 1e-3;
  const double int8 = row.facts["data"] == to_string(Data::bytes) ? harness.best_rate("gemm int8") : 0;
  const double tensor = (int8 > 0 ? int8 : harness.best_rate("gemm fp16")) * 1e12;
  const double read = harness.best_rate("read") * 1e12;
  row.facts["store_bytes"] = store_bytes;
  row.note += fmt::format(", reads {:.0f} MB", base * store_bytes * 1e-6);
  row.facts["tensor_ceiling"] = int8 > 0 ? "int8" : "fp16";
  if (tensor > 0) row.facts["tensor_share"] = 2 * row.facts["queries"].get<double>() * base / seconds / tensor;
  if (read > 0) row.facts["read_share"] = base * store_bytes / seconds / read;
}

Suite engine_suite(const Settings& settings) {
  Suite suite{"search/engine", "the shapes that tensor cores decide", "", {}, engine_ceilings, {}};
  suite.limits = {.rounds = 31, .budget_ms = 2000, .slow_ms = 3000};
  for (const EngineRow& row : kEngineRows) suite.cases.push_back(engine_case(row, settings));
  for (const EngineRow& row : kRadiusRows)
    suite.cases.push_back(engine_radius_case(row.name, row.problem, kRadiusNeighbors, settings));
  suite.cases.push_back(engine_host_case(kHostRow.name, kHostRow.problem, settings));
  suite.summarize = print_table;
  return suite;
}

}  // namespace kith::bench::device::search
