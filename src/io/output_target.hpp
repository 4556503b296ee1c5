// Where an output path leads, looked at before anything is written.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

namespace kith::io {

struct OutputTarget {
  std::string path;     // with symbolic links followed
  bool direct = false;  // a pipe, a device or an open descriptor, which is written as it is
  bool exists = false;
  struct stat status = {};  // of the file, where it exists
};

// Follows symbolic links as the system does, one after the other. Error(cannot_write) naming `path` for a folder, a
// link that leads nowhere, and another user's link in a folder where everybody may leave one (the rule of
// fs.protected_symlinks, kept whatever that is set to).
OutputTarget find_target(const std::string& path);

// "-" and /dev/stdout.
bool is_standard_output(const std::string& path);

[[noreturn]] void fail_write(const std::string& path, const std::string& reason);
[[noreturn]] void fail_write(const std::string& path, int error);

}  // namespace kith::io
