// libzip pulls each entry from an NpyStream and pushes the archive into a ZipTarget, so nothing is held whole but an
// archive that goes to a pipe: zip writers seek.
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "io/npy_stream.hpp"
#include "io/npz.hpp"
#include "io/output_file.hpp"
#include "io/source.hpp"

namespace kith::io {
namespace {

struct ZipTarget {
  int file = -1;  // negative: `memory` is the target
  std::vector<std::byte> memory;
  zip_uint64_t position = 0;
  zip_uint64_t length = 0;
  int system_error = 0;
  zip_error_t error = {};

  zip_int64_t write(const void* data, zip_uint64_t size) noexcept {
    if (!(file < 0 ? write_memory(data, size) : write_file(data, size))) {
      zip_error_set(&error, ZIP_ER_WRITE, system_error);
      return -1;
    }
    position += size;
    length = std::max(length, position);
    return static_cast<zip_int64_t>(size);
  }

 private:
  bool write_memory(const void* data, zip_uint64_t size) noexcept {
    try {
      if (memory.size() < position + size) memory.resize(position + size);
    } catch (const std::bad_alloc&) {
      system_error = ENOMEM;
      return false;
    }
    std::memcpy(memory.data() + position, data, size);
    return true;
  }

  bool write_file(const void* data, zip_uint64_t size) noexcept {
    const auto* bytes = static_cast<const std::byte*>(data);
    for (zip_uint64_t done = 0; done < size;) {
      const ssize_t count = ::pwrite(file, bytes + done, size - done, static_cast<off_t>(position + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        system_error = errno;
        return false;
      }
      done += static_cast<zip_uint64_t>(count);
    }
    return true;
  }
};

zip_int64_t target_callback(void* state, void* data, zip_uint64_t size, zip_source_cmd_t command) {
  auto& target = *static_cast<ZipTarget*>(state);
  switch (command) {
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_WRITABLE;
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&target.error, data, size);
    case ZIP_SOURCE_WRITE: return target.write(data, size);
    case ZIP_SOURCE_TELL_WRITE: return static_cast<zip_int64_t>(target.position);
    case ZIP_SOURCE_SEEK_WRITE: {
      const zip_int64_t position =
          zip_source_seek_compute_offset(target.position, target.length, data, size, &target.error);
      if (position < 0) return -1;
      target.position = static_cast<zip_uint64_t>(position);
      return 0;
    }
    case ZIP_SOURCE_STAT:
      zip_stat_init(static_cast<zip_stat_t*>(data));
      static_cast<zip_stat_t*>(data)->valid = ZIP_STAT_SIZE;
      static_cast<zip_stat_t*>(data)->size = 0;
      return sizeof(zip_stat_t);
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_OPEN:
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE: return 0;
    default: zip_error_set(&target.error, ZIP_ER_OPNOTSUPP, 0); return -1;
  }
}

zip_int64_t entry_callback(void* state, void* data, zip_uint64_t size, zip_source_cmd_t command) {
  auto& stream = *static_cast<NpyStream*>(state);
  switch (command) {
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_READABLE;
    case ZIP_SOURCE_OPEN: stream.rewind(); return 0;
    case ZIP_SOURCE_READ: return static_cast<zip_int64_t>(stream.read(static_cast<std::byte*>(data), size));
    case ZIP_SOURCE_STAT:
      zip_stat_init(static_cast<zip_stat_t*>(data));
      static_cast<zip_stat_t*>(data)->valid = ZIP_STAT_SIZE;
      static_cast<zip_stat_t*>(data)->size = stream.size();
      return sizeof(zip_stat_t);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE: return 0;
    default: return -1;
  }
}

using ZipPointer = std::unique_ptr<zip_t, void (*)(zip_t*)>;

ZipPointer create_archive(const OutputFile& file, ZipTarget& target) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_function_create(target_callback, &target, &error);
  ZipPointer zip(source == nullptr ? nullptr : zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error),
                 zip_discard);
  if (zip == nullptr) file.fail(zip_error_strerror(&error));
  zip_error_fini(&error);
  return zip;
}

void add_entry(const OutputFile& file, zip_t* zip, const std::string& name, NpyStream& stream, bool compress) {
  zip_source_t* source = zip_source_function(zip, entry_callback, &stream);
  if (source == nullptr) file.fail(zip_strerror(zip));
  const zip_int64_t index = zip_file_add(zip, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    file.fail(in_quotes(name) + ": " + zip_strerror(zip));
  }
  const auto entry = static_cast<zip_uint64_t>(index);
  constexpr zip_uint16_t kFirstOfJanuary1980 = (1 << 5) | 1;
  if (zip_set_file_compression(zip, entry, compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(zip, entry, 0, kFirstOfJanuary1980, 0) != 0) {
    file.fail(zip_strerror(zip));
  }
}

}  // namespace

void write_npz(OutputFile& file, const NamedArrays& arrays, bool compress) {
  ZipTarget target;
  if (!file.temporary().empty()) target.file = file.descriptor();
  std::vector<std::unique_ptr<NpyStream>> streams;  // outlive the archive
  ZipPointer zip = create_archive(file, target);
  for (const auto& [name, array] : arrays) {
    streams.push_back(std::make_unique<NpyStream>(array));
    add_entry(file, zip.get(), name, *streams.back(), compress);
  }
  if (zip_close(zip.get()) != 0) {
    if (target.system_error != 0) file.fail(target.system_error);
    file.fail(zip_strerror(zip.get()));
  }
  static_cast<void>(zip.release());  // zip_close freed it
  file.write(target.memory.data(), target.memory.size());
}

}  // namespace kith::io
