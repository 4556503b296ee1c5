#include "io/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <system_error>
#include <utility>

#include "io/temporaries.hpp"
#include "kith/error.hpp"

namespace kith::io {
namespace {

constexpr std::size_t kBufferBytes = 1 << 18;

std::string random_suffix() {
  static constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  static thread_local std::mt19937_64 random{std::random_device{}()};
  std::uniform_int_distribution<std::size_t> letter(0, sizeof kLetters - 2);
  std::string suffix(8, ' ');
  std::generate(suffix.begin(), suffix.end(), [&] { return kLetters[letter(random)]; });
  return suffix;
}

// The file that a path leads to through symbolic links, or the path itself while nothing is there.
std::string resolve(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real == nullptr ? path : real.get();
}

bool names_open_file(const std::string& path) {
  return path.starts_with("/dev/fd/") || path.starts_with("/proc/") || path == "/dev/stderr";
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path), slot_(kNoSlot) {
  buffer_.reserve(kBufferBytes);
  if (path == "-" || path == "/dev/stdout") {
    path_ = "standard output";
    file_ = FileDescriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    if (file_.get() < 0) fail(errno);
    return;
  }
  struct stat status = {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
  if (names_open_file(path) || (exists && !S_ISREG(status.st_mode))) {
    file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file_.get() < 0) fail(errno);
    return;
  }
  destination_ = resolve(path);
  // Renaming needs no permission on the file itself; overwriting one that is write-protected should.
  if (exists && ::access(destination_.c_str(), W_OK) != 0) fail(errno);
  open_temporary();
  if (exists) ::fchmod(file_.get(), status.st_mode & 07777);
}

OutputFile::~OutputFile() {
  remove();
}

void OutputFile::open_temporary() {
  const std::size_t slash = destination_.rfind('/');
  const std::size_t name_at = slash == std::string::npos ? 0 : slash + 1;
  const std::string folder = destination_.substr(0, name_at);
  const std::string stem = "." + destination_.substr(name_at, 100) + ".";
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    temporary_ = folder + stem + random_suffix() + ".tmp";
    slot_ = register_temporary(temporary_);
    file_ = FileDescriptor(::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file_.get() >= 0) return;
    const int error = errno;
    forget_temporary(std::exchange(slot_, kNoSlot));
    temporary_.clear();
    if (error != EEXIST) fail(error);
  }
  fail(EEXIST);
}

void OutputFile::write(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  while (size > 0) {
    const std::size_t count = std::min(size, kBufferBytes - buffer_.size());
    buffer_.insert(buffer_.end(), bytes, bytes + count);
    bytes += count;
    size -= count;
    if (buffer_.size() == kBufferBytes) flush();
  }
}

void OutputFile::flush() {
  const std::byte* at = buffer_.data();
  const std::byte* end = at + buffer_.size();
  while (at < end) {
    const ssize_t count = ::write(file_.get(), at, static_cast<std::size_t>(end - at));
    if (count < 0) {
      if (errno == EINTR) continue;
      fail(errno);
    }
    at += count;
  }
  buffer_.clear();
}

void OutputFile::finish() {
  flush();
  if (temporary_.empty()) {
    if (!file_.close()) fail(errno);
    return;
  }
  if (::fsync(file_.get()) != 0) fail(errno);
  if (!file_.close()) fail(errno);
}

void OutputFile::commit() {
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), destination_.c_str()) != 0) fail(errno);
  forget_temporary(std::exchange(slot_, kNoSlot));
  temporary_.clear();
}

void OutputFile::remove() noexcept {
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget_temporary(std::exchange(slot_, kNoSlot));
}

void OutputFile::fail(int error) const {
  fail(std::generic_category().message(error));
}

void OutputFile::fail(const std::string& reason) const {
  throw Error(ErrorCode::cannot_write, "cannot write " + path_ + ": " + reason);
}

}  // namespace kith::io
