#include "backend/profile_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "kith/error.hpp"
#include "kith/version.hpp"

namespace kith::backend {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "kith-device-profile";
constexpr int kSchemaVersion = 1;
constexpr int kDeepest = 2;  // the object, and in it the object of costs
constexpr std::streamsize kLongest = 1 << 20;

[[noreturn]] void refuse(const std::string& file, const std::string& reason) {
  throw Error(ErrorCode::bad_data, fmt::format("{}: {}", file, reason));
}

const Json& field_of(const Json& object, const char* name, const std::string& file) {
  const auto found = object.find(name);
  if (found == object.end()) refuse(file, fmt::format("field '{}' is missing; kith tune writes all", name));
  return *found;
}

// A value as an error may show it: in ASCII, and whatever a string holds escaped.
std::string shown(const Json& value) {
  return value.dump(-1, ' ', true);
}

double cost_of(const Json& costs, const char* name, const std::string& file) {
  const Json& value = field_of(costs, name, file);
  const double seconds = value.is_number() ? value.get<double>() : 0;
  if (!(seconds > 0) || !std::isfinite(seconds))
    refuse(file, fmt::format("field '{}' is {}; it must be a positive number of seconds", name, shown(value)));
  return seconds;
}

void check_names(const Json& costs, const std::string& file) {
  for (const auto& [name, value] : costs.items()) {
    const auto is_it = [&known = name](const core::CostField& field) { return field.name == known; };
    if (std::none_of(std::begin(core::kCostFields), std::end(core::kCostFields), is_it))
      refuse(file, fmt::format("there is no field {}", shown(name)));
  }
}

// Empty where it is not set, or set to nothing.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// False where there is no such file. Error(bad_data) for a folder and for what cannot be a profile.
bool read_text(const std::string& file, std::string& text) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return false;
  text.resize(static_cast<std::size_t>(kLongest) + 1);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) refuse(file, "it cannot be read; is it a folder?");
  if (stream.gcount() > kLongest) refuse(file, fmt::format("it has more than {} bytes", kLongest));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return true;
}

// Nothing nested deeper than a profile is kept: what prints or compares JSON calls itself for every level.
Json parse_json(std::string_view text, const std::string& file) {
  bool too_deep = false;
  const auto keep = [&](int depth, Json::parse_event_t event, const Json&) {
    const bool begins = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    too_deep = too_deep || (begins && depth >= kDeepest);
    return !too_deep;
  };
  Json json = Json::parse(text, keep, false);
  if (too_deep) refuse(file, fmt::format("it is nested more than {} levels deep", kDeepest));
  if (!json.is_object()) refuse(file, "it is no JSON object");
  return json;
}

}  // namespace

std::string to_text(const core::DeviceProfile& profile, const std::string& device) {
  Json json = {{"schema", kSchema}, {"schema_version", kSchemaVersion}, {"kith", version()}, {"device", device}};
  for (const core::CostField& field : core::kCostFields) json["seconds"][field.name] = profile.*field.cost;
  return json.dump(2) + "\n";
}

core::DeviceProfile parse_profile(std::string_view text, const std::string& file, const std::string& device) {
  const Json json = parse_json(text, file);
  const Json& schema = field_of(json, "schema", file);
  if (schema != kSchema) refuse(file, fmt::format("field 'schema' is {}, not \"{}\"", shown(schema), kSchema));
  const Json& schema_version = field_of(json, "schema_version", file);
  if (schema_version != kSchemaVersion)
    refuse(file, fmt::format("field 'schema_version' is {}, not {}", shown(schema_version), kSchemaVersion));
  const Json& measured = field_of(json, "device", file);
  if (measured != device)
    refuse(file, fmt::format("field 'device' is {}, but this device is \"{}\"", shown(measured), device));
  const Json& costs = field_of(json, "seconds", file);
  if (!costs.is_object()) refuse(file, "field 'seconds' is no object of costs");
  check_names(costs, file);
  core::DeviceProfile profile;
  for (const core::CostField& field : core::kCostFields) profile.*field.cost = cost_of(costs, field.name, file);
  return profile;
}

std::string profile_path(const std::string& device) {
  std::string folder = variable("XDG_CONFIG_HOME");
  if (folder.empty()) {
    const std::string home = variable("HOME");
    if (home.empty()) return "";
    folder = home + "/.config";
  }
  std::string name = device;
  std::replace(name.begin(), name.end(), '/', '-');
  return fmt::format("{}/kith/{}.json", folder, name);
}

FoundProfile find_profile(const std::string& device, FoundProfile built_in) {
  std::string text;
  const std::string named = variable("KITH_PROFILE");
  if (!named.empty()) {
    if (!read_text(named, text)) refuse(named, "KITH_PROFILE names it, but it cannot be read");
    return {parse_profile(text, named, device), named};
  }
  const std::string file = profile_path(device);
  if (file.empty()) return built_in;
  try {
    if (!read_text(file, text)) return built_in;
    return {parse_profile(text, file, device), file};
  } catch (const Error& error) {
    built_in.source += fmt::format("; passed over: {}", error.what());
    return built_in;
  }
}

}  // namespace kith::backend
