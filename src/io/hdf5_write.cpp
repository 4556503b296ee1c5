#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "io/hdf5.hpp"
#include "io/hdf5_handle.hpp"
#include "io/hdf5_image.hpp"
#include "io/output_file.hpp"
#include "io/row_blocks.hpp"

namespace kith::io {
namespace {

constexpr int kDeflateLevel = 4;

// A float of 16 bits by its fields: libhdf5 has names for such types from version 1.14.4 (IEEE's) and 2.0 (bfloat16).
// No field may reach beyond the size, so they shrink before it does.
Hdf5Handle float16_type(std::size_t exponent_bits) {
  const std::size_t fraction_bits = 15 - exponent_bits;
  const std::size_t bias = (std::size_t{1} << (exponent_bits - 1)) - 1;
  Hdf5Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  const bool made = H5Tset_fields(type.get(), 15, fraction_bits, exponent_bits, 0, fraction_bits) >= 0 &&
                    H5Tset_size(type.get(), 2) >= 0 && H5Tset_ebias(type.get(), bias) >= 0;
  return made ? std::move(type) : Hdf5Handle(H5I_INVALID_HID, H5Tclose);
}

Hdf5Handle file_type(ElementType type) {
  switch (type) {
    case ElementType::float16: return float16_type(5);
    case ElementType::bfloat16: return float16_type(8);
    case ElementType::float32: return {H5Tcopy(H5T_IEEE_F32LE), H5Tclose};
    case ElementType::float64: return {H5Tcopy(H5T_IEEE_F64LE), H5Tclose};
    case ElementType::uint8: return {H5Tcopy(H5T_STD_U8LE), H5Tclose};
    case ElementType::int8: return {H5Tcopy(H5T_STD_I8LE), H5Tclose};
    case ElementType::int32: return {H5Tcopy(H5T_STD_I32LE), H5Tclose};
    case ElementType::int64: break;
  }
  return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
}

// More than libhdf5 can need: data, padding of the last chunk, headers and index nodes.
std::size_t largest_size(const NamedArrays& arrays, const Attributes& attributes) {
  constexpr std::int64_t kFile = 1 << 20;
  constexpr std::int64_t kDataset = 1 << 13;
  constexpr std::int64_t kGroup = 1 << 11;
  constexpr std::int64_t kAttribute = 1 << 12;
  std::int64_t size = kFile;
  for (const auto& [name, array] : arrays) {
    const std::int64_t row_bytes = array.cols() * size_of(array.type());
    const std::int64_t data = (array.rows() + std::min(array.rows(), rows_per_block(row_bytes))) * row_bytes;
    size += kDataset + data + data / 64 + 4 * static_cast<std::int64_t>(name.size());
    size += kGroup * std::count(name.begin(), name.end(), '/');
  }
  for (const auto& [name, value] : attributes) {
    size += kAttribute + 4 * static_cast<std::int64_t>(name.size() + value.size());
  }
  return static_cast<std::size_t>(size);
}

class Writer {
 public:
  Writer(OutputFile& output, std::size_t reserve) : output_(output), image_(output, reserve), file_(create()) {}

  void write(const std::string& name, const Array& array, bool compress) {
    const hsize_t dims[2] = {static_cast<hsize_t>(array.rows()), static_cast<hsize_t>(array.cols())};
    const Hdf5Handle space(H5Screate_simple(array.rank(), dims, nullptr), H5Sclose);
    const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    check(H5Pset_create_intermediate_group(links.get(), 1) >= 0 &&
          H5Pset_char_encoding(links.get(), H5T_CSET_UTF8) >= 0);
    check(H5Pset_obj_track_times(creation.get(), false) >= 0);  // equal arrays make equal files
    if (compress && array.size() > 0) {
      const hsize_t chunk[2] = {
          static_cast<hsize_t>(std::min(array.rows(), rows_per_block(array.cols() * size_of(array.type())))), dims[1]};
      check(H5Pset_chunk(creation.get(), array.rank(), chunk) >= 0 && H5Pset_shuffle(creation.get()) >= 0 &&
            H5Pset_deflate(creation.get(), kDeflateLevel) >= 0);
    }
    const Hdf5Handle type = file_type(array.type());
    check(type.valid());
    Hdf5Handle dataset(
        H5Dcreate2(file_.get(), name.c_str(), type.get(), space.get(), links.get(), creation.get(), H5P_DEFAULT),
        H5Dclose);
    check(dataset.valid());
    write_rows(dataset.get(), type.get(), space.get(), array);
    check(dataset.close());
  }

  void write_attribute(const std::string& name, const std::string& value) {
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    check(H5Tset_size(type.get(), H5T_VARIABLE) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0);
    Hdf5Handle attribute(H5Acreate2(file_.get(), name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
    check(attribute.valid());
    const char* text = value.c_str();
    check(H5Awrite(attribute.get(), type.get(), &text) >= 0);
    check(attribute.close());
  }

  void finish() {
    check(H5Fflush(file_.get(), H5F_SCOPE_LOCAL) >= 0);
    const ssize_t size = H5Fget_file_image(file_.get(), nullptr, 0);
    check(size > 0);
    check(file_.close());
    image_.finish(static_cast<std::size_t>(size));
  }

 private:
  Hdf5Handle create() {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    check(image_.attach(access.get()));
    Hdf5Handle file(H5Fcreate(hdf5_memory_name().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
    check(file.valid());
    return file;
  }

  void write_rows(hid_t dataset, hid_t type, hid_t space, const Array& array) {
    hsize_t row = 0;
    for_row_blocks(array, array.type(), [&](const std::byte* rows, std::int64_t count) {
      const hsize_t start[2] = {row, 0};
      const hsize_t size[2] = {static_cast<hsize_t>(count), static_cast<hsize_t>(array.cols())};
      const Hdf5Handle memory(H5Screate_simple(array.rank(), size, nullptr), H5Sclose);
      check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, size, nullptr) >= 0);
      check(H5Dwrite(dataset, type, memory.get(), space, H5P_DEFAULT, rows) >= 0);
      row += static_cast<hsize_t>(count);
    });
  }

  void check(bool succeeded) const {
    if (!succeeded) output_.fail(Hdf5Session::reason());
  }

  OutputFile& output_;
  Hdf5Image image_;  // outlives the file in it
  Hdf5Handle file_;
};

}  // namespace

void write_hdf5(OutputFile& file, const NamedArrays& arrays, const Attributes& attributes, bool compress) {
  const Hdf5Session session;
  Writer writer(file, largest_size(arrays, attributes));
  for (const auto& [name, array] : arrays) writer.write(name, array, compress);
  for (const auto& [name, value] : attributes) writer.write_attribute(name, value);
  writer.finish();
}

}  // namespace kith::io
