#include "io/source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "io/file_descriptor.hpp"
#include "kith/error.hpp"

namespace kith::io {
namespace {

constexpr std::size_t kFirstRoom = 64 * 1024;

[[noreturn]] void fail_errno(const std::string& name, int error) {
  throw Error(ErrorCode::bad_data, name + ": " + std::generic_category().message(error));
}

Source read_to_end(int file, std::string name) {
  Spool spool;
  while (true) {
    const auto room = spool.room();
    const ssize_t count = ::read(file, room.data(), room.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      fail_errno(name, errno);
    }
    if (count == 0) return spool.finish(std::move(name));
    spool.arrived(static_cast<std::size_t>(count));
  }
}

Source read_standard_input() {
  static std::atomic<bool> used = false;
  if (used.exchange(true)) {
    throw Error(ErrorCode::invalid_argument, "standard input was read already; only one input can be '-'");
  }
  return read_to_end(STDIN_FILENO, "standard input");
}

}  // namespace

Source open_source(const std::string& path) {
  if (path == "-") return read_standard_input();
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_errno(path, errno);
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) fail_errno(path, errno);
  if (S_ISDIR(status.st_mode)) fail_errno(path, EISDIR);
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* map = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (map != MAP_FAILED) {
      std::shared_ptr<const void> owner(map, [size](void* address) { ::munmap(address, size); });
      return {path, {static_cast<const std::byte*>(map), size}, std::move(owner)};
    }
  }
  return read_to_end(file.get(), path);
}

Spool::~Spool() {
  std::free(data_);
}

std::span<std::byte> Spool::room() {
  if (size_ == capacity_) {
    const std::size_t grown = std::max(kFirstRoom, capacity_ + capacity_ / 2);
    void* data = std::realloc(data_, grown);
    if (data == nullptr) fail_memory(static_cast<std::int64_t>(grown));
    data_ = static_cast<std::byte*>(data);
    capacity_ = grown;
  }
  return {data_ + size_, capacity_ - size_};
}

Source Spool::finish(std::string name) {
  // What was kept free for more is given back; where that fails the memory stays as it is.
  void* trimmed = std::realloc(data_, std::max<std::size_t>(size_, 1));
  if (trimmed != nullptr) data_ = static_cast<std::byte*>(trimmed);
  std::shared_ptr<const void> owner(std::exchange(data_, nullptr), [](void* address) { std::free(address); });
  capacity_ = 0;
  const auto* data = static_cast<const std::byte*>(owner.get());
  return {std::move(name), {data, std::exchange(size_, 0)}, std::move(owner)};
}

std::shared_ptr<std::byte> allocate(std::int64_t bytes) {
  void* data = std::malloc(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
  if (data == nullptr) fail_memory(bytes);
  return {static_cast<std::byte*>(data), [](std::byte* address) { std::free(address); }};
}

void fail_memory(std::int64_t bytes) {
  throw Error(ErrorCode::out_of_memory, "cannot allocate " + std::to_string(bytes) + " bytes");
}

void fail(const Source& source, const std::string& reason) {
  throw Error(ErrorCode::bad_data, source.name + ": " + reason);
}

void fail_at(const Source& source, std::size_t offset, const std::string& reason) {
  fail(source, "byte " + std::to_string(offset) + ": " + reason);
}

void fail_line(const Source& source, std::int64_t line, const std::string& reason) {
  fail(source, "line " + std::to_string(line) + ": " + reason);
}

std::string printable(std::string_view text) {
  std::string shown(text);
  for (char& c : shown) c = c >= ' ' && c <= '~' ? c : '?';
  return shown;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return "'" + printable(text.substr(0, kShown)) + (text.size() > kShown ? "...'" : "'");
}

std::string counted(std::int64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace kith::io
