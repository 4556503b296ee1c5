#include "io/hdf5_open.hpp"

#include <algorithm>
#include <new>

#include "kith/error.hpp"

namespace kith::io {
namespace {

constexpr std::size_t kImageGrowth = 64 * 1024;

// libhdf5 copies a file image at every turn (into a property list, from one to another, into the file) unless it is
// told how: here a copy is the source's memory itself, which is only read.
bool lend_bytes(hid_t access, const Source& source) {
  H5FD_file_image_callbacks_t callbacks = {};
  callbacks.image_malloc = [](std::size_t, H5FD_file_image_op_t, void* bytes) { return bytes; };
  callbacks.image_memcpy = [](void* out, const void*, std::size_t, H5FD_file_image_op_t, void*) { return out; };
  callbacks.image_free = [](void*, H5FD_file_image_op_t, void*) -> herr_t { return 0; };
  callbacks.udata_copy = [](void* bytes) { return bytes; };
  callbacks.udata_free = [](void*) -> herr_t { return 0; };
  auto* bytes = const_cast<std::byte*>(source.bytes.data());
  callbacks.udata = bytes;
  return H5Pset_fapl_core(access, kImageGrowth, false) >= 0 && H5Pset_file_image_callbacks(access, &callbacks) >= 0 &&
         H5Pset_file_image(access, bytes, source.size()) >= 0;
}

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

// Called by libhdf5, through which nothing may be thrown.
herr_t append_name(hid_t, const char* name, const H5L_info_t* info, void* names) noexcept try {
  if (info->type == H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
} catch (const std::bad_alloc&) {
  return -1;
}

}  // namespace

Hdf5Handle open_hdf5(const Source& source) {
  if (source.size() == 0) fail(source, "the file is empty");
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (!lend_bytes(access.get(), source) || H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) < 0) {
    fail_hdf5(source, "cannot prepare to read");
  }
  Hdf5Handle file(H5Fopen(hdf5_memory_name().c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (!file.valid()) fail_hdf5(source, "not a readable HDF5 file");
  return file;
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

void fail_hdf5(const Source& source, const std::string& what) {
  fail(source, what + ": " + printable(Hdf5Session::reason()));
}

void refuse_dataset(const Source& source, const std::string& name, const std::string& reason) {
  fail(source, "dataset " + in_quotes(name) + ": " + reason);
}

}  // namespace kith::io
