#include "io/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include "io/output_target.hpp"
#include "io/temporaries.hpp"

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

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path), slot_(kNoSlot) {
  buffer_.reserve(kBufferBytes);
  if (is_standard_output(path)) {
    path_ = "standard output";
    file_ = FileDescriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    if (file_.get() < 0) fail(errno);
    return;
  }
  const OutputTarget target = find_target(path);
  if (target.direct) {
    file_ = FileDescriptor(::open(target.path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file_.get() < 0) fail(errno);
    return;
  }
  destination_ = target.path;
  // Renaming needs no permission on the file itself; overwriting one that is write-protected should.
  if (target.exists && ::access(destination_.c_str(), W_OK) != 0) fail(errno);
  // Whoever may not read the old file may not open the new one at any time.
  constexpr mode_t kOwnerOnly = 0600;
  constexpr mode_t kUmaskDecides = 0666;
  open_temporary(target.exists ? kOwnerOnly : kUmaskDecides);
  if (target.exists) inherit_access(target.status);
}

OutputFile::~OutputFile() {
  remove();
}

// Owner, group and permissions of the file that is replaced. Where its group cannot be kept, the new one's members get
// what everybody has.
void OutputFile::inherit_access(const struct stat& old) {
  mode_t mode = old.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  constexpr auto kSameOwner = static_cast<uid_t>(-1);
  if (::fchown(file_.get(), old.st_uid, old.st_gid) != 0 && ::fchown(file_.get(), kSameOwner, old.st_gid) != 0) {
    mode &= ~static_cast<mode_t>(S_IRWXG) | ((mode & S_IRWXO) << 3);
  }
  if (::fchmod(file_.get(), mode) != 0) fail(errno);
}

void OutputFile::open_temporary(mode_t mode) {
  const std::size_t slash = destination_.rfind('/');
  const std::size_t name_at = slash == std::string::npos ? 0 : slash + 1;
  const std::string folder = destination_.substr(0, name_at);
  const std::string stem = "." + destination_.substr(name_at, 100) + ".";
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    temporary_ = folder + stem + random_suffix() + ".tmp";
    slot_ = register_temporary(temporary_);
    file_ = FileDescriptor(::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
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
  fail_write(path_, error);
}

void OutputFile::fail(const std::string& reason) const {
  fail_write(path_, reason);
}

}  // namespace kith::io
