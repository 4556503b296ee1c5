#include <zip.h>

#include <algorithm>
#include <memory>
#include <string_view>

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

  // Unpacks the entry, or its first `most` bytes.
  Source read(const Entry& entry, std::size_t most) const {
    const std::string name = source_.name + "(" + entry.file + ")";
    check_readable(entry, name);
    const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(zip_.get(), entry.index, 0),
                                                                 zip_fclose);
    if (file == nullptr) fail(source_, in_quotes(entry.file) + ": " + zip_strerror(zip_.get()));
    Spool spool;
    while (spool.size() < most) {
      const auto room = spool.room();
      const zip_int64_t count = zip_fread(file.get(), room.data(), std::min(room.size(), most - spool.size()));
      if (count < 0) {
        fail(source_,
             in_quotes(entry.file) + ": byte " + std::to_string(spool.size()) + ": " + zip_file_strerror(file.get()));
      }
      if (count == 0) break;
      spool.arrived(static_cast<std::size_t>(count));
    }
    return spool.finish(name);
  }

 private:
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
    constexpr std::size_t kHeaderBytes = 64 * 1024 + 12;  // all of a version 1 header
    info = describe_npy(parse_npy_header(archive.read(entry, kHeaderBytes)));
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
  return parse_npy(archive.read(archive.find(name), SIZE_MAX));
}

std::vector<ArrayInfo> describe_npz(const Source& source) {
  const Archive archive(source);
  std::vector<ArrayInfo> infos;
  for (const Entry& entry : archive.entries()) infos.push_back(describe_entry(archive, entry));
  return infos;
}

}  // namespace kith::io
