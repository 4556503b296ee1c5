#include "device/run_file.hpp"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace kith::device_bench {
namespace {

using Json = nlohmann::ordered_json;

Json read_file(const std::string& path, const std::string& schema) {
  if (!std::filesystem::exists(path)) return {{"schema", schema}, {"schema_version", 1}, {"runs", Json::array()}};
  std::ifstream file(path);
  Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded() || json.value("schema", "") != schema)
    throw std::runtime_error(fmt::format("{} is no file of {}", path, schema));
  return json;
}

}  // namespace

std::string now() {
  const std::time_t time = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

Json device_json(const select_bench::DeviceFacts& device, const std::string& driver) {
  return {{"name", device.name},
          {"compute_capability", device.compute_capability},
          {"processors", device.processors},
          {"memory_bytes", device.memory_bytes},
          {"l2_bytes", device.l2_bytes},
          {"driver", driver},
          {"cuda_driver", device.cuda_driver},
          {"cuda_runtime", device.cuda_runtime}};
}

void append_run(const std::string& path, const std::string& schema, Json run) {
  Json json = read_file(path, schema);
  json["runs"].push_back(std::move(run));
  std::ofstream file(path);
  file << json.dump() << '\n';
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}", path));
}

}  // namespace kith::device_bench
