// Writing: which format, which arrays it can take, and the writer for it.
#include <algorithm>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "io/bin.hpp"
#include "io/format.hpp"
#include "io/hdf5.hpp"
#include "io/npy_stream.hpp"
#include "io/npz.hpp"
#include "io/output_file.hpp"
#include "io/ply_write.hpp"
#include "io/source.hpp"
#include "io/text_write.hpp"
#include "io/vecs.hpp"
#include "kith/io.hpp"

namespace kith::io {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

Format format_to_save(const Output& output) {
  const Format format = output.options.format != Format::automatic ? output.options.format : format_of(output.path);
  if (format == Format::automatic) refuse(output.path + ": the format is not known from its extension; name it");
  return format;
}

bool takes_many(Format format) {
  return format == Format::npz || format == Format::hdf5 || format == Format::csv || format == Format::json ||
         format == Format::groundtruth;
}

void check_output(const Output& output, Format format) {
  const std::string what = output.path + ": a " + to_string(format) + " file ";
  const SaveOptions& options = output.options;
  if (output.arrays.empty()) refuse(output.path + ": no arrays to save");
  if (output.arrays.size() > 1 && !takes_many(format)) {
    refuse(what + "holds one array, not " + std::to_string(output.arrays.size()));
  }
  if (!options.attributes.empty() && format != Format::hdf5) refuse(what + "has no attributes");
  if (options.compress && format != Format::npz && format != Format::hdf5) refuse(what + "is not compressed");
  if (options.text && format != Format::ply) refuse(what + "has no text variant");
}

// Names as the file will have them: a name for every array, no two alike.
NamedArrays named(const Output& output, Format format) {
  NamedArrays arrays = output.arrays;
  const bool bare = arrays.size() == 1 && (format == Format::json || format == Format::csv);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::string& name = arrays[i].first;
    if (name.empty() && !bare) name = "arr_" + std::to_string(i);
    if (name.find('\0') != std::string::npos) refuse(output.path + ": an array's name holds a NUL");
    if (!seen.insert(name).second) refuse(output.path + ": two arrays are named " + in_quotes(name));
  }
  return arrays;
}

const Array& find_array(const Output& output, const char* name) {
  const auto found =
      std::find_if(output.arrays.begin(), output.arrays.end(), [&](const auto& entry) { return entry.first == name; });
  if (found == output.arrays.end() || output.arrays.size() != 2) {
    refuse(output.path + ": a groundtruth file holds the arrays 'ids' and 'distances'");
  }
  return found->second;
}

void write_npy(Sink& sink, const Array& array) {
  NpyStream stream(array);
  std::vector<std::byte> block(1 << 18);
  while (const std::size_t count = stream.read(block.data(), block.size())) sink.write(block.data(), count);
}

void write(OutputFile& file, const Output& output, Format format) {
  const Array& first = output.arrays[0].second;
  switch (format) {
    case Format::npy: return write_npy(file, first);
    case Format::npz: return write_npz(file, named(output, format), output.options.compress);
    case Format::hdf5:
      return write_hdf5(file, named(output, format), output.options.attributes, output.options.compress);
    case Format::csv: return write_csv(file, named(output, format));
    case Format::json: return write_json(file, named(output, format));
    case Format::ply: return write_ply(file, first, output.options.text);
    case Format::groundtruth:
      return write_groundtruth(file, find_array(output, "ids"), find_array(output, "distances"));
    case Format::fvecs:
    case Format::bvecs:
    case Format::ivecs: return write_vecs(file, first, *fixed_type(format));
    default: return write_bin(file, first, *fixed_type(format));
  }
}

}  // namespace

void save_together(const std::vector<Output>& outputs) {
  try {
    std::vector<Format> formats;
    std::vector<std::string> paths;
    for (const Output& output : outputs) {
      formats.push_back(format_to_save(output));
      check_output(output, formats.back());
      paths.push_back(output.path);
    }
    check_output_paths(paths);
    std::vector<std::unique_ptr<OutputFile>> files;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      files.push_back(std::make_unique<OutputFile>(outputs[i].path));
      write(*files.back(), outputs[i], formats[i]);
      files.back()->finish();
    }
    for (const auto& file : files) file->commit();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "not enough memory to write");
  }
}

void save(const std::string& path, const NamedArrays& arrays, const SaveOptions& options) {
  save_together({{path, arrays, options}});
}

void save(const std::string& path, const Array& array, const SaveOptions& options) {
  save(path, NamedArrays{{"", array}}, options);
}

void save_text(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.finish();
  file.commit();
}

}  // namespace kith::io
