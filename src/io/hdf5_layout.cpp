#include "io/hdf5_layout.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "io/deflate.hpp"
#include "io/hdf5_open.hpp"

namespace kith::io {
namespace {

using Storage = Hdf5Layout::Storage;

// A chunk may be larger than its dataset, which can grow; it is held in memory whole.
constexpr std::int64_t kLargestSpareChunk = std::int64_t{64} << 20;

constexpr auto kMostDim = static_cast<hsize_t>(std::numeric_limits<std::int64_t>::max());

// Other layouts of these sizes exist, which libhdf5 would convert.
std::optional<StoredType::Kind> floating_kind(hid_t type, std::size_t bytes) {
  struct Fields {
    std::size_t bytes, sign, exponent, exponent_bits, fraction, fraction_bits, bias;
    bool operator==(const Fields&) const = default;
  };
  constexpr std::array kIeee = {Fields{2, 15, 10, 5, 0, 10, 15}, Fields{4, 31, 23, 8, 0, 23, 127},
                                Fields{8, 63, 52, 11, 0, 52, 1023}};
  constexpr Fields kBFloat = {2, 15, 7, 8, 0, 7, 127};
  Fields fields = {bytes, 0, 0, 0, 0, 0, H5Tget_ebias(type)};
  if (H5Tget_fields(type, &fields.sign, &fields.exponent, &fields.exponent_bits, &fields.fraction,
                    &fields.fraction_bits) < 0 ||
      H5Tget_norm(type) != H5T_NORM_IMPLIED)
    return std::nullopt;
  if (fields == kBFloat) return StoredType::Kind::bfloat;
  if (std::find(kIeee.begin(), kIeee.end(), fields) != kIeee.end()) return StoredType::Kind::floating;
  return std::nullopt;
}

StoredType read_type(const Source& source, const std::string& name, hid_t dataset) {
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  if (!type.valid()) fail_hdf5(source, "dataset " + in_quotes(name) + ": unreadable type");
  const H5T_class_t kind = H5Tget_class(type.get());
  const std::size_t bytes = H5Tget_size(type.get());
  const H5T_order_t order = H5Tget_order(type.get());
  StoredType stored;
  stored.bytes = static_cast<int>(std::min<std::size_t>(bytes, 100));
  stored.big_endian = order == H5T_ORDER_BE;
  const bool ordered = bytes == 1 || order == H5T_ORDER_LE || order == H5T_ORDER_BE;
  if (kind == H5T_FLOAT && (bytes == 2 || bytes == 4 || bytes == 8)) {
    const auto floating = floating_kind(type.get(), bytes);
    if (!ordered || !floating) refuse_dataset(source, name, "its floating type is neither IEEE's nor bfloat16");
    stored.kind = *floating;
    return stored;
  }
  if (kind == H5T_INTEGER && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) {
    if (!ordered || H5Tget_precision(type.get()) != 8 * bytes) {
      refuse_dataset(source, name, "its integers have unused bits");
    }
    const bool has_sign = H5Tget_sign(type.get()) == H5T_SGN_2;
    stored.kind = has_sign ? StoredType::Kind::signed_integer : StoredType::Kind::unsigned_integer;
    return stored;
  }
  if (kind == H5T_FLOAT) refuse_dataset(source, name, "floats of " + std::to_string(bytes) + " bytes are not read");
  refuse_dataset(source, name, "not made of floats or integers");
}

void read_shape(const Source& source, hid_t dataset, ArrayInfo& info) {
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = space.valid() ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (rank < 1 || rank > 2 || H5Sget_simple_extent_type(space.get()) != H5S_SIMPLE) {
    refuse_dataset(source, info.name,
                   "it has " + std::to_string(std::max(rank, 0)) + " dimensions; one or two are read");
  }
  hsize_t dims[2] = {0, 1};
  if (H5Sget_simple_extent_dims(space.get(), dims, nullptr) != rank) {
    fail_hdf5(source, "dataset " + in_quotes(info.name) + ": unreadable dimensions");
  }
  if (dims[0] > kMostDim || dims[1] > kMostDim) refuse_dataset(source, info.name, "its dimensions exceed 63 bits");
  info.rank = rank;
  info.rows = static_cast<std::int64_t>(dims[0]);
  info.cols = static_cast<std::int64_t>(dims[1]);
}

std::optional<Hdf5Filter> known_filter(H5Z_filter_t filter) {
  switch (filter) {
    case H5Z_FILTER_DEFLATE: return Hdf5Filter::deflate;
    case H5Z_FILTER_SHUFFLE: return Hdf5Filter::shuffle;
    case H5Z_FILTER_FLETCHER32: return Hdf5Filter::fletcher32;
    default: return std::nullopt;
  }
}

void read_filters(const Source& source, hid_t creation, Hdf5Layout& layout) {
  const int count = H5Pget_nfilters(creation);
  if (count < 0) fail_hdf5(source, "dataset " + in_quotes(layout.info.name) + ": unreadable filters");
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    unsigned parameter = 0;
    std::size_t parameters = 1;
    char name[64] = {};
    const H5Z_filter_t id = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &parameters, &parameter,
                                           sizeof name - 1, name, nullptr);
    const std::string shown = "filter " + std::to_string(id) + " (" + printable(name) + ")";
    const std::optional<Hdf5Filter> filter = known_filter(id);
    if (!filter) refuse_dataset(source, layout.info.name, shown + " is not read; deflate, shuffle and fletcher32 are");
    if (std::find(layout.filters.begin(), layout.filters.end(), *filter) != layout.filters.end()) {
      refuse_dataset(source, layout.info.name, shown + " is applied more than once; once is read");
    }
    if (*filter == Hdf5Filter::shuffle && (parameters < 1 || parameter != static_cast<unsigned>(layout.stored.bytes))) {
      refuse_dataset(source, layout.info.name,
                     shown + " takes elements of " + std::to_string(parameter) +
                         " bytes, the dataset has elements of " + std::to_string(layout.stored.bytes));
    }
    layout.filters.push_back(*filter);
  }
}

void read_chunks(const Source& source, hid_t creation, hsize_t stored, Hdf5Layout& layout) {
  const std::string& name = layout.info.name;
  hsize_t dims[2] = {1, 1};
  if (H5Pget_chunk(creation, 2, dims) != layout.info.rank || dims[0] < 1 || dims[1] < 1) {
    refuse_dataset(source, name, "unreadable chunks");
  }
  layout.chunk_rows = static_cast<std::int64_t>(std::min(dims[0], kMostDim));
  layout.chunk_cols = static_cast<std::int64_t>(std::min(dims[1], kMostDim));
  layout.chunk_bytes = byte_count(layout.chunk_rows, layout.chunk_cols, layout.stored.bytes);
  const std::int64_t most = std::max(layout.bytes, kLargestSpareChunk);
  if (layout.chunk_bytes < 0 || layout.chunk_bytes > most) {
    refuse_dataset(source, name,
                   "chunks of " + counted(layout.chunk_rows, "row") + " of " + counted(layout.chunk_cols, "column") +
                       " exceed " + std::to_string(most) + " bytes, the most that is read for a dataset of " +
                       std::to_string(layout.bytes));
  }
  const std::int64_t down = (layout.info.rows - 1) / layout.chunk_rows + 1;
  const std::int64_t across = (layout.info.cols - 1) / layout.chunk_cols + 1;
  const std::int64_t chunks = down * across;
  // Looking for chunks that are not there takes time, too.
  if (chunks > static_cast<std::int64_t>(stored)) {
    refuse_dataset(source, name,
                   std::to_string(chunks) + " chunks cannot be in the " + std::to_string(stored) + " bytes stored");
  }
  read_filters(source, creation, layout);
}

void check_size(const Source& source, hsize_t stored, const Hdf5Layout& layout) {
  const ArrayInfo& info = layout.info;
  const std::string shape = counted(info.rows, "row") + " of " + counted(info.cols, "column");
  if (stored > source.size()) {
    refuse_dataset(
        source, info.name,
        "it is said to store " + std::to_string(stored) + " bytes but the file has " + std::to_string(source.size()));
  }
  if (stored == 0 && layout.bytes != 0) {
    refuse_dataset(source, info.name,
                   "none of its " + shape + " were ever written; a dataset of fill values alone is not read");
  }
  const std::int64_t factor = layout.storage == Storage::chunked ? kMostUnpacked : 1;
  const std::int64_t least = layout.bytes / factor + (layout.bytes % factor != 0 ? 1 : 0);
  if (layout.bytes < 0 || least > static_cast<std::int64_t>(stored)) {
    refuse_dataset(source, info.name, shape + " cannot be in the " + std::to_string(stored) + " bytes stored");
  }
}

void read_storage(const Source& source, hid_t dataset, Hdf5Layout& layout) {
  const std::string& name = layout.info.name;
  const Hdf5Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (!creation.valid()) fail_hdf5(source, "dataset " + in_quotes(name));
  const H5D_layout_t kind = H5Pget_layout(creation.get());
  if (kind == H5D_VIRTUAL || H5Pget_external_count(creation.get()) != 0) {
    refuse_dataset(source, name, "its data is in other files");
  }
  layout.storage = kind == H5D_CHUNKED   ? Storage::chunked
                   : kind == H5D_COMPACT ? Storage::compact
                                         : Storage::contiguous;
  layout.bytes = byte_count(layout.info.rows, layout.info.cols, layout.stored.bytes);
  const hsize_t stored = H5Dget_storage_size(dataset);
  check_size(source, stored, layout);
  if (kind == H5D_CHUNKED && layout.bytes > 0) read_chunks(source, creation.get(), stored, layout);
}

}  // namespace

Hdf5Layout read_layout(const Source& source, hid_t dataset, const std::string& name) {
  Hdf5Layout layout;
  layout.info.name = name;
  layout.stored = read_type(source, name, dataset);
  layout.info.type = loaded_type(layout.stored);
  read_shape(source, dataset, layout.info);
  read_storage(source, dataset, layout);
  return layout;
}

}  // namespace kith::io
