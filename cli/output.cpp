#include "cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/stdout.hpp"
#include "kith/error.hpp"

namespace kith::cli {
namespace {

using io::Format;

bool compresses(Format format) {
  return format == Format::npz || format == Format::hdf5;
}

bool holds(Format format, Content content) {
  constexpr std::int64_t kPlyCols = 3;
  constexpr std::int64_t kPlyColsWithNormals = 6;
  const Shape shape = content.shape;
  if (shape == Shape::unknown) return true;
  switch (format) {
    case Format::npz:
    case Format::hdf5:
    case Format::json: return true;
    case Format::csv: return shape != Shape::named;
    case Format::groundtruth: return shape == Shape::neighbors;
    case Format::ply: return shape == Shape::array && (content.cols <= kPlyCols || content.cols == kPlyColsWithNormals);
    default: return shape == Shape::array || shape == Shape::ids;
  }
}

std::string formats_for(Content content, bool compress) {
  std::vector<std::string> names;
  for (const std::string& name : io::format_names()) {
    const Format format = io::parse_format(name);
    if (holds(format, content) && (!compress || compresses(format))) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void require_writable_folder(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (access(folder.c_str(), W_OK) != 0) {
    throw Error(ErrorCode::cannot_write, fmt::format("{}: {}", path, std::strerror(errno)));
  }
}

}  // namespace

void check_output(const std::string& path, const OutputSettings& settings, Content content) {
  const std::string formats = formats_for(content, settings.compress);
  Format format = io::parse_format(settings.format);
  if (format == Format::automatic) format = io::format_of(path);
  if (format == Format::automatic) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: its name does not tell the format; give --output-format: {}", path, formats));
  }
  if (!holds(format, content)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} cannot hold this answer; what can: {}", path, to_string(format), formats));
  }
  if (settings.compress && !compresses(format)) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: {} is not compressed; what --compress can write: {}",
                                                         path, to_string(format), formats));
  }
  std::error_code ignored;
  const bool device = std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
  if (path != "-" && !device) require_writable_folder(path);
  io::check_output_paths({path});
}

void check_output(const OutputSettings& settings, Content content, const Context& context) {
  if (settings.as_text()) {
    if (!settings.compress) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--compress but the answer goes to stdout as text; give -o or --output-format: {}",
                            formats_for(content, true)));
  }
  if (settings.to_stdout() && context.json) {
    throw Error(ErrorCode::invalid_argument,
                "--json and --output-format both want stdout; write the answer to a file with -o");
  }
  check_output(settings.output.empty() ? "-" : settings.output, settings, content);
}

void deliver(Answer& answer, const Context& context) {
  if (!answer.outputs.empty()) io::save_together(answer.outputs);
  if (!context.json) {
    if (answer.as_text) answer.print_text();
    return;
  }
  answer.json["outputs"] = Json::array();
  for (const io::Output& output : answer.outputs) answer.json["outputs"].push_back(output.path);
  if (!answer.as_text) return print_json(answer.json);
  answer.add_to_json(answer.json);
  print_json_line(answer.json);
}

void deliver_array(Answer& answer, const std::string& name, const io::Array& array, const OutputSettings& settings,
                   const Context& context) {
  answer.as_text = settings.as_text();
  if (!answer.as_text) answer.outputs.push_back(settings.with({{"", array}}));
  answer.print_text = [&] {
    io::SaveOptions options;
    options.format = Format::csv;
    io::save("-", array, options);
  };
  answer.add_to_json = [&](Json& json) {
    const bool integers = !io::is_floating(array.type());
    json[name] = integers ? rows_to_json(array.values<std::int64_t>(), array.rows(), array.cols())
                          : rows_to_json(array.values<double>(), array.rows(), array.cols());
  };
  deliver(answer, context);
}

}  // namespace kith::cli
