#include <hdf5.h>

#include "io/hdf5.hpp"
#include "io/hdf5_attributes.hpp"
#include "io/hdf5_chunks.hpp"
#include "io/hdf5_layout.hpp"
#include "io/hdf5_open.hpp"

namespace kith::io {
namespace {

// A view into the source where the bytes at `data` are native and aligned, else a converted copy.
Array view_or_decode(const Source& source, const Hdf5Layout& layout, const std::byte* data,
                     std::shared_ptr<const void> owner) {
  const ArrayInfo& info = layout.info;
  if (is_native(layout.stored) && is_aligned(data, info.type)) {
    return {info.type, info.rank, info.rows, info.cols, data, info.cols, 1, std::move(owner)};
  }
  const std::int64_t count = info.rows * info.cols;
  const auto copy = allocate(count * size_of(info.type));
  const std::int64_t refused = decode(layout.stored, data, layout.stored.bytes, count, copy.get());
  if (refused != kAllDecoded) {
    refuse_number(source, layout, refused / info.cols, refused % info.cols, data + refused * layout.stored.bytes);
  }
  return {info.type, info.rank, info.rows, info.cols, copy.get(), info.cols, 1, copy};
}

Array read_contiguous(const Source& source, hid_t dataset, const Hdf5Layout& layout) {
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF || offset > source.size() ||
      source.size() - offset < static_cast<std::size_t>(layout.bytes)) {
    refuse_dataset(source, layout.info.name,
                   "its " + std::to_string(layout.bytes) + " bytes at " + std::to_string(offset) +
                       " are not all in the file, which has " + std::to_string(source.size()));
  }
  return view_or_decode(source, layout, source.bytes.data() + offset, source.owner);
}

// Compact data lies in the dataset's header, at most 64 KiB of it.
Array read_compact(const Source& source, hid_t dataset, const Hdf5Layout& layout) {
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  const auto data = allocate(layout.bytes);
  if (H5Dread(dataset, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data.get()) < 0) {
    fail_hdf5(source, "dataset " + in_quotes(layout.info.name));
  }
  return view_or_decode(source, layout, data.get(), data);
}

Array read_dataset(const Source& source, hid_t dataset, const Hdf5Layout& layout) {
  const ArrayInfo& info = layout.info;
  if (layout.bytes == 0) {
    const auto nothing = allocate(0);
    return {info.type, info.rank, info.rows, info.cols, nothing.get(), info.cols, 1, nothing};
  }
  switch (layout.storage) {
    case Hdf5Layout::Storage::contiguous: return read_contiguous(source, dataset, layout);
    case Hdf5Layout::Storage::compact: return read_compact(source, dataset, layout);
    case Hdf5Layout::Storage::chunked: break;
  }
  return read_chunked(source, dataset, layout);
}

}  // namespace

std::vector<std::string> hdf5_names(const Source& source) {
  const Hdf5Session session;
  const Hdf5Handle file = open_hdf5(source);
  return root_datasets(source, file.get());
}

Array parse_hdf5(const Source& source, const std::string& name) {
  const Hdf5Session session;
  const Hdf5Handle file = open_hdf5(source);
  const Attributes attributes = read_hdf5_attributes(source);
  const auto type = attributes.find("type");
  if (type != attributes.end() && type->second == "sparse") {
    fail(source, "attribute type = 'sparse': sparse sets are not read");
  }
  const Hdf5Handle dataset = open_dataset(source, file.get(), name);
  return read_dataset(source, dataset.get(), read_layout(source, dataset.get(), name));
}

FileInfo describe_hdf5(const Source& source) {
  const Hdf5Session session;
  const Hdf5Handle file = open_hdf5(source);
  FileInfo info;
  info.format = Format::hdf5;
  info.attributes = read_hdf5_attributes(source);
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
