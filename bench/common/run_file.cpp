#include "common/run_file.hpp"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "commit.hpp"
#include "support/machine.hpp"

namespace kith::bench {

std::string now() {
  const std::time_t time = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

void put_times(Json& json, const Times& times) {
  json["median_ms"] = times.median_ms();
  json["min_ms"] = times.min_ms();
  json["mean_ms"] = mean(times.samples_ms);
  json["std_ms"] = deviation(times.samples_ms);
  json["samples_ms"] = times.samples_ms;
}

std::string built_commit() {
  return kCommit;
}

Json machine_json() {
  const support::Machine machine = support::inspect_machine();
  return {{"cpu", machine.cpu_model},
          {"cores", machine.cores},
          {"usable_cores", machine.usable_cores},
          {"cache_bytes", machine.cache_bytes},
          {"memory_bytes", machine.memory_bytes}};
}

void write_json(const std::string& path, const Json& json, int indent) {
  std::ofstream file(path);
  file << json.dump(indent) << '\n';
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

void append_run(const std::string& path, const std::string& schema, Json run) {
  Json json = {{"schema", schema}, {"schema_version", 2}, {"runs", Json::array()}};
  if (std::filesystem::exists(path)) {
    std::ifstream file(path);
    json = Json::parse(file, nullptr, false);
    if (json.is_discarded() || json.value("schema", "") != schema)
      throw std::runtime_error(path + " is no file of " + schema);
  }
  json["runs"].push_back(std::move(run));
  write_json(path, json);
}

}  // namespace kith::bench
