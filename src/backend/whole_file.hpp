// whole_file.hpp: a file that appears whole or not at all. Its bytes have no name until commit(), where the system has
// such files: whoever is killed before leaves nothing behind, and what was there before stays as it was. A file that
// takes another one's place has a name beside it for a moment, since only what has one can be exchanged. Whoever is
// killed then leaves that name to the next WholeFile of the path, which removes it: it is locked as long as its writer
// lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kith::backend {

class WholeFile {
 public:
  // Throws Error(cannot_write), as all functions.
  explicit WholeFile(const std::string& path);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::span<const std::byte> bytes, std::int64_t offset);
  // Brings the bytes to the disk, and the file in the place of what has its path.
  void commit();

 private:
  void open(unsigned mode);
  bool create_named(const std::string& name, unsigned mode);
  bool link_as(const std::string& name);
  [[noreturn]] void fail(const char* what, int error) const;

  std::string path_;         // as the caller wrote it
  std::string destination_;  // with symbolic links resolved
  std::string temporary_;    // empty while the file has no name
  int file_ = -1;
};

}  // namespace kith::backend
