#include <zip.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "io/deflate.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"

namespace kith::io {
namespace {

constexpr std::string_view kSuffix = ".npy";

struct Entry {
  zip_uint64_t index;
  std::string file;  // inside the archive
  std::string name;  // without the suffix
  zip_stat_t status;
};

// An entry, unpacked as far as somebody asks.
class Unpacking {
 public:
  Unpacking(std::string name, zip_file_t* file) : name_(std::move(name)), file_(file, zip_fclose) {}

  // Until there are `most` bytes or the entry ends.
  void advance(std::size_t most) {
    while (spool_.size() < most) {
      const auto room = spool_.room();
      const zip_int64_t count = zip_fread(file_.get(), room.data(), std::min(room.size(), most - spool_.size()));
      if (count < 0) fail_at(so_far(), spool_.size(), zip_file_strerror(file_.get()));
      if (count == 0) break;
      spool_.arrived(static_cast<std::size_t>(count));
    }
  }

  std::size_t size() const { return spool_.size(); }
  Source so_far() const { return {name_, spool_.bytes(), nullptr}; }  // until it advances
  Source finish() { return spool_.finish(name_); }

 private:
  std::string name_;
  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file_;
  Spool spool_;
};

class Archive {
 public:
  explicit Archive(const Source& source) : source_(source) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* bytes = zip_source_buffer_create(source.bytes.data(), source.size(), 0, &error);
    zip_.reset(bytes == nullptr ? nullptr : zip_open_from_source(bytes, ZIP_RDONLY, &error));
    if (zip_ == nullptr) {
      const std::string reason = zip_error_strerror(&error);
      zip_error_fini(&error);
      zip_source_free(bytes);
      fail(source, "not a readable zip archive: " + reason);
    }
    zip_error_fini(&error);
    read_entries();
  }

  const std::vector<Entry>& entries() const { return entries_; }

  const Entry& find(const std::string& name) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
    if (found == entries_.end()) {
      throw Error(ErrorCode::invalid_argument, source_.name + " has no array " + in_quotes(name));
    }
    return *found;
  }

  NpyHeader read_header(const Entry& entry) const {
    Unpacking unpacking = unpack(entry);
    unpacking.advance(kLongestNpyHeader);
    return parse_npy_header(unpacking.so_far());
  }

  Array read_array(const Entry& entry) const {
    Unpacking unpacking = unpack(entry);
    unpacking.advance(kLongestNpyHeader);
    const NpyHeader header = parse_npy_header(unpacking.so_far());
    const std::int64_t needed = byte_count(header.rows, header.cols, header.stored.bytes);
    const zip_uint64_t packed = entry.status.comp_size;
    if (needed < 0 || static_cast<zip_uint64_t>(needed / kMostUnpacked) > packed) {
      fail(unpacking.so_far(), counted(header.rows, "row") + " of " + counted(header.cols, "column") +
                                   " are more than " + std::to_string(packed) + " packed bytes can hold");
    }
    const std::size_t end = header.data_offset + static_cast<std::size_t>(needed);
    // One byte more shows that the entry is too long, and makes libzip compare the checksum of one that is not.
    unpacking.advance(end + 1);
    if (unpacking.size() > end) fail_at(unpacking.so_far(), end, "more bytes after the array");
    return parse_npy(unpacking.finish());
  }

 private:
  Unpacking unpack(const Entry& entry) const {
    std::string name = source_.name + "(" + printable(entry.file) + ")";
    check_readable(entry, name);
    zip_file_t* file = zip_fopen_index(zip_.get(), entry.index, 0);
    if (file == nullptr) throw Error(ErrorCode::bad_data, name + ": " + zip_strerror(zip_.get()));
    return {std::move(name), file};
  }

  void read_entries() {
    const zip_int64_t count = zip_get_num_entries(zip_.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      Entry entry = {static_cast<zip_uint64_t>(i), "", "", {}};
      if (zip_stat_index(zip_.get(), entry.index, 0, &entry.status) != 0 || entry.status.name == nullptr) {
        fail(source_, "entry " + std::to_string(i) + " of the archive has no name");
      }
      entry.file = entry.status.name;
      entry.name = entry.file;
      if (entry.name.ends_with(kSuffix)) entry.name.resize(entry.name.size() - kSuffix.size());
      if (!entry.file.ends_with('/')) entries_.push_back(std::move(entry));
    }
    check_distinct();
  }

  void check_distinct() const {
    std::vector<std::string_view> names;
    for (const Entry& entry : entries_) names.push_back(entry.name);
    std::sort(names.begin(), names.end());
    const auto twin = std::adjacent_find(names.begin(), names.end());
    if (twin != names.end()) fail(source_, "two arrays are named " + in_quotes(*twin));
  }

  void check_readable(const Entry& entry, const std::string& name) const {
    const auto refuse = [&](const char* reason) { throw Error(ErrorCode::bad_data, name + ": " + reason); };
    if (!entry.file.ends_with(kSuffix)) refuse("not an npy entry");
    if (entry.status.encryption_method != ZIP_EM_NONE) refuse("the entry is encrypted");
    if (entry.status.comp_method != ZIP_CM_STORE && entry.status.comp_method != ZIP_CM_DEFLATE) {
      refuse("the entry is neither stored nor deflated");
    }
  }

  const Source& source_;
  std::unique_ptr<zip_t, void (*)(zip_t*)> zip_{nullptr, zip_discard};
  std::vector<Entry> entries_;
};

ArrayInfo describe_entry(const Archive& archive, const Entry& entry) {
  ArrayInfo info;
  try {
    info = describe_npy(archive.read_header(entry));
  } catch (const Error& error) {
    info.problem = error.what();
  }
  info.name = entry.name;
  return info;
}

}  // namespace

std::vector<std::string> npz_names(const Source& source) {
  std::vector<std::string> names;
  const Archive archive(source);
  for (const Entry& entry : archive.entries()) names.push_back(entry.name);
  return names;
}

Array parse_npz(const Source& source, const std::string& name) {
  const Archive archive(source);
  return archive.read_array(archive.find(name));
}

NamedArrays parse_npz(const Source& source) {
  const Archive archive(source);
  NamedArrays arrays;
  for (const Entry& entry : archive.entries()) arrays.emplace_back(entry.name, archive.read_array(entry));
  return arrays;
}

std::vector<ArrayInfo> describe_npz(const Source& source) {
  const Archive archive(source);
  std::vector<ArrayInfo> infos;
  for (const Entry& entry : archive.entries()) infos.push_back(describe_entry(archive, entry));
  return infos;
}

}  // namespace kith::io
