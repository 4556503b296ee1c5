#include "io/hdf5_chunks.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "io/hdf5_filters.hpp"
#include "io/hdf5_open.hpp"

namespace kith::io {
namespace {

class ChunkReader {
 public:
  ChunkReader(const Source& source, hid_t dataset, const Hdf5Layout& layout)
      : source_(source), dataset_(dataset), layout_(layout) {}

  // The chunk whose first element this is, as elements are stored.
  const std::vector<std::byte>& read(std::int64_t row, std::int64_t col) {
    const hsize_t offset[2] = {static_cast<hsize_t>(row), static_cast<hsize_t>(col)};
    const hsize_t size = stored_size(offset);
    if (size == 0) return fill_chunk();
    // Data that does not become smaller is stored as it is.
    const auto most = static_cast<hsize_t>(layout_.chunk_bytes) * 2 + 64;
    if (size > most || size > source_.size()) {
      fail_chunk(row, col,
                 "it is said to store " + std::to_string(size) + " bytes; at most " +
                     std::to_string(std::min<hsize_t>(most, source_.size())) + " are believed");
    }
    chunk_.resize(size);
    std::uint32_t skipped = 0;
    if (H5Dread_chunk(dataset_, H5P_DEFAULT, offset, &skipped, chunk_.data()) < 0) fail_library();
    const std::string problem = undo_filters(layout_, skipped, chunk_);
    if (!problem.empty()) fail_chunk(row, col, problem);
    return chunk_;
  }

 private:
  // 0 for a chunk that was never written, which is an error to libhdf5 1.10.
  hsize_t stored_size(const hsize_t* offset) const {
    hsize_t size = 0;
    if (H5Dget_chunk_storage_size(dataset_, offset, &size) >= 0) return size;
    if (Hdf5Session::reason() != "chunk storage is not allocated") fail_library();
    return 0;
  }

  const std::vector<std::byte>& fill_chunk() {
    if (!fill_.empty()) return fill_;
    const Hdf5Handle creation(H5Dget_create_plist(dataset_), H5Pclose);
    const Hdf5Handle type(H5Dget_type(dataset_), H5Tclose);
    const auto bytes = static_cast<std::size_t>(layout_.stored.bytes);
    std::byte value[8] = {};
    if (H5Pget_fill_value(creation.get(), type.get(), value) < 0) fail_library();
    fill_.resize(static_cast<std::size_t>(layout_.chunk_bytes));
    for (std::size_t at = 0; at < fill_.size(); at += bytes) std::memcpy(fill_.data() + at, value, bytes);
    return fill_;
  }

  [[noreturn]] void fail_library() const { fail_hdf5(source_, "dataset " + in_quotes(layout_.info.name)); }

  [[noreturn]] void fail_chunk(std::int64_t row, std::int64_t col, const std::string& reason) const {
    refuse_dataset(source_, layout_.info.name,
                   "the chunk at row " + std::to_string(row) + ", column " + std::to_string(col) + ": " + reason);
  }

  const Source& source_;
  hid_t dataset_;
  const Hdf5Layout& layout_;
  std::vector<std::byte> chunk_;
  std::vector<std::byte> fill_;
};

// Puts the part of a chunk that lies inside the dataset into the array.
void place_chunk(const Source& source, const Hdf5Layout& layout, const std::vector<std::byte>& chunk, std::int64_t row,
                 std::int64_t col, std::byte* array) {
  const ArrayInfo& info = layout.info;
  const std::int64_t rows = std::min(layout.chunk_rows, info.rows - row);
  const std::int64_t cols = std::min(layout.chunk_cols, info.cols - col);
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::byte* in = chunk.data() + i * layout.chunk_cols * layout.stored.bytes;
    std::byte* out = array + ((row + i) * info.cols + col) * size_of(info.type);
    const std::int64_t refused = decode(layout.stored, in, layout.stored.bytes, cols, out);
    if (refused != kAllDecoded) {
      refuse_number(source, layout, row + i, col + refused, in + refused * layout.stored.bytes);
    }
  }
}

}  // namespace

Array read_chunked(const Source& source, hid_t dataset, const Hdf5Layout& layout) {
  const ArrayInfo& info = layout.info;
  const auto data = allocate(info.rows * info.cols * size_of(info.type));
  ChunkReader reader(source, dataset, layout);
  for (std::int64_t row = 0; row < info.rows; row += layout.chunk_rows) {
    for (std::int64_t col = 0; col < info.cols; col += layout.chunk_cols) {
      place_chunk(source, layout, reader.read(row, col), row, col, data.get());
    }
  }
  return {info.type, info.rank, info.rows, info.cols, data.get(), info.cols, 1, data};
}

void refuse_number(const Source& source, const Hdf5Layout& layout, std::int64_t row, std::int64_t col,
                   const std::byte* in) {
  refuse_dataset(
      source, layout.info.name,
      "row " + std::to_string(row) + ", column " + std::to_string(col) + ": " + refused_number(layout.stored, in));
}

}  // namespace kith::io
