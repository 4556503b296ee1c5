#include "backend/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string_view>
#include <system_error>

#include "kith/error.hpp"

namespace kith::backend {
namespace {

constexpr int kAttempts = 100;
constexpr std::size_t kNumberDigits = 16;
constexpr std::string_view kSuffix = ".tmp";

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// What all names beside the destination begin with.
std::string temporary_prefix(const std::string& destination) {
  const std::size_t slash = destination.rfind('/');
  const std::string name = slash == std::string::npos ? destination : destination.substr(slash + 1);
  return fmt::format(".{}.", name.substr(0, 100));
}

// One that nobody has guessed.
std::string temporary_name(const std::string& destination) {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  return fmt::format("{}/{}{:0{}x}{}", folder_of(destination), temporary_prefix(destination), random(), kNumberDigits,
                     kSuffix);
}

bool is_temporary(std::string_view name, std::string_view prefix) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return name.size() == prefix.size() + kNumberDigits + kSuffix.size() && name.starts_with(prefix) &&
         name.ends_with(kSuffix) &&
         name.substr(prefix.size(), kNumberDigits).find_first_not_of(kDigits) == std::string_view::npos;
}

// Removes what nobody writes any more: a file whose lock can be had.
void remove_if_left(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  ::close(file);
}

// Removes what writers of the destination left that were killed.
void remove_left(const std::string& destination) {
  const std::string prefix = temporary_prefix(destination);
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder_of(destination), error), end; !error && at != end;
       at.increment(error))
    if (is_temporary(at->path().filename().native(), prefix)) remove_if_left(at->path().native());
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
  remove_left(destination_);
  open(exists ? 0600 : 0666);
  if (exists && ::fchmod(file_, old.st_mode & 0777) != 0) {
    const int error = errno;
    ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    fail("cannot set its permissions", error);
  }
}

void WholeFile::open(unsigned mode) {
  file_ = ::open(folder_of(destination_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (file_ >= 0) {
    ::flock(file_, LOCK_EX | LOCK_NB);  // nobody else has it; without locks it is not removed either
    return;
  }
  // File systems without nameless files, and kernels that take the flag for a folder's.
  if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (create_named(temporary_name(destination_), mode)) return;
      if (errno != EEXIST) break;
    }
  fail("cannot create a file beside it", errno);
}

// False, with errno, where it cannot, or another writer removed the file before it was locked (EEXIST).
bool WholeFile::create_named(const std::string& name, unsigned mode) {
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) return false;
  ::flock(file, LOCK_EX);
  struct stat status = {};
  if (::fstat(file, &status) == 0 && status.st_nlink == 0) {
    ::close(file);
    errno = EEXIST;
    return false;
  }
  file_ = file;
  temporary_ = name;
  return true;
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

// Gives the nameless file this name, unless there is something of it.
bool WholeFile::link_as(const std::string& name) {
  const std::string self = fmt::format("/proc/self/fd/{}", file_);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno != EEXIST) fail("cannot name it", errno);
  return false;
}

void WholeFile::commit() {
  if (::fsync(file_) != 0) fail("writing failed", errno);
  if (temporary_.empty()) {
    if (link_as(destination_)) return;
    // Linking cannot replace, so the file gets another name first.
    for (int attempt = 0; temporary_.empty() && attempt < kAttempts; ++attempt)
      if (const std::string name = temporary_name(destination_); link_as(name)) temporary_ = name;
    if (temporary_.empty()) fail("cannot name it", EEXIST);
  }
  if (::rename(temporary_.c_str(), destination_.c_str()) != 0) fail("cannot rename it", errno);
  temporary_.clear();
}

void WholeFile::fail(const char* what, int error) const {
  throw Error(ErrorCode::cannot_write, error == 0 ? fmt::format("{}: {}", path_, what)
                                                  : fmt::format("{}: {}: {}", path_, what, std::strerror(error)));
}

}  // namespace kith::backend
