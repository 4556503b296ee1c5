// kith info: what this build has and this machine is, or what a file holds.

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/printable.hpp"
#include "cli/sizes.hpp"
#include "cli/stdout.hpp"
#include "kith/io.hpp"
#include "kith/kith.hpp"
#include "support/machine.hpp"

namespace kith::cli {
namespace {

struct InfoArguments {
  std::string file;
  InputSettings files;
};

template <class Value>
Json names_per_backend(std::vector<Value> (*values_of)(Backend)) {
  Json result = Json::object();
  for (const Backend backend : available_backends())
    for (const Value value : values_of(backend)) result[to_string(backend)].push_back(to_string(value));
  return result;
}

Json device_to_json(Backend backend, const Device& device) {
  Json policy = Json::object();
  for (const DeviceLimit& limit : device.policy)
    policy[limit.name] = {{"value", limit.value}, {"meaning", limit.meaning}};
  return {{"backend", to_string(backend)},
          {"id", device.id},
          {"name", device.name},
          {"compute_capability", {device.compute_major, device.compute_minor}},
          {"multiprocessors", device.multiprocessors},
          {"memory_bytes", device.memory_bytes},
          {"available_bytes", device.free_bytes},
          {"policy", policy}};
}

Json problem_to_json(Backend backend, const Device& device) {
  return {{"backend", to_string(backend)},
          {"id", device.id},
          {"name", device.name},
          {"compute_capability", {device.compute_major, device.compute_minor}},
          {"problem", device.problem}};
}

Json describe_build() {
  const support::Machine machine = support::inspect_machine();
  const HostLimits limits = host_limits();
  Json object = json_object("info");
  object["backends"] = Json::array();
  for (const Backend backend : available_backends()) object["backends"].push_back(to_string(backend));
  object["methods"] = names_per_backend(search_methods);
  object["distances"] = names_per_backend(distance_stages);
  object["selects"] = names_per_backend(select_methods);
  object["metrics"] = metric_names();
  object["formats"] = io::format_names();
  object["cpu"] = {{"model", machine.cpu_model},
                   {"cores", machine.cores},
                   {"usable_cores", machine.usable_cores},
                   {"threads", limits.threads},
                   {"threads_source", limits.threads_source},
                   {"simd_targets", simd_targets()}};
  object["memory"] = {{"total_bytes", machine.memory_bytes},
                      {"available_bytes", limits.memory_bytes},
                      {"available_source", limits.memory_source}};
  object["devices"] = Json::array({{{"backend", "cpu"}, {"name", machine.cpu_model}}});
  object["unavailable"] = Json::object();
  object["unusable_devices"] = Json::array();
  for (const Backend backend : {Backend::cuda, Backend::emulated}) {
    const std::string why = why_unavailable(backend);
    if (!why.empty()) object["unavailable"][to_string(backend)] = why;
    for (const Device& device : devices(backend)) {
      if (device.problem.empty()) {
        object["devices"].push_back(device_to_json(backend, device));
      } else {
        object["unusable_devices"].push_back(problem_to_json(backend, device));
      }
    }
  }
  return object;
}

std::string words(const Json& list) {
  return fmt::format("{}", fmt::join(list.get<std::vector<std::string>>(), " "));
}

// A line, and what kernels and the planner go by there.
std::string device_text(const Json& device) {
  const Json& capability = device["compute_capability"];
  const std::string backend = fmt::format("{} {}", device["backend"].get<std::string>(), device["id"].get<int>());
  std::string text =
      fmt::format("{:<12}{}, compute capability {}.{}, {} multiprocessors, {}, {} available\n", backend,
                  device["name"].get<std::string>(), capability[0].get<int>(), capability[1].get<int>(),
                  device["multiprocessors"].get<int>(), format_bytes(device["memory_bytes"].get<std::int64_t>()),
                  format_bytes(device["available_bytes"].get<std::int64_t>()));
  for (const auto& [name, limit] : device["policy"].items())
    text += fmt::format("  {:<28} {:>10}  {}\n", name, limit["value"].get<std::int64_t>(),
                        limit["meaning"].get<std::string>());
  return text;
}

void print_build(const Json& build) {
  std::string text = fmt::format("kith {}\nbackends    {}\n", version(), words(build["backends"]));
  for (const Json& backend : build["backends"]) {
    const auto name = backend.get<std::string>();
    text += name + "\n";
    for (const auto& [list, title] :
         {std::pair{"methods", "methods"}, {"distances", "distance"}, {"selects", "select"}}) {
      if (!build[list][name].empty()) text += fmt::format("  {:<10}{}\n", title, words(build[list][name]));
    }
  }
  const Json& cpu = build["cpu"];
  text += fmt::format("metrics     {}\nformats     {}\n", words(build["metrics"]), words(build["formats"]));
  text += fmt::format("cpu         {}, {} of {} cores\nsimd        {}\nthreads     {} ({})\n",
                      cpu["model"].get<std::string>(), cpu["usable_cores"].get<int>(), cpu["cores"].get<int>(),
                      words(cpu["simd_targets"]), cpu["threads"].get<int>(), cpu["threads_source"].get<std::string>());
  for (const Json& device : build["devices"]) {
    if (device.contains("policy")) text += device_text(device);
  }
  const auto why = build["unavailable"].value("cuda", std::string());
  if (!why.empty()) text += fmt::format("no cuda     {}\n", why);
  for (const Json& device : build["unusable_devices"]) {
    const auto problem = device["problem"].get<std::string>();
    if (why.find(problem) == std::string::npos) text += fmt::format("not used    {}\n", problem);
  }
  text += fmt::format("memory      {}, {} available ({})\n",
                      format_bytes(build["memory"]["total_bytes"].get<std::int64_t>()),
                      format_bytes(build["memory"]["available_bytes"].get<std::int64_t>()),
                      build["memory"]["available_source"].get<std::string>());
  write_stdout(text);
}

std::string shown(const Json& text) {
  return printable(text.get<std::string>());
}

Json describe_file(const InfoArguments& settings) {
  const io::FileInfo info = io::describe(settings.file, settings.files.load_options("", {}));
  Json object = json_object("info");
  object["file"] = settings.file;
  object["format"] = to_string(info.format);
  object["arrays"] = Json::array();
  for (const io::ArrayInfo& array : info.arrays) {
    Json entry = {{"name", array.name},
                  {"dtype", to_string(array.type)},
                  {"rank", array.rank},
                  {"rows", array.rows},
                  {"cols", array.cols}};
    if (!array.problem.empty()) entry["problem"] = array.problem;
    object["arrays"].push_back(entry);
  }
  object["columns"] = info.columns;
  object["attributes"] = info.attributes;
  return object;
}

void print_file(const Json& file) {
  std::string text = fmt::format("{}: {}\n", shown(file["file"]), file["format"].get<std::string>());
  for (const Json& array : file["arrays"]) {
    const std::string name = shown(array["name"]);
    text += fmt::format("  {}{} rows × {} cols, {}", name.empty() ? "" : name + ": ",
                        format_integer(array["rows"].get<std::int64_t>()),
                        format_integer(array["cols"].get<std::int64_t>()), array["dtype"].get<std::string>());
    text += array.contains("problem") ? fmt::format(" (not readable: {})\n", shown(array["problem"])) : "\n";
  }
  if (!file["columns"].empty()) text += fmt::format("  columns: {}\n", printable(words(file["columns"])));
  for (const auto& [name, value] : file["attributes"].items()) {
    text += fmt::format("  {} = {}\n", printable(name), shown(value));
  }
  write_stdout(text);
}

void run(const InfoArguments& settings, const Context& context) {
  const bool about_file = !settings.file.empty();
  const Json object = about_file ? describe_file(settings) : describe_build();
  if (context.json) return print_json(object);
  about_file ? print_file(object) : print_build(object);
}

}  // namespace

void add_info(CLI::App& app, Context& context) {
  auto [command, settings] = add_command<InfoArguments>(
      app, context, "info", "What this build and machine have; with a file, what the file holds", run);
  add_file(*command, "file", settings->file, "Describe this file instead: format, arrays, shapes");
  add_input_options(*command, context, settings->files);
  add_general_options(*command, context, "Print a JSON object");
}

}  // namespace kith::cli
