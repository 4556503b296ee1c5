// file.hpp: the file of a collection.
// Layout  64 bytes (FileStart), a head in JSON, then sections that begin at multiples of 4096 bytes: points, ids, tags,
//         and what the index has prepared. Numbers are those of the machine that wrote them. docs/formats.md has more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/parts.hpp"
#include "kith/collection.hpp"

namespace kith::api {

inline constexpr int kFileVersion = 1;

// What a file is written of; `chunks` are its bytes in order.
struct FileSection {
  std::string name;
  std::vector<std::span<const std::byte>> chunks;
};

// The head, but for the sections.
struct FileHead {
  DType dtype = DType::float32;
  std::int64_t rows = 0;
  std::int64_t dims = 0;
  std::int64_t first_id = 0;  // where ids count on
  std::int64_t next_id = 0;   // of points that come without one
  Options options;
};

// Whole or not at all. Throws Error(cannot_write), and Error(cancelled) where `progress`, which counts bytes, says so.
void write_file(const std::string& path, const FileHead& head, const std::vector<FileSection>& sections,
                const ProgressCallback& progress);

// A file in memory.
class MappedFile {
 public:
  // Throws Error(bad_data) for what is no such file, or damaged where that can be seen without reading it whole.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  const FileHead& head() const { return head_; }
  // Sections, which live as long as this; without those of points and their labels.
  backend::Parts prepared() const;
  const backend::Parts& sections() const { return sections_; }
  // Compares all checksums.
  void verify() const;
  CollectionInfo info() const;

 private:
  void read_head();
  void check_numbers() const;
  void check_sections() const;

  std::string path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  FileHead head_;
  backend::Parts sections_;
};

// Whether points that come without an id may be numbered from `next` on where `largest` is there.
inline bool is_id_after(std::int64_t next, std::int64_t largest) {
  return next > largest || (next == largest && next == std::numeric_limits<std::int64_t>::max());
}

inline constexpr std::string_view kPointsSection = "points";
inline constexpr std::string_view kIdsSection = "ids";
inline constexpr std::string_view kTagsSection = "tags";

}  // namespace kith::api
