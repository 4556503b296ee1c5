// kith convert: arrays from one format to another.

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"

namespace kith::cli {
namespace {

const std::vector<std::string> kTypes = {"float32", "float64", "uint8",   "int8",
                                         "int32",   "int64",   "float16", "bfloat16"};

struct ConvertArguments {
  std::string input;
  std::string array;
  InputSettings files;
  std::string dtype;
  OutputSettings output;
};

io::Format output_format(const OutputSettings& output) {
  const io::Format format = io::parse_format(output.format);
  return format != io::Format::automatic || output.to_stdout() ? format : io::format_of(output.output);
}

// All arrays where the output can hold them, else the one that is named or the only one.
io::NamedArrays load_arrays(const ConvertArguments& settings) {
  const io::Format format = output_format(settings.output);
  const bool several = format == io::Format::npz || format == io::Format::hdf5 || format == io::Format::json ||
                       format == io::Format::groundtruth;
  if (several && settings.array.empty()) return io::load_all(settings.input, settings.files.load_options("", {}));
  return {{settings.array, io::load(settings.input, settings.files.load_options(settings.array, {}))}};
}

void run(const ConvertArguments& settings, const Context& context) {
  check_output(settings.output, {}, context);
  io::NamedArrays arrays = load_arrays(settings);
  if (!settings.dtype.empty()) {
    for (auto& [name, array] : arrays) array = array.converted(io::parse_element_type(settings.dtype));
  }
  Answer answer;
  answer.json = json_object("convert");
  answer.json["arrays"] = Json::array();
  for (const auto& [name, array] : arrays) {
    answer.json["arrays"].push_back(
        {{"name", name}, {"dtype", to_string(array.type())}, {"rows", array.rows()}, {"cols", array.cols()}});
  }
  if (settings.output.as_text())
    return deliver_array(answer, "values", arrays.front().second, settings.output, context);
  answer.outputs.push_back(settings.output.with(arrays));
  deliver(answer, context);
}

}  // namespace

void add_convert(CLI::App& app, Context& context) {
  auto [command, settings] =
      add_command<ConvertArguments>(app, context, "convert", "Convert arrays between file formats", run);
  add_file(*command, "--input,input", settings->input, "The file; - reads stdin")->required()->group("Input");
  command
      ->add_option("--array", settings->array, "One array of an npz or hdf5 file; default: all that the output holds")
      ->type_name("NAME")
      ->group("Input");
  add_input_options(*command, context, settings->files);
  add_dtype(*command, context, settings->dtype, kTypes,
            "Type to convert to; floats are rounded to narrower ones, else a value that does not fit is an error")
      ->group("Output");
  add_output_options(*command, context, settings->output, "npy, npz, fvecs, fbin, h5, csv, ply, json, ...");
  add_general_options(*command, context, "Print a JSON object: the arrays' shapes, and the values or their file");
}

}  // namespace kith::cli
