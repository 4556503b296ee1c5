// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace kith::io {

class FileDescriptor {
 public:
  explicit FileDescriptor(int file = -1) : file_(file) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(FileDescriptor&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }

  int get() const { return file_; }
  // False, with errno set, when the system reports a late write error.
  bool close() {
    const int file = std::exchange(file_, -1);
    return file < 0 || ::close(file) == 0;
  }

 private:
  int file_;
};

}  // namespace kith::io
