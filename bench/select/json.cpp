#include "json.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "device/run_file.hpp"

namespace kith::select_bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "kith-bench-select";

const char* to_string(SelectTuning::Group group) {
  switch (group) {
    case SelectTuning::Group::automatic: return "automatic";
    case SelectTuning::Group::thread: return "thread";
    case SelectTuning::Group::warp: return "warp";
    case SelectTuning::Group::block: return "block";
  }
  return "";
}

// What differs from the method's own choice.
Json tuning_json(const SelectTuning& tuning) {
  const SelectTuning plain;
  Json json = Json::object();
  const auto put = [&](const char* name, auto member) {
    if (tuning.*member != plain.*member) json[name] = tuning.*member;
  };
  put("buffered", &SelectTuning::buffered);
  put("full_buffer_vote", &SelectTuning::full_buffer_vote);
  put("local_sort", &SelectTuning::local_sort);
  put("hierarchical", &SelectTuning::hierarchical);
  put("aligned", &SelectTuning::aligned);
  if (tuning.group != plain.group) json["group"] = to_string(tuning.group);
  put("thread_queue", &SelectTuning::thread_queue);
  put("stages", &SelectTuning::stages);
  put("partitions", &SelectTuning::partitions);
  put("scattered", &SelectTuning::scattered);
  put("transposed", &SelectTuning::transposed);
  return json;
}

void put_shape(Json& json, const Shape& shape) {
  json["rows"] = shape.rows;
  json["length"] = shape.length;
  json["pattern"] = to_string(shape.pattern);
}

void put_times(Json& json, const Measurement& measurement, double read_rate) {
  json["median_ms"] = measurement.median_ms();
  json["mean_ms"] = mean(measurement.samples_ms);
  json["std_ms"] = deviation(measurement.samples_ms);
  if (measurement.first_run) json["first_run"] = true;
  json["tb_per_s"] = measurement.terabytes_a_second();
  json["read_fraction"] = measurement.terabytes_a_second() / read_rate;
  if (measurement.read_ms > 0) json["same_bytes_read_ms"] = measurement.read_ms;
  json["samples_ms"] = measurement.samples_ms;
}

Json measurement_json(const Measurement& measurement, const Run& run) {
  const double read_rate = run.read_rate.terabytes_a_second;
  const Entry& entry = measurement.entry;
  Json json = {{"suite", measurement.suite}, {"figure", measurement.figure}};
  put_shape(json, measurement.shape);
  json["k"] = entry.k;
  json["form"] = entry.sorted ? "sorted" : "unsorted";
  json["contender"] = entry.contender.label;
  json["method"] = entry.contender.method;
  if (!measurement.chosen.empty()) json["chosen"] = measurement.chosen;
  if (const Json tuning = tuning_json(entry.contender.tuning); !tuning.empty()) json["tuning"] = tuning;
  json["status"] = to_string(measurement.status);
  if (!measurement.reason.empty()) json["reason"] = measurement.reason;
  if (measurement.status == Status::timed) put_times(json, measurement, read_rate);
  if (const auto bar = judge(measurement, run.measurements, read_rate))
    json["bar"] = {{"asked", bar->asked}, {"reached", bar->reached}, {"result", bar->ok ? "ok" : "missed"}};
  return json;
}

Json updates_json(const UpdateMeasurement& measurement) {
  Json json = {{"suite", "queues"}, {"figure", measurement.count.figure}, {"queue", measurement.count.queue}};
  put_shape(json, measurement.count.shape);
  json["k"] = measurement.count.k;
  if (measurement.skipped.empty())
    json["updates_a_row"] = measurement.updates;
  else
    json["skipped"] = measurement.skipped;
  return json;
}

Json head_json(const Run& run) {
  Json suites = Json::array();
  for (const SuiteResult& suite : run.suites)
    suites.push_back(
        {{"name", suite.name}, {"complete", suite.complete}, {"seconds", suite.seconds}, {"left_out", suite.left_out}});
  return {{"program", "kith_bench_select"},
          {"date", run.date},
          {"commit", run.commit},
          {"device", device_bench::device_json(run.device, run.driver)},
          {"limits",
           {{"budget_ms", run.limits.budget_ms},
            {"slow_ms", run.limits.slow_ms},
            {"skip_ms", run.limits.skip_ms},
            {"suite_seconds", run.limits.suite_seconds}}},
          {"read",
           {{"tb_per_s", run.read_rate.terabytes_a_second},
            {"ms", run.read_rate.ms},
            {"blocks_a_processor", run.read_rate.blocks_a_processor}}},
          {"suites", suites}};
}

}  // namespace

void append_run(const std::string& path, const Run& run) {
  Json added = head_json(run);
  added["rows"] = Json::array();
  for (const Measurement& measurement : run.measurements) added["rows"].push_back(measurement_json(measurement, run));
  added["updates"] = Json::array();
  for (const UpdateMeasurement& measurement : run.updates) added["updates"].push_back(updates_json(measurement));
  device_bench::append_run(path, kSchema, std::move(added));
}

}  // namespace kith::select_bench
