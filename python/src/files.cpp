// Reading and writing arrays.
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array.hpp"
#include "bindings.hpp"
#include "gil.hpp"
#include "kith/io.hpp"
#include "owned_array.hpp"

namespace kith::python {
namespace {

// The elements as T, which has their size.
template <class T>
nb::object view_of(const io::Array& array) {
  auto kept = std::make_unique<io::Array>(array);
  const T* data = static_cast<const T*>(array.data());
  nb::capsule owner(kept.release(), [](void* pointer) noexcept { delete static_cast<io::Array*>(pointer); });
  const std::size_t shape[] = {static_cast<std::size_t>(array.rows()), static_cast<std::size_t>(array.cols())};
  const std::int64_t strides[] = {array.row_stride(), array.col_stride()};
  return nb::cast(nb::ndarray<nb::numpy, const T>(data, static_cast<std::size_t>(array.rank()), shape, owner, strides));
}

// A read-only array over the file's memory. bfloat16, which NumPy has not, comes as uint16, as no other elements do.
nb::object to_numpy(const io::Array& array) {
  switch (array.type()) {
    case io::ElementType::float32: return view_of<float>(array);
    case io::ElementType::float64: return view_of<double>(array);
    case io::ElementType::uint8: return view_of<std::uint8_t>(array);
    case io::ElementType::int8: return view_of<std::int8_t>(array);
    case io::ElementType::int32: return view_of<std::int32_t>(array);
    case io::ElementType::int64: return view_of<std::int64_t>(array);
    case io::ElementType::float16: return view_of<std::uint16_t>(array).attr("view")("e");
    case io::ElementType::bfloat16: return view_of<std::uint16_t>(array);
  }
  return nb::none();
}

io::LoadOptions load_options(const std::string& format, const std::string& array, std::vector<std::string> columns) {
  io::LoadOptions options;
  options.format = io::parse_format(format);
  options.array = array;
  options.columns = std::move(columns);
  return options;
}

nb::object read(const std::string& path, const std::string& format, const std::string& array,
                std::vector<std::string> columns) {
  const io::LoadOptions options = load_options(format, array, std::move(columns));
  io::Array loaded;
  {
    const GilReleased released;
    loaded = io::load(path, options);
  }
  return to_numpy(loaded);
}

nb::dict read_all(const std::string& path, const std::string& format) {
  const io::LoadOptions options = load_options(format, "", {});
  io::NamedArrays loaded;
  {
    const GilReleased released;
    loaded = io::load_all(path, options);
  }
  nb::dict arrays;
  for (const auto& [name, array] : loaded) arrays[name.c_str()] = to_numpy(array);
  return arrays;
}

void write(const std::string& path, const std::vector<std::pair<std::string, nb::object>>& arrays,
           const io::SaveOptions& options) {
  std::deque<Array> held;
  io::NamedArrays named;
  for (const auto& [name, object] : arrays) {
    const Array& array = held.emplace_back(object, false);
    named.emplace_back(name, io::Array(array.type(), array.rank(), array.rows(), array.cols(), array.data(),
                                       array.row_stride(), array.col_stride(), nullptr));
  }
  const GilReleased released;
  io::save(path, named, options);
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def("format_names", &io::format_names);
  module.def("read", &read, nb::arg("path"), nb::arg("format"), nb::arg("array"), nb::arg("columns"));
  module.def("read_all", &read_all, nb::arg("path"), nb::arg("format"));
  module.def(
      "write",
      [](const std::string& path, const nb::dict& arrays, const std::string& format, io::Attributes attributes,
         bool compress, bool text) {
        io::SaveOptions options;
        options.format = io::parse_format(format);
        options.attributes = std::move(attributes);
        options.compress = compress;
        options.text = text;
        std::vector<std::pair<std::string, nb::object>> named;
        for (const auto [name, array] : arrays)
          named.emplace_back(nb::cast<std::string>(name), nb::borrow<nb::object>(array));
        write(path, named, options);
      },
      nb::arg("path"), nb::arg("arrays"), nb::arg("format"), nb::arg("attributes"), nb::arg("compress"),
      nb::arg("text"));
}

}  // namespace kith::python
