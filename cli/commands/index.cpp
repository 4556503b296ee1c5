// kith index: collections in files: points with ids that are added and removed, and searched in part.

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/points.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/search_input.hpp"
#include "cli/signals.hpp"
#include "cli/sizes.hpp"
#include "cli/stdout.hpp"
#include "cli/table.hpp"
#include "kith/kith.hpp"

namespace kith::cli {
namespace {

constexpr const char* kInputGroup = "Input";

// Ids and tags of points, from files.
struct LabelInput {
  std::string ids;
  std::string tags;
};

struct BuildArguments {
  std::string base;
  std::string base_array;
  InputSettings files;
  LabelInput labels;
  SearchSettings search;
  std::string output;
};

struct IndexInfoArguments {
  std::string index;
  bool verify = false;
};

struct AddArguments {
  std::string index;
  std::string base;
  std::string base_array;
  InputSettings files;
  LabelInput labels;
  bool update = false;
  std::string output;
};

struct RemoveArguments {
  std::string index;
  std::string ids;
  std::vector<std::int64_t> listed;
  std::string output;
};

struct IndexSearchArguments {
  std::string index;
  std::string queries;
  std::string queries_array;
  InputSettings files;
  std::int64_t k = 0;
  std::vector<std::int64_t> tags;
  std::string allowed;
  std::string excluded;
  Backend backend = Backend::automatic;
  int threads = 0;
  std::int64_t memory = 0;
  OutputSettings output;
  ReportSettings report;
};

std::vector<std::int64_t> load_numbers(const std::string& path, const char* array) {
  return io::load(path, InputSettings().load_options("", {array})).values<std::int64_t>();
}

struct LoadedLabels {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> tags;

  explicit LoadedLabels(const LabelInput& input) {
    if (!input.ids.empty()) ids = load_numbers(input.ids, "ids");
    if (!input.tags.empty()) tags = load_numbers(input.tags, "tags");
  }
  PointLabels view() const { return {ids, tags}; }
};

// The points in the type of an index, which may round them to it: notes say so.
io::Array points_of_type(const char* what, const std::string& path, const io::LoadOptions& options, DType dtype) {
  io::Array points = load_points(what, path, options);
  const io::ElementType type = io::parse_element_type(to_string(dtype));
  if (points.type() == type) return points;
  note(
      fmt::format("{} converted from {} to {}, as the index has it", what, to_string(points.type()), to_string(dtype)));
  return points.converted(type);
}

// `with(collection)` of the file's own type.
template <class With>
void with_collection(const std::string& path, const Options& options, bool verify, With with) {
  const auto load = [&]<Element T>(T) { with(Collection<T>::load(path, options, verify)); };
  switch (collection_info(path).dtype) {
    case DType::float32: return load(float{});
    case DType::float64: return load(double{});
    case DType::uint8: return load(std::uint8_t{});
    case DType::int8: return load(std::int8_t{});
    case DType::float16: return load(Float16{});
    case DType::bfloat16: return load(BFloat16{});
    default: break;
  }
  throw Error(ErrorCode::bad_data, fmt::format("{} has points of a type that 'kith index' does not take", path));
}

Json index_object(const char* action) {
  Json json = json_object("index");
  json["action"] = action;
  return json;
}

bool until_interrupted(const Progress& /*progress*/) {
  return !interrupted();
}

// Says what became of a file.
void tell(const Context& context, Json json, const std::string& text) {
  if (context.json) return print_json(json);
  note(text);
}

template <Element T>
void save_changed(const Collection<T>& collection, const ChangeReport& change, const char* action,
                  const std::string& path, const Context& context) {
  throw_if_interrupted();
  collection.save(path);  // a signal that comes when the file is there has come too late
  Json json = index_object(action);
  json["points"] = change.points;
  json["rows"] = collection.rows();
  json["seconds"] = change.seconds;
  json["output"] = path;
  tell(context, std::move(json),
       fmt::format("{}: {} points, now {}", path, format_integer(change.points), format_integer(collection.rows())));
}

void run_build(const BuildArguments& settings, const Context& context) {
  Options options = settings.search.options();
  options.progress = until_interrupted;
  const io::Array base =
      load_points("base", settings.base, settings.files.load_options(settings.base_array, kBaseArrays));
  const LoadedLabels labels(settings.labels);
  io::visit_points(base, [&](auto view) {
    using T = typename decltype(view)::value_type;
    const InterruptScope scope;
    const Collection<T> collection(view, labels.view(), options);
    save_changed(collection, {.points = collection.rows()}, "build", settings.output, context);
  });
}

void run_info(const IndexInfoArguments& settings, const Context& context) {
  const CollectionInfo info = collection_info(settings.index);
  if (settings.verify) with_collection(settings.index, {}, true, [](const auto&) {});
  if (context.json) {
    Json json = index_object("info");
    json["rows"] = info.rows;
    json["dims"] = info.dims;
    json["dtype"] = to_string(info.dtype);
    json["metric"] = to_string(info.options.metric);
    json["method"] = to_string(info.options.method);
    json["period"] = info.options.period;
    json["has_ids"] = info.has_ids;
    json["has_tags"] = info.has_tags;
    json["prepared"] = info.prepared;
    json["file_bytes"] = info.file_bytes;
    json["format_version"] = info.version;
    json["verified"] = settings.verify;
    return print_json(json);
  }
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "{:<10}{}\n", name, value);
  };
  line("points", fmt::format("{} × {} {}", format_integer(info.rows), info.dims, to_string(info.dtype)));
  line("metric", to_string(info.options.metric));
  line("method", to_string(info.options.method));
  if (!info.options.period.empty()) line("period", fmt::format("{}", fmt::join(info.options.period, ",")));
  line("ids", info.has_ids ? "its own" : "from 0 on");
  line("tags", info.has_tags ? "yes" : "no");
  line("prepared", info.prepared.empty() ? "nothing" : fmt::format("{}", fmt::join(info.prepared, ", ")));
  line("file", fmt::format("{}, version {}{}", format_bytes(info.file_bytes), info.version,
                           settings.verify ? ", every checksum is right" : ""));
  write_stdout(text);
}

void run_add(const AddArguments& settings, const Context& context) {
  if (settings.update && settings.labels.ids.empty())
    throw Error(ErrorCode::invalid_argument, "--update replaces points by their ids, so it needs --ids");
  const LoadedLabels labels(settings.labels);
  const InterruptScope scope;
  Options options;
  options.progress = until_interrupted;
  with_collection(settings.index, options, false, [&]<Element T>(Collection<T> collection) {
    const io::Array points = points_of_type(
        "base", settings.base, settings.files.load_options(settings.base_array, kBaseArrays), dtype_of<T>());
    const auto view = points.view<T>();
    const ChangeReport change =
        settings.update ? collection.update(view, labels.view()) : collection.add(view, labels.view());
    save_changed(collection, change, settings.update ? "update" : "add",
                 settings.output.empty() ? settings.index : settings.output, context);
  });
}

void run_remove(const RemoveArguments& settings, const Context& context) {
  if (settings.ids.empty() == settings.listed.empty())
    throw Error(ErrorCode::invalid_argument, "one of --ids and --id is needed, and not both");
  const std::vector<std::int64_t> ids = settings.ids.empty() ? settings.listed : load_numbers(settings.ids, "ids");
  const InterruptScope scope;
  Options options;
  options.progress = until_interrupted;
  with_collection(settings.index, options, false, [&]<Element T>(Collection<T> collection) {
    const ChangeReport change = collection.remove(ids);
    save_changed(collection, change, "remove", settings.output.empty() ? settings.index : settings.output, context);
  });
}

template <class D>
void deliver_neighbors(const IndexSearchArguments& settings, const Context& context, const Neighbors<D>& found) {
  if (settings.report.stats) print_report(found.report);
  Answer answer;
  answer.json = index_object("search");
  answer.json["plan"] = to_json(found.report.plan);
  answer.json["report"] = to_json(found.report);
  answer.add_to_json = [&](Json& json) {
    json["ids"] = rows_to_json(found.ids, found.queries, found.k);
    json["distances"] = rows_to_json(found.distances, found.queries, found.k);
  };
  answer.print_text = [&] { print_ranked("query", "distance", found.queries, found.k, found.ids, found.distances); };
  answer.as_text = settings.output.as_text();
  if (!answer.as_text)
    answer.outputs.push_back(
        settings.output.with({{"ids", io::Array::borrow(found.ids.data(), found.queries, found.k)},
                              {"distances", io::Array::borrow(found.distances.data(), found.queries, found.k)}}));
  deliver(answer, context);
}

void run_search(const IndexSearchArguments& settings, const Context& context) {
  check_output(settings.output, {Shape::neighbors, settings.k}, context);
  std::vector<std::int64_t> allowed;
  std::vector<std::int64_t> excluded;
  Filter filter;
  if (!settings.allowed.empty()) filter.allowed = FilterLists{allowed = load_numbers(settings.allowed, "ids")};
  if (!settings.excluded.empty()) filter.excluded = FilterLists{excluded = load_numbers(settings.excluded, "ids")};
  if (!settings.tags.empty()) filter.tags = FilterLists{settings.tags};
  Options options;
  options.backend = settings.backend;
  options.threads = settings.threads;
  options.memory_budget = settings.memory;
  options.statistics = settings.report.stats;
  const InterruptScope scope;
  ProgressBar bar("searching", "distances");
  options.progress = bar.callback();
  with_collection(settings.index, options, false, [&]<Element T>(const Collection<T>& collection) {
    const io::Array queries =
        points_of_type("queries", settings.queries, settings.files.load_options(settings.queries_array, kQueriesArrays),
                       dtype_of<T>());
    if (settings.report.explain && !context.json) print_plan(collection.explain(queries.rows(), settings.k));
    const auto found = collection.search(queries.view<T>(), settings.k, filter);
    throw_if_interrupted();
    deliver_neighbors(settings, context, found);
  });
}

void add_labels(CLI::App& command, LabelInput& labels, const std::string& without_ids) {
  add_file(command, "--ids", labels.ids, "The ids of the points, whole numbers; default: " + without_ids)
      ->group(kInputGroup);
  add_file(command, "--tags", labels.tags, "A whole number for each point, to search by; default: 0")
      ->group(kInputGroup);
}

void add_index_file(CLI::App& command, std::string& index) {
  add_file(command, "--index", index, "The file of 'kith index build'")->required()->group(kInputGroup);
}

void add_changed_file(CLI::App& command, std::string& output) {
  add_file(command, "-o,--output", output, "The file with the change; default: --index itself, whole or not at all")
      ->group("Output");
}

void add_build(CLI::App& app, Context& context) {
  auto [command, settings] = add_command<BuildArguments>(
      app, context, "build", "Write points, their ids, and what searches need of them", run_build);
  add_base(*command, settings->base, settings->base_array);
  add_input_options(*command, context, settings->files);
  add_labels(*command, settings->labels, "from 0 on");
  add_search_options(*command, context, settings->search);
  // What only searches choose, which have these of their own: the file would not keep them.
  for (const char* option :
       {"--distance", "--select", "--query-landmarks", "--triangle-form", "--triangle-filter", "--triangle-placement",
        "--triangle-layout", "--no-remap", "--threads-per-query", "--merge", "--positions"})
    command->remove_option(command->get_option(option));
  add_period(*command, settings->search);
  add_file(*command, "-o,--output", settings->output, "The index")->required()->group("Output");
  add_general_options(*command, context, "Print one JSON object on stdout");
}

void add_index_info(CLI::App& app, Context& context) {
  auto [command, settings] = add_command<IndexInfoArguments>(app, context, "info", "What a file holds", run_info);
  add_file(*command, "--index", settings->index, "The file of 'kith index build'")->required()->group(kInputGroup);
  command->add_flag("--verify", settings->verify, "Read all of it and compare every checksum")->group(kInputGroup);
  add_general_options(*command, context, "Print one JSON object on stdout");
}

void add_add(CLI::App& app, Context& context) {
  auto [command, settings] =
      add_command<AddArguments>(app, context, "add", "Add points, or replace those of some ids", run_add);
  add_index_file(*command, settings->index);
  add_base(*command, settings->base, settings->base_array);
  command->get_option("--base")->description("The points to add; - reads stdin");
  add_input_options(*command, context, settings->files);
  add_labels(*command, settings->labels, "from the largest on");
  command->add_flag("--update", settings->update, "The ids are there already: put these points in the place of theirs")
      ->group(kInputGroup);
  add_changed_file(*command, settings->output);
  add_general_options(*command, context, "Print one JSON object on stdout");
}

void add_remove(CLI::App& app, Context& context) {
  auto [command, settings] =
      add_command<RemoveArguments>(app, context, "remove", "Remove points by their ids", run_remove);
  add_index_file(*command, settings->index);
  add_file(*command, "--ids", settings->ids, "The ids, from a file")->group(kInputGroup);
  command->add_option("--id", settings->listed, "The ids, as 3,5,-7")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kInputGroup);
  add_changed_file(*command, settings->output);
  add_general_options(*command, context, "Print one JSON object on stdout");
}

void add_index_search(CLI::App& app, Context& context) {
  auto [command, settings] = add_command<IndexSearchArguments>(
      app, context, "search", "The k nearest points of each query, by the metric of the index", run_search);
  add_index_file(*command, settings->index);
  add_file(*command, "--queries", settings->queries, "The points to find neighbors of; - reads stdin")
      ->required()
      ->group(kInputGroup);
  command
      ->add_option("--queries-array", settings->queries_array,
                   "Its name in an npz or hdf5 file; default: queries, test or the only one")
      ->type_name("NAME")
      ->group(kInputGroup);
  add_input_options(*command, context, settings->files);
  add_k(*command, settings->k, "Neighbors of each query");
  command->add_option("--tag", settings->tags, "Only points with one of these tags, as 1,4")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Filter");
  add_file(*command, "--allow", settings->allowed, "Only points whose ids are in this file")->group("Filter");
  add_file(*command, "--exclude", settings->excluded, "No points whose ids are in this file")->group("Filter");
  add_backend(*command, context, settings->backend, searching_backends());
  add_threads(*command, settings->threads);
  add_memory(*command, settings->memory);
  add_output_options(*command, context, settings->output, "npz, h5, csv, json with arrays ids and distances");
  add_report_options(*command, settings->report);
  add_general_options(*command, context, "Print one JSON object on stdout: plan, report, and the answer or its file");
  command->footer(
      "With a filter, k may be more than there are points that it leaves: id -1 and an infinite distance in the last\n"
      "places.");
}

}  // namespace

void add_index(CLI::App& app, Context& context) {
  CLI::App* index = app.add_subcommand("index", "Points with ids in a file: build, info, add, remove, search");
  index->group("Commands")->require_subcommand(1);
  add_build(*index, context);
  add_index_info(*index, context);
  add_add(*index, context);
  add_remove(*index, context);
  add_index_search(*index, context);
  index->footer("'kith index COMMAND --help' lists the options of each.");
}

}  // namespace kith::cli
