// Reading: which format, which array, and the reader for it.
#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "io/bin.hpp"
#include "io/csv_read.hpp"
#include "io/format.hpp"
#include "io/hdf5.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/ply_read.hpp"
#include "io/source.hpp"
#include "io/vecs.hpp"
#include "kith/io.hpp"

namespace kith::io {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

// Parquet and Arrow are read by the Python package alone: the system that this is made for has no library for them.
void refuse_arrow(const Source& source) {
  const std::string_view text = source.text();
  const char* const name = text.starts_with("PAR1") ? "Parquet" : text.starts_with("ARROW1") ? "Arrow" : nullptr;
  if (name == nullptr) return;
  refuse(source.name + ": " + name + " is read by the Python package; 'python -m kith convert " + source.name +
         " points.npy' makes a file of it that is read here");
}

Format format_of_source(const std::string& path, const Source& source, Format asked) {
  Format format = asked != Format::automatic ? asked : format_of(path);
  if (format == Format::automatic) format = sniff(source);
  if (format == Format::automatic) refuse_arrow(source);
  if (format == Format::automatic) {
    refuse(source.name + ": the format is not known from its extension or its first bytes; name it");
  }
  if (format == Format::json) refuse(source.name + ": json is written only");
  return format;
}

bool has_names(Format format) {
  return format == Format::npz || format == Format::hdf5 || format == Format::groundtruth;
}

void check_options(const Source& source, Format format, const LoadOptions& options) {
  const std::string what = source.name + ": a " + to_string(format) + " file has no ";
  if (!options.array.empty() && !has_names(format) && format != Format::csv) refuse(what + "named arrays");
  if (!options.columns.empty() && format != Format::csv && format != Format::ply) refuse(what + "named columns");
  if (options.header != Header::automatic && format != Format::csv) refuse(what + "header row");
  if (!options.array.empty() && !options.columns.empty()) refuse(source.name + ": both an array and columns are named");
}

std::vector<std::string> array_names(const Source& source, Format format) {
  switch (format) {
    case Format::npz: return npz_names(source);
    case Format::hdf5: return hdf5_names(source);
    default: return {"ids", "distances"};
  }
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i == 0 ? "" : ", ") + in_quotes(names[i]);
  return names.size() > kShown ? text + ", ..." : text;
}

std::string choose_array(const Source& source, Format format, const LoadOptions& options) {
  const std::vector<std::string> names = array_names(source, format);
  const auto has = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if (!options.array.empty()) {
    const bool path = format == Format::hdf5 && options.array.find('/') != std::string::npos;
    if (path || has(options.array)) return options.array;
    refuse(source.name + " has no array " + in_quotes(options.array) + "; it has " + listed(names));
  }
  for (const std::string& name : options.default_arrays) {
    if (has(name)) return name;
  }
  if (names.empty()) fail(source, "it holds no arrays");
  if (names.size() > 1) refuse(source.name + " holds several arrays, name one: " + listed(names));
  return names[0];
}

Array parse_named(const Source& source, Format format, const std::string& name) {
  switch (format) {
    case Format::npz: return parse_npz(source, name);
    case Format::hdf5: return parse_hdf5(source, name);
    default: {
      NamedArrays arrays = parse_groundtruth(source);
      return name == "ids" ? arrays[0].second : arrays[1].second;
    }
  }
}

Array parse_single(const Source& source, Format format, const LoadOptions& options) {
  switch (format) {
    case Format::npy: return parse_npy(source);
    case Format::csv: return parse_csv(source, options).array;
    case Format::ply: return parse_ply(source, options.columns);
    case Format::fvecs:
    case Format::bvecs:
    case Format::ivecs: return parse_vecs(source, *fixed_type(format));
    default: return parse_bin(source, *fixed_type(format));
  }
}

Array rows_of(const Array& array, std::int64_t first, std::int64_t count) {
  // The new array keeps the old one, which keeps the values.
  const auto owner = std::make_shared<const Array>(array);
  const auto* const data =
      static_cast<const std::byte*>(array.data()) + first * array.row_stride() * size_of(array.type());
  return {array.type(), array.rank(), count, array.cols(), data, array.row_stride(), array.col_stride(), owner};
}

bool is_vecs(Format format) {
  return format == Format::fvecs || format == Format::bvecs || format == Format::ivecs;
}

FileInfo describe_source(const Source& source, Format format, const LoadOptions& options) {
  FileInfo info;
  info.format = format;
  switch (format) {
    case Format::hdf5: return describe_hdf5(source);
    case Format::ply: return describe_ply(source, options.columns);
    case Format::npz: info.arrays = describe_npz(source); break;
    case Format::groundtruth: info.arrays = describe_groundtruth(source); break;
    case Format::npy: {
      const NpyHeader header = parse_npy_header(source);
      check_npy_size(source, header);
      info.arrays = {describe_npy(header)};
      break;
    }
    case Format::csv: {
      CsvTable table = parse_csv(source, options);
      info.columns = std::move(table.columns);
      info.arrays = {{"", table.array.type(), table.array.rank(), table.array.rows(), table.array.cols(), ""}};
      break;
    }
    case Format::fvecs:
    case Format::bvecs:
    case Format::ivecs: info.arrays = {describe_vecs(source, *fixed_type(format))}; break;
    default: info.arrays = {describe_bin(source, *fixed_type(format))}; break;
  }
  return info;
}

// Opens the file, settles its format and runs f(source, format).
template <class F>
auto with_source(const std::string& path, const LoadOptions& options, F&& f) {
  try {
    const Source source = open_source(path);
    const Format format = format_of_source(path, source, options.format);
    check_options(source, format, options);
    return f(source, format);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, path + ": not enough memory to read it");
  }
}

}  // namespace

Array load(const std::string& path, const LoadOptions& options) {
  return with_source(path, options, [&](const Source& source, Format format) {
    if (has_names(format)) return parse_named(source, format, choose_array(source, format, options));
    return parse_single(source, format, options);
  });
}

Part load_part(const std::string& path, std::int64_t part, std::int64_t parts, const LoadOptions& options) {
  if (parts < 1 || part < 0 || part >= parts)
    refuse("part " + std::to_string(part) + " of " + std::to_string(parts) + "; parts are numbered from 0");
  return with_source(path, options, [&](const Source& source, Format format) {
    Array whole;
    Part loaded;
    if (is_vecs(format)) {
      loaded.total = describe_vecs(source, *fixed_type(format)).rows;
    } else {
      whole = has_names(format) ? parse_named(source, format, choose_array(source, format, options))
                                : parse_single(source, format, options);
      loaded.total = whole.rows();
    }
    // The first parts have one row more where they cannot be equal.
    const std::int64_t each = loaded.total / parts;
    const std::int64_t more = loaded.total % parts;
    loaded.first = part * each + std::min(part, more);
    const std::int64_t count = each + (part < more ? 1 : 0);
    loaded.rows = is_vecs(format) ? parse_vecs_rows(source, *fixed_type(format), loaded.first, count)
                                  : rows_of(whole, loaded.first, count);
    return loaded;
  });
}

NamedArrays load_all(const std::string& path, const LoadOptions& options) {
  if (!options.array.empty() || !options.default_arrays.empty()) refuse("load_all takes every array: name none");
  return with_source(path, options, [&](const Source& source, Format format) {
    NamedArrays arrays;
    if (!has_names(format)) {
      arrays.emplace_back("", parse_single(source, format, options));
      return arrays;
    }
    if (format == Format::npz) {
      arrays = parse_npz(source);
    } else {
      for (const std::string& name : array_names(source, format)) {
        arrays.emplace_back(name, parse_named(source, format, name));
      }
    }
    if (arrays.empty()) fail(source, "it holds no arrays");
    return arrays;
  });
}

FileInfo describe(const std::string& path, const LoadOptions& options) {
  return with_source(path, options,
                     [&](const Source& source, Format format) { return describe_source(source, format, options); });
}

}  // namespace kith::io
