// Reading and writing arrays: npy, npz, fvecs/bvecs/ivecs, fbin/f16bin/bf16bin/u8bin/i8bin/ibin, big-ann ground truth,
// HDF5, CSV, PLY; JSON is written only. docs/formats.md has the table.
//
// Errors. A file that is missing, unreadable, malformed, truncated or oversized: Error(bad_data) naming the file, the
// byte or line, and the reason. A wrong option or name: Error(invalid_argument). An output that cannot be written:
// Error(cannot_write) with the system's reason, and nothing of it is left behind.
//
// Limits. Arrays have one or two dimensions. An array may be a view into a memory-mapped file: the file must not be
// changed in place or shortened while the array lives (the system answers a read past the end with SIGBUS, which no
// library can turn into an error); replacing the file by rename, as save() does, is safe.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kith/error.hpp"
#include "kith/export.hpp"
#include "kith/matrix.hpp"

namespace kith::io {

// What a file can hold: points, and ids (int32, int64).
enum class ElementType { float32, float64, uint8, int8, int32, int64, float16, bfloat16 };

template <class T>
concept Scalar = Element<T> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

template <Scalar T>
constexpr ElementType element_type_of() {
  if constexpr (std::same_as<T, float>) {
    return ElementType::float32;
  } else if constexpr (std::same_as<T, double>) {
    return ElementType::float64;
  } else if constexpr (std::same_as<T, std::uint8_t>) {
    return ElementType::uint8;
  } else if constexpr (std::same_as<T, std::int8_t>) {
    return ElementType::int8;
  } else if constexpr (std::same_as<T, std::int32_t>) {
    return ElementType::int32;
  } else if constexpr (std::same_as<T, Float16>) {
    return ElementType::float16;
  } else if constexpr (std::same_as<T, BFloat16>) {
    return ElementType::bfloat16;
  } else {
    return ElementType::int64;
  }
}

KITH_API const char* to_string(ElementType type) noexcept;       // "float32", "float64", "uint8", ...
KITH_API ElementType parse_element_type(std::string_view name);  // those names; throws Error(invalid_argument)
KITH_API std::int64_t size_of(ElementType type) noexcept;        // bytes
KITH_API bool is_floating(ElementType type) noexcept;

// A read-only array of one or two dimensions. Copies share the memory (heap or memory map) behind it.
// One dimension is kept as a single column: rows() = length, cols() = 1.
class KITH_API Array {
 public:
  Array() = default;  // one dimension, no rows

  // `owner` keeps `data` alive; null: the caller does. Strides count elements. `rank` is 1 or 2.
  Array(ElementType type, int rank, std::int64_t rows, std::int64_t cols, const void* data, std::int64_t row_stride,
        std::int64_t col_stride, std::shared_ptr<const void> owner);

  // Takes the values: rows × cols, row-major.
  template <Scalar T>
  static Array from(std::vector<T> values, std::int64_t rows, std::int64_t cols) {
    return own(std::move(values), 2, rows, cols);
  }
  // Takes the values: one dimension.
  template <Scalar T>
  static Array from(std::vector<T> values) {
    const auto rows = static_cast<std::int64_t>(values.size());
    return own(std::move(values), 1, rows, 1);
  }
  // Looks at the caller's memory, which must outlive the array and its copies.
  template <Scalar T>
  static Array borrow(const T* data, std::int64_t rows, std::int64_t cols) {
    return {element_type_of<T>(), 2, rows, cols, data, cols, 1, nullptr};
  }
  template <Scalar T>
  static Array borrow(const std::vector<T>& values) {
    return {element_type_of<T>(), 1, static_cast<std::int64_t>(values.size()), 1, values.data(), 1, 1, nullptr};
  }
  template <Element T>
  static Array borrow(MatrixView<T> view) {
    return {element_type_of<T>(), 2, view.rows, view.cols, view.data, view.row_stride, view.col_stride, nullptr};
  }

  ElementType type() const { return type_; }
  int rank() const { return rank_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t size() const { return rows_ * cols_; }
  std::int64_t row_stride() const { return row_stride_; }
  std::int64_t col_stride() const { return col_stride_; }
  const void* data() const { return data_; }
  bool packed() const;  // row-major without gaps

  // The elements as they lie in memory. Throws Error(invalid_argument) when T is not the array's type.
  template <Element T>
  MatrixView<T> view() const {
    return {elements<T>(), rows_, cols_, row_stride_, col_stride_};
  }
  template <Scalar T>
  const T* elements() const {
    require_type(element_type_of<T>());
    return static_cast<const T*>(data_);
  }
  template <Scalar T>
  T at(std::int64_t row, std::int64_t col = 0) const {
    return elements<T>()[row * row_stride_ + col * col_stride_];
  }

  // The same values in another type; the array itself when it has that type. Floating types are rounded, once, to
  // narrower ones; any other value that the type cannot hold exactly, or a finite one that it cannot hold at all, is
  // Error(bad_data) naming row, column and value. NaN and Inf convert between floating types only.
  Array converted(ElementType type) const;
  // A packed row-major copy of the values as T, converted as above.
  template <Scalar T>
  std::vector<T> values() const {
    std::vector<T> out(static_cast<std::size_t>(size()));
    copy_rows(0, rows_, element_type_of<T>(), out.data());
    return out;
  }
  // Rows first … first + count − 1, packed and converted, into `out`.
  void copy_rows(std::int64_t first, std::int64_t count, ElementType type, void* out) const;

 private:
  template <Scalar T>
  static Array own(std::vector<T> values, int rank, std::int64_t rows, std::int64_t cols) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    require_size(static_cast<std::int64_t>(owner->size()), rows, cols);
    const T* data = owner->data();
    return {element_type_of<T>(), rank, rows, cols, data, cols, 1, std::move(owner)};
  }
  static void require_size(std::int64_t size, std::int64_t rows, std::int64_t cols);
  void require_type(ElementType type) const;

  ElementType type_ = ElementType::float32;
  int rank_ = 1;
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 1;
  std::int64_t row_stride_ = 1;
  std::int64_t col_stride_ = 1;
  const void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

// Calls f with the MatrixView<T> of the array's own type. int32 and int64, which hold ids and not points, throw
// Error(invalid_argument): convert first.
template <class F>
decltype(auto) visit_points(const Array& array, F&& f) {
  switch (array.type()) {
    case ElementType::float64: return std::forward<F>(f)(array.view<double>());
    case ElementType::uint8: return std::forward<F>(f)(array.view<std::uint8_t>());
    case ElementType::int8: return std::forward<F>(f)(array.view<std::int8_t>());
    case ElementType::float16: return std::forward<F>(f)(array.view<Float16>());
    case ElementType::bfloat16: return std::forward<F>(f)(array.view<BFloat16>());
    default: return std::forward<F>(f)(array.view<float>());  // throws for ids
  }
}

enum class Format {
  automatic,  // by the file's extension, else by its first bytes
  npy,
  npz,
  fvecs,  // float32
  bvecs,  // uint8
  ivecs,  // int32
  fbin,   // float32
  u8bin,
  i8bin,
  ibin,         // int32
  groundtruth,  // big-ann: n, k, all int32 ids, all float32 distances; arrays "ids" and "distances"
  hdf5,
  csv,
  ply,
  json,     // written only
  f16bin,   // float16
  bf16bin,  // bfloat16
};

KITH_API const char* to_string(Format format) noexcept;  // "auto", "npy", ..., "hdf5"
// Those names and the extensions without their dot, any case ("h5", "tsv"). Throws Error(invalid_argument) listing
// them.
KITH_API Format parse_format(std::string_view name);
KITH_API std::vector<std::string> format_names();  // without "auto"
// The format that a path's extension stands for; automatic when it is unknown.
KITH_API Format format_of(std::string_view path) noexcept;

using NamedArrays = std::vector<std::pair<std::string, Array>>;
using Attributes = std::map<std::string, std::string>;

enum class Header { automatic, present, absent };

struct LoadOptions {
  Format format = Format::automatic;
  // Which array of an npz, hdf5 ("group/name" too) or groundtruth file; empty: one of `default_arrays`, else the only
  // one. In a csv with a header: the columns named `array` or `array_0`, `array_1`, ...
  std::string array;
  // Tried in this order when `array` is empty, by formats whose files hold named arrays; a file with none of them must
  // hold a single array.
  std::vector<std::string> default_arrays;
  // csv: names of the header, or 0-based numbers; ply: vertex properties. Empty: all of a csv, the coordinates of a
  // ply.
  std::vector<std::string> columns;
  // csv: whether the first row names the columns. automatic: it does when none of its fields is a number.
  Header header = Header::automatic;
};

// One array. "-" reads standard input to its end, once in a process. An option that the format does not have is an
// error, `default_arrays` excepted. Mapped where the layout allows, else read into memory.
KITH_API Array load(const std::string& path, const LoadOptions& options = {});

// Rows first … first + rows.rows() − 1 of an array of `total` rows.
struct Part {
  Array rows;
  std::int64_t first = 0;
  std::int64_t total = 0;
};

// Part number `part` of `parts`, which are as equal as can be: what load() gives, without reading other parts of a file
// of format npy (but for types that are converted), fvecs, bvecs, ivecs or fbin and its like. Other formats are read
// whole.
KITH_API Part load_part(const std::string& path, std::int64_t part, std::int64_t parts,
                        const LoadOptions& options = {});

// Every array of the file, in its order; the array of a format that has no names is called "". options.array and
// options.default_arrays must be empty.
KITH_API NamedArrays load_all(const std::string& path, const LoadOptions& options = {});

struct ArrayInfo {
  std::string name;
  ElementType type = ElementType::float32;  // as load() would give it
  int rank = 2;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::string problem;  // why load() would refuse it; empty: it would not, as far as its header tells
};

struct FileInfo {
  Format format = Format::automatic;
  std::vector<ArrayInfo> arrays;
  std::vector<std::string> columns;  // csv header, ply vertex properties
  Attributes attributes;             // hdf5: of the root group's header, when they are single strings or integers
};

// What a file holds, by its headers and its size; a csv is read whole.
KITH_API FileInfo describe(const std::string& path, const LoadOptions& options = {});

struct SaveOptions {
  Format format = Format::automatic;
  Attributes attributes;  // hdf5: of the root group; ann-benchmarks has "distance" and "type"
  bool compress = false;  // npz, hdf5: deflate
  bool text = false;      // ply: ascii instead of binary little endian
};

// Writes the file whole or not at all: into a temporary file in the same folder, synced, then renamed over `path`
// (over the file it points to when it is a symbolic link; one that leads nowhere, or that another user has put into a
// sticky folder, is refused). An existing file keeps its permissions. "-" and /dev/stdout write to standard output;
// pipes, devices and open descriptors (/dev/fd/3) are written directly. The library leaves SIGPIPE and SIGXFSZ as they
// are: ignore them to get Error(cannot_write) instead.
//
// npz, hdf5, json take any named arrays (an unnamed one is "arr_0"; in json it stands alone). csv takes arrays with
// equal row counts and puts them side by side under a header name or name_0, name_1, ... (none when unnamed).
// groundtruth takes "ids" and "distances". The others take one array. Where the format has one element type the array
// is converted() to it; other types are kept. csv and json print numbers so that they read back equal; json prints
// null for NaN and Inf. npy, npz and ply have no bfloat16, ply no float16: Error(invalid_argument). fvecs, bvecs and
// ivecs cannot hold an array without rows; ply holds 1 to 3 columns (x, y, z) or 6 (and nx, ny, nz).
KITH_API void save(const std::string& path, const NamedArrays& arrays, const SaveOptions& options = {});
KITH_API void save(const std::string& path, const Array& array, const SaveOptions& options = {});

struct Output {
  std::string path;
  NamedArrays arrays;
  SaveOptions options;
};

// Several files: all are written before the first is put in place. Two that are one file are Error(invalid_argument).
KITH_API void save_together(const std::vector<Output>& outputs);

// Throws what save_together() would throw of these paths before it writes: for links that it does not follow, folders,
// and two paths that lead to one file.
KITH_API void check_output_paths(const std::vector<std::string>& paths);

// A text file by the same rules.
KITH_API void save_text(const std::string& path, std::string_view text);

// Removes the temporary files that unfinished calls of save() in this process have made so far. Async-signal-safe: for
// a handler that ends the process right after, before save() could do it.
KITH_API void remove_temporaries() noexcept;

}  // namespace kith::io
