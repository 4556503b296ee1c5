// libhdf5 does not withstand mutated bytes (a handful of runs find endless loops and crashes inside it, in parsing that
// Kith does not control), so the input is not a file but a recipe: libhdf5 builds a well-formed file from it, of any
// types, shapes, layouts, filters, links and attributes, and Kith must read it or refuse it. What it reads must be what
// was written.
#include <fuzzer/FuzzedDataProvider.h>
#include <hdf5.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fuzz_reader.hpp"
#include "io/hdf5.hpp"
#include "io/hdf5_handle.hpp"

namespace kith::io {
namespace {

constexpr hsize_t kMostElements = 4096;

struct Written {
  std::string name;
  std::vector<hsize_t> dims;
  std::vector<std::int8_t> values;  // exact in every type; empty when none were written
};

// IEEE's half precision with 5 bits of exponent, bfloat16 with 8.
Hdf5Handle float16_type(std::size_t exponent_bits, hid_t order) {
  Hdf5Handle type(H5Tcopy(order), H5Tclose);
  H5Tset_fields(type.get(), 15, 15 - exponent_bits, exponent_bits, 0, 15 - exponent_bits);
  H5Tset_size(type.get(), 2);
  H5Tset_ebias(type.get(), (std::size_t{1} << (exponent_bits - 1)) - 1);
  return type;
}

Hdf5Handle any_type(FuzzedDataProvider& input) {
  const hid_t plain[] = {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_STD_I8LE,
                         H5T_STD_U8LE,   H5T_STD_I16BE,  H5T_STD_U16LE,  H5T_STD_I32LE,  H5T_STD_I32BE,
                         H5T_STD_U32BE,  H5T_STD_I64LE,  H5T_STD_I64BE,  H5T_STD_U64LE,  H5T_STD_U64BE,
                         H5T_C_S1,       H5T_STD_B8LE,   H5T_STD_REF_OBJ};
  Hdf5Handle type(H5Tcopy(plain[input.ConsumeIntegralInRange<std::size_t>(0, std::size(plain) - 1)]), H5Tclose);
  switch (input.ConsumeIntegralInRange(0, 6)) {
    case 0: H5Tset_precision(type.get(), input.ConsumeIntegralInRange<std::size_t>(1, 64)); break;
    case 1: H5Tset_size(type.get(), input.ConsumeIntegralInRange<std::size_t>(1, 20)); break;
    case 2: type = Hdf5Handle(H5Tvlen_create(type.get()), H5Tclose); break;
    case 3: type = Hdf5Handle(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose); break;
    case 4: type = float16_type(5, input.ConsumeBool() ? H5T_IEEE_F32LE : H5T_IEEE_F32BE); break;
    case 5: type = float16_type(8, input.ConsumeBool() ? H5T_IEEE_F32LE : H5T_IEEE_F32BE); break;
    default: break;
  }
  return type;
}

std::vector<hsize_t> any_dims(FuzzedDataProvider& input, std::size_t rank) {
  const bool small = input.ConsumeBool();
  std::vector<hsize_t> dims(rank);
  for (hsize_t& dim : dims) {
    dim = small ? input.ConsumeIntegralInRange<hsize_t>(0, 12) : input.ConsumeIntegral<hsize_t>();
  }
  return dims;
}

Hdf5Handle any_layout(FuzzedDataProvider& input, std::size_t rank) {
  Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0: H5Pset_layout(creation.get(), H5D_COMPACT); break;
    case 1: H5Pset_external(creation.get(), "elsewhere", 0, H5F_UNLIMITED); break;
    case 2: {
      std::vector<hsize_t> chunk = any_dims(input, rank);
      H5Pset_chunk(creation.get(), static_cast<int>(rank), chunk.data());
      if (input.ConsumeBool()) H5Pset_shuffle(creation.get());
      if (input.ConsumeBool()) H5Pset_deflate(creation.get(), 1);
      if (input.ConsumeBool()) H5Pset_fletcher32(creation.get());
      break;
    }
    default: break;
  }
  return creation;
}

hsize_t element_count(const std::vector<hsize_t>& dims) {
  hsize_t count = 1;
  for (const hsize_t dim : dims) count = dim > kMostElements ? kMostElements + 1 : count * dim;
  return std::min(count, kMostElements + 1);
}

// Values are written where libhdf5 converts them; nothing is written to very large datasets.
void add_dataset(FuzzedDataProvider& input, hid_t file, std::vector<Written>& written) {
  const auto rank = input.ConsumeIntegralInRange<std::size_t>(0, 4);
  const Hdf5Handle type = any_type(input);
  Written set = {input.ConsumeRandomLengthString(6), any_dims(input, rank), {}};
  const Hdf5Handle creation = any_layout(input, std::max<std::size_t>(rank, 1));
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(rank), set.dims.data(), nullptr), H5Sclose);
  const hsize_t count = element_count(set.dims);
  // Early allocation of a large dataset would be libhdf5's, not ours.
  if (count > kMostElements) H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_LATE);
  if (count > kMostElements && H5Pget_layout(creation.get()) == H5D_COMPACT) return;
  const Hdf5Handle dataset(
      H5Dcreate2(file, set.name.c_str(), type.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return;
  const H5T_class_t kind = H5Tget_class(type.get());
  const bool inside = H5Pget_external_count(creation.get()) == 0;
  if (inside && count <= kMostElements && (kind == H5T_INTEGER || kind == H5T_FLOAT)) {
    set.values.resize(count);
    // Values that the narrowest type holds.
    for (std::int8_t& value : set.values) value = static_cast<std::int8_t>(input.ConsumeIntegralInRange(0, 127));
    if (H5Dwrite(dataset.get(), H5T_NATIVE_INT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, set.values.data()) < 0) return;
  }
  written.push_back(std::move(set));
}

void add_attribute(FuzzedDataProvider& input, hid_t file) {
  const Hdf5Handle type = any_type(input);
  const std::vector<hsize_t> dims(input.ConsumeIntegralInRange<std::size_t>(0, 2), 2);
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose);
  const std::string name = input.ConsumeBool() ? "type" : input.ConsumeRandomLengthString(6);
  const Hdf5Handle attribute(H5Acreate2(file, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose);
  const std::vector<char> value(1024, 's');
  if (attribute.valid() && H5Tget_class(type.get()) == H5T_STRING) H5Awrite(attribute.get(), type.get(), value.data());
}

void add_link(FuzzedDataProvider& input, hid_t file) {
  const std::string name = input.ConsumeRandomLengthString(6);
  if (input.ConsumeBool()) {
    H5Lcreate_external("elsewhere", "data", file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  } else {
    H5Lcreate_soft(input.ConsumeRandomLengthString(6).c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  }
}

std::vector<std::uint8_t> build_file(FuzzedDataProvider& input, std::vector<Written>& written) {
  const Hdf5Session session;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access.get(), 4096, false);
  if (input.ConsumeBool()) H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const Hdf5Handle file(H5Fcreate(hdf5_memory_name().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
  while (input.remaining_bytes() > 0) {
    switch (input.ConsumeIntegralInRange(0, 3)) {
      case 0: add_attribute(input, file.get()); break;
      case 1: add_link(input, file.get()); break;
      default: add_dataset(input, file.get(), written); break;
    }
  }
  H5Fflush(file.get(), H5F_SCOPE_LOCAL);
  const ssize_t size = H5Fget_file_image(file.get(), nullptr, 0);
  require(size > 0);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  H5Fget_file_image(file.get(), bytes.data(), bytes.size());
  return bytes;
}

void check_values(const Array& array, const Written& set) {
  require(array.rank() == static_cast<int>(set.dims.size()));
  require(static_cast<hsize_t>(array.rows()) == set.dims[0]);
  const std::vector<double> values = array.values<double>();
  for (std::size_t i = 0; i < set.values.size(); ++i) require(values[i] == set.values[i]);
}

}  // namespace
}  // namespace kith::io

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kith::io;
  FuzzedDataProvider input(data, size);
  std::vector<Written> written;
  const std::vector<std::uint8_t> file = build_file(input, written);
  return fuzz_source(file.data(), file.size(), [&](const Source& source) {
    const FileInfo description = describe_hdf5(source);
    for (const ArrayInfo& info : description.arrays) {
      expect_array_or_error([&] {
        const Array array = parse_hdf5(source, info.name);
        touch(array);
        require_described(array, info);
      });
    }
    for (const Written& set : written) {
      expect_array_or_error([&] { check_values(parse_hdf5(source, set.name), set); });
    }
  });
}
