// byte_store.hpp: points of a search as bytes (byte_rows.hpp); a PointStore has their exact rows and their bias.
#pragma once

#include <optional>

#include "cuda/points/byte_rows.hpp"
#include "cuda/runtime/made_once.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::inline points {

class ByteStore {
 public:
  // Allocates `capacity` points.
  ByteStore(std::int64_t capacity, std::int64_t dims, ByteType type, cudaStream_t stream)
      : dims_(dims), stream_(stream), bytes_(as_size(capacity * byte_row_bytes(dims)), stream) {
    if (type == ByteType::none) throw Error(ErrorCode::internal, "only points of 8-bit integers become bytes");
    rows_ = {bytes_.data(), type, 0, byte_row_bytes(dims)};
  }

  // Rows that are bytes as they lie.
  ByteStore(const ByteRows& lent, std::int64_t dims, cudaStream_t stream) : dims_(dims), stream_(stream), rows_(lent) {}

  // Packs all points of `rows`, at most as many as the capacity.
  void prepare(const PointRows<float>& rows) {
    rows_.count = rows.count;
    if (rows.count > 0) pack_bytes(rows, dims_, rows_, stream_);
  }

  // Points first … first + count − 1.
  ByteRows rows(std::int64_t first, std::int64_t count) const { return rows_.part(first, count); }

 private:
  std::int64_t dims_;
  cudaStream_t stream_;
  DeviceBuffer<unsigned char> bytes_;
  ByteRows rows_;
};

// The base of an index as bytes, made by the first search that needs them. Thread-safe.
class CachedBytes {
 public:
  explicit CachedBytes(ByteType type = ByteType::none) : type_(type) {}

  ByteType type() const { return type_; }
  // Ready when this returns. The points, which are on the device already, must be the same at every call.
  const ByteStore& get(const PointRows<float>& rows, std::int64_t dims) {
    return store_.get([&](std::optional<ByteStore>& store) {
      stream_.emplace();
      store.emplace(rows.count, dims, type_, *stream_);
      store->prepare(rows);
      stream_->synchronize();
    });
  }

 private:
  ByteType type_;
  std::optional<Stream> stream_;  // for most indexes none
  MadeOnce<ByteStore> store_;
};

}  // namespace kith::KITH_BACKEND::inline points
