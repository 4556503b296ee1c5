#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>

#include "io/hdf5.hpp"
#include "io/hdf5_handle.hpp"
#include "io/scalar_types.hpp"

namespace kith::io {
namespace {

// Deflate packs at most 1032 bytes into one.
constexpr std::int64_t kMostUnpacked = 1032;
constexpr std::size_t kImageGrowth = 64 * 1024;
constexpr std::size_t kLongestAttribute = 64 * 1024;

[[noreturn]] void fail_hdf5(const Source& source, const std::string& what) {
  fail(source, what + ": " + Hdf5Session::reason());
}

Hdf5Handle open_file(const Source& source) {
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const bool prepared =
      source.path.empty()
          ? H5Pset_fapl_core(access.get(), kImageGrowth, false) >= 0 &&
                H5Pset_file_image(access.get(), const_cast<std::byte*>(source.bytes.data()), source.size()) >= 0
          : H5Pset_file_locking(access.get(), false, true) >= 0;
  if (source.size() == 0) fail(source, "the file is empty");
  if (!prepared || H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) < 0)
    fail_hdf5(source, "cannot prepare to read");
  const std::string name = source.path.empty() ? hdf5_memory_name() : source.path;
  Hdf5Handle file(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (!file.valid()) fail_hdf5(source, "not a readable HDF5 file");
  return file;
}

// Follows hard links only: soft and external ones may lead into other files.
bool is_hard_link(hid_t group, const std::string& name) {
  H5L_info_t info;
  return H5Lexists(group, name.c_str(), H5P_DEFAULT) > 0 && H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT) >= 0 &&
         info.type == H5L_TYPE_HARD;
}

Hdf5Handle open_object(const Source& source, hid_t group, const std::string& name, const std::string& path) {
  if (!is_hard_link(group, name)) {
    throw Error(ErrorCode::invalid_argument, source.name + " has no dataset " + in_quotes(path));
  }
  Hdf5Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
  if (!object.valid()) fail_hdf5(source, "cannot open " + in_quotes(path));
  return object;
}

// The dataset at "group/.../name"; closes with its file.
Hdf5Handle open_dataset(const Source& source, hid_t file, const std::string& path) {
  Hdf5Handle object(H5Oopen(file, "/", H5P_DEFAULT), H5Oclose);
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end > at) object = open_object(source, object.get(), path.substr(at, end - at), path);
    at = end + 1;
  }
  if (H5Iget_type(object.get()) != H5I_DATASET) {
    throw Error(ErrorCode::invalid_argument, source.name + ": " + in_quotes(path) + " is a group, not a dataset");
  }
  return object;
}

// What the dataset's header says, checked.
struct Layout {
  ArrayInfo info;
  StoredType stored;
  bool contiguous = false;
};

[[noreturn]] void refuse(const Source& source, const std::string& name, const std::string& reason) {
  fail(source, "dataset " + in_quotes(name) + ": " + reason);
}

StoredType read_type(const Source& source, const std::string& name, hid_t dataset) {
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  if (!type.valid()) fail_hdf5(source, "dataset " + in_quotes(name) + ": unreadable type");
  const H5T_class_t kind = H5Tget_class(type.get());
  const std::size_t bytes = H5Tget_size(type.get());
  StoredType stored;
  stored.bytes = static_cast<int>(std::min<std::size_t>(bytes, 100));
  stored.big_endian = H5Tget_order(type.get()) == H5T_ORDER_BE;
  if (kind == H5T_FLOAT && (bytes == 4 || bytes == 8)) {
    // Other layouts of the same size exist; libhdf5 would convert them, Kith would not know to.
    const bool plain = H5Tequal(type.get(), H5T_IEEE_F32LE) > 0 || H5Tequal(type.get(), H5T_IEEE_F32BE) > 0 ||
                       H5Tequal(type.get(), H5T_IEEE_F64LE) > 0 || H5Tequal(type.get(), H5T_IEEE_F64BE) > 0;
    if (!plain) refuse(source, name, "its floating type is not IEEE");
    return stored;
  }
  if (kind == H5T_INTEGER && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) {
    if (H5Tget_precision(type.get()) != 8 * bytes) refuse(source, name, "its integers have unused bits");
    const bool has_sign = H5Tget_sign(type.get()) == H5T_SGN_2;
    stored.kind = has_sign ? StoredType::Kind::signed_integer : StoredType::Kind::unsigned_integer;
    return stored;
  }
  if (kind == H5T_FLOAT) refuse(source, name, "floats of " + std::to_string(bytes) + " bytes are not read");
  refuse(source, name, "not made of floats or integers");
}

void read_shape(const Source& source, hid_t dataset, ArrayInfo& info) {
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = space.valid() ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (rank < 1 || rank > 2 || H5Sget_simple_extent_type(space.get()) != H5S_SIMPLE) {
    refuse(source, info.name, "it has " + std::to_string(std::max(rank, 0)) + " dimensions; one or two are read");
  }
  hsize_t dims[2] = {0, 1};
  if (H5Sget_simple_extent_dims(space.get(), dims, nullptr) != rank) {
    fail_hdf5(source, "dataset " + in_quotes(info.name) + ": unreadable dimensions");
  }
  constexpr auto kMost = static_cast<hsize_t>(std::numeric_limits<std::int64_t>::max());
  if (dims[0] > kMost || dims[1] > kMost) refuse(source, info.name, "its dimensions exceed 63 bits");
  info.rank = rank;
  info.rows = static_cast<std::int64_t>(dims[0]);
  info.cols = static_cast<std::int64_t>(dims[1]);
}

// libhdf5 reads a chunk whole, so a chunk must be as believable as the dataset.
void check_chunk(const Source& source, hid_t creation, const Layout& layout, std::int64_t most) {
  hsize_t dims[2] = {1, 1};
  if (H5Pget_chunk(creation, 2, dims) != layout.info.rank) refuse(source, layout.info.name, "unreadable chunks");
  constexpr auto kMost = static_cast<hsize_t>(std::numeric_limits<std::int64_t>::max());
  const std::int64_t bytes =
      dims[0] > kMost || dims[1] > kMost
          ? -1
          : byte_count(static_cast<std::int64_t>(dims[0]), static_cast<std::int64_t>(dims[1]), layout.stored.bytes);
  if (bytes < 0 || bytes > most) refuse(source, layout.info.name, "its chunks are larger than the file can hold");
}

// Refuses data that is elsewhere and dimensions that the stored bytes cannot fill.
void check_storage(const Source& source, hid_t dataset, Layout& layout) {
  const std::string& name = layout.info.name;
  const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (!creation.valid()) fail_hdf5(source, "dataset " + in_quotes(name));
  const H5D_layout_t kind = H5Pget_layout(creation.get());
  if (kind == H5D_VIRTUAL || H5Pget_external_count(creation.get()) != 0)
    refuse(source, name, "its data is in other files");
  layout.contiguous = kind == H5D_CONTIGUOUS;
  const std::int64_t needed = byte_count(layout.info.rows, layout.info.cols, layout.stored.bytes);
  const hsize_t stored = H5Dget_storage_size(dataset);
  if (stored > source.size()) refuse(source, name, "it claims more bytes than the file has");
  const std::int64_t unpacked = static_cast<std::int64_t>(stored) * (kind == H5D_CHUNKED ? kMostUnpacked : 1);
  if (needed < 0 || needed > unpacked) {
    refuse(source, name,
           counted(layout.info.rows, "row") + " of " + counted(layout.info.cols, "column") + " do not fit the " +
               std::to_string(stored) + " bytes stored");
  }
  if (kind == H5D_CHUNKED && needed > 0) {
    check_chunk(source, creation.get(), layout, static_cast<std::int64_t>(source.size()) * kMostUnpacked);
  }
}

Layout read_layout(const Source& source, hid_t dataset, const std::string& name) {
  Layout layout;
  layout.info.name = name;
  layout.stored = read_type(source, name, dataset);
  layout.info.type = loaded_type(layout.stored);
  read_shape(source, dataset, layout.info);
  check_storage(source, dataset, layout);
  return layout;
}

// A view into the source, when the dataset lies there as it would in memory.
std::optional<Array> view_dataset(const Source& source, hid_t dataset, const Layout& layout) {
  if (!layout.contiguous || !is_native(layout.stored)) return std::nullopt;
  const haddr_t offset = H5Dget_offset(dataset);
  const ArrayInfo& info = layout.info;
  const auto bytes = static_cast<std::size_t>(info.rows * info.cols * layout.stored.bytes);
  if (offset == HADDR_UNDEF || offset > source.size() || source.size() - offset < bytes) return std::nullopt;
  const std::byte* data = source.bytes.data() + offset;
  if (!is_aligned(data, info.type)) return std::nullopt;
  return Array(info.type, info.rank, info.rows, info.cols, data, info.cols, 1, source.owner);
}

hid_t memory_type(ElementType type) {
  switch (type) {
    case ElementType::float32: return H5T_NATIVE_FLOAT;
    case ElementType::float64: return H5T_NATIVE_DOUBLE;
    case ElementType::uint8: return H5T_NATIVE_UINT8;
    case ElementType::int8: return H5T_NATIVE_INT8;
    case ElementType::int32: return H5T_NATIVE_INT32;
    case ElementType::int64: break;
  }
  return H5T_NATIVE_INT64;
}

// libhdf5 would clamp a uint64 that exceeds int64, so those are read as they are and looked at.
Array copy_dataset(const Source& source, hid_t dataset, const Layout& layout) {
  const ArrayInfo& info = layout.info;
  const std::int64_t count = info.rows * info.cols;
  const bool wide = layout.stored.kind == StoredType::Kind::unsigned_integer && layout.stored.bytes == 8;
  const auto data = allocate(count * size_of(info.type));
  const hid_t type = wide ? H5T_NATIVE_UINT64 : memory_type(info.type);
  if (count > 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.get()) < 0) {
    fail_hdf5(source, "dataset " + in_quotes(info.name));
  }
  if (wide) {
    const auto* values = reinterpret_cast<const std::int64_t*>(data.get());
    const auto* refused = std::find_if(values, values + count, [](std::int64_t value) { return value < 0; });
    if (refused != values + count) {
      refuse(source, info.name, "value " + std::to_string(refused - values) + " exceeds the largest int64");
    }
  }
  return {info.type, info.rank, info.rows, info.cols, data.get(), info.cols, 1, data};
}

// Called by libhdf5, through which nothing may be thrown.
herr_t append_name(hid_t, const char* name, const H5L_info_t* info, void* names) noexcept try {
  if (info->type == H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
} catch (const std::bad_alloc&) {
  return -1;
}

std::vector<std::string> root_datasets(const Source& source, hid_t file) {
  std::vector<std::string> links;
  if (H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, append_name, &links) < 0) {
    fail_hdf5(source, "cannot list the root group");
  }
  std::erase_if(links, [&](const std::string& name) {
    const Hdf5Handle object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose);
    return !object.valid() || H5Iget_type(object.get()) != H5I_DATASET;
  });
  return links;
}

std::optional<std::string> read_string(hid_t attribute, hid_t type) {
  if (H5Tis_variable_str(type) > 0) {
    const Hdf5Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(memory.get(), H5T_VARIABLE);
    H5Tset_cset(memory.get(), H5Tget_cset(type));
    char* text = nullptr;
    if (H5Aread(attribute, memory.get(), &text) < 0 || text == nullptr) return std::nullopt;
    std::string value(text);
    H5free_memory(text);
    return value;
  }
  const std::size_t size = H5Tget_size(type);
  if (size == 0 || size > kLongestAttribute) return std::nullopt;
  std::string value(size, '\0');
  if (H5Aread(attribute, type, value.data()) < 0) return std::nullopt;
  value.resize(value.find_last_not_of('\0') + 1);
  return value;
}

std::optional<std::string> read_attribute(hid_t attribute) {
  const Hdf5Handle type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  if (!type.valid() || !space.valid() || H5Sget_simple_extent_npoints(space.get()) != 1) return std::nullopt;
  const H5T_class_t kind = H5Tget_class(type.get());
  if (kind == H5T_STRING) return read_string(attribute, type.get());
  if (kind != H5T_INTEGER || H5Tget_size(type.get()) > 8) return std::nullopt;
  std::int64_t value = 0;
  if (H5Aread(attribute, H5T_NATIVE_INT64, &value) < 0) return std::nullopt;
  return std::to_string(value);
}

herr_t append_attribute(hid_t group, const char* name, const H5A_info_t*, void* attributes) noexcept try {
  const Hdf5Handle attribute(H5Aopen(group, name, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid()) return 0;
  if (const auto value = read_attribute(attribute.get())) (*static_cast<Attributes*>(attributes))[name] = *value;
  return 0;
} catch (const std::bad_alloc&) {
  return -1;
}

// Attributes are descriptions; what cannot be read of them is left out.
Attributes read_attributes(hid_t file) {
  Attributes attributes;
  const Hdf5Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
  if (root.valid()) H5Aiterate2(root.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, append_attribute, &attributes);
  return attributes;
}

}  // namespace

std::vector<std::string> hdf5_names(const Source& source) {
  const Hdf5Session session;
  const Hdf5Handle file = open_file(source);
  return root_datasets(source, file.get());
}

Array parse_hdf5(const Source& source, const std::string& name) {
  const Hdf5Session session;
  const Hdf5Handle file = open_file(source);
  const Attributes attributes = read_attributes(file.get());
  const auto type = attributes.find("type");
  if (type != attributes.end() && type->second == "sparse") {
    fail(source, "attribute type = 'sparse': sparse sets are not read");
  }
  const Hdf5Handle dataset = open_dataset(source, file.get(), name);
  const Layout layout = read_layout(source, dataset.get(), name);
  if (auto view = view_dataset(source, dataset.get(), layout)) return *view;
  return copy_dataset(source, dataset.get(), layout);
}

FileInfo describe_hdf5(const Source& source) {
  const Hdf5Session session;
  const Hdf5Handle file = open_file(source);
  FileInfo info;
  info.format = Format::hdf5;
  info.attributes = read_attributes(file.get());
  for (const std::string& name : root_datasets(source, file.get())) {
    try {
      info.arrays.push_back(read_layout(source, open_dataset(source, file.get(), name).get(), name).info);
    } catch (const Error& error) {
      info.arrays.push_back({});
      info.arrays.back().name = name;
      info.arrays.back().problem = error.what();
    }
  }
  return info;
}

}  // namespace kith::io
