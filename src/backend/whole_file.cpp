#include "backend/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <random>

#include "kith/error.hpp"

namespace kith::backend {
namespace {

constexpr int kAttempts = 100;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A name beside the destination that nobody has guessed.
std::string temporary_name(const std::string& destination) {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  const std::size_t slash = destination.rfind('/');
  const std::string name = slash == std::string::npos ? destination : destination.substr(slash + 1);
  return fmt::format("{}/.{}.{:016x}.tmp", folder_of(destination), name.substr(0, 100), random());
}

// The path without symbolic links, where there is something.
std::string resolved(const std::string& path) {
  char buffer[PATH_MAX];
  return ::realpath(path.c_str(), buffer) != nullptr ? std::string(buffer) : path;
}

}  // namespace

WholeFile::WholeFile(const std::string& path) : path_(path), destination_(resolved(path)) {
  struct stat old = {};
  const bool exists = ::stat(destination_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) fail("it is no regular file", 0);
  // Renaming needs no permission on the file itself; overwriting one that is write-protected should.
  if (exists && ::access(destination_.c_str(), W_OK) != 0) fail("cannot replace it", errno);
  const mode_t mode = exists ? 0600 : 0666;
  file_ = ::open(folder_of(destination_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  // File systems without nameless files, and kernels that take the flag for a folder's.
  if (file_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    for (int attempt = 0; file_ < 0 && attempt < kAttempts; ++attempt) {
      temporary_ = temporary_name(destination_);
      file_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (file_ < 0 && errno != EEXIST) break;
    }
    if (file_ < 0) temporary_.clear();
  }
  if (file_ < 0) fail("cannot create a file beside it", errno);
  if (exists && ::fchmod(file_, old.st_mode & 0777) != 0) {
    const int error = errno;
    ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    fail("cannot set its permissions", error);
  }
}

WholeFile::~WholeFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void WholeFile::write(std::span<const std::byte> bytes, std::int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file_, bytes.data(), bytes.size(), offset);
    if (count < 0) {
      if (errno == EINTR) continue;
      fail("writing failed", errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
}

void WholeFile::commit() {
  if (::fsync(file_) != 0) fail("writing failed", errno);
  // A nameless file gets a name first: linking cannot replace.
  if (temporary_.empty()) {
    const std::string self = fmt::format("/proc/self/fd/{}", file_);
    int linked = -1;
    for (int attempt = 0; linked != 0 && attempt < kAttempts; ++attempt) {
      const std::string name = temporary_name(destination_);
      linked = ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
      if (linked == 0) temporary_ = name;
      if (linked != 0 && errno != EEXIST) fail("cannot name it", errno);
    }
    if (linked != 0) fail("cannot name it", EEXIST);
  }
  if (::rename(temporary_.c_str(), destination_.c_str()) != 0) fail("cannot rename it", errno);
  temporary_.clear();
}

void WholeFile::fail(const char* what, int error) const {
  throw Error(ErrorCode::cannot_write, error == 0 ? fmt::format("{}: {}", path_, what)
                                                  : fmt::format("{}: {}: {}", path_, what, std::strerror(error)));
}

}  // namespace kith::backend
