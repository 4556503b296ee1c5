// An output that appears whole or not at all: bytes go to a temporary file beside the destination, which finish() syncs
// and commit() renames over it. Without commit() the destructor removes it. Standard output, pipes and devices have no
// such protection and are written directly.
//
// Temporary names are kept in a fixed table so that a signal handler can unlink them (remove_temporaries).
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>
#include <vector>

#include "io/file_descriptor.hpp"
#include "io/sink.hpp"

namespace kith::io {

class OutputFile final : public Sink {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // At the end of the file.
  void write(const void* data, std::size_t size) override;
  using Sink::write;

  // The temporary's path, for a library that opens files itself; empty when the output is written directly.
  const std::string& temporary() const { return temporary_; }
  int descriptor() const { return file_.get(); }

  void finish();
  void commit();

  [[noreturn]] void fail(int error) const;
  [[noreturn]] void fail(const std::string& reason) const;

 private:
  void open_temporary(mode_t mode);
  void inherit_access(const struct stat& old);
  void flush();
  void remove() noexcept;

  std::string path_;         // as the caller wrote it
  std::string destination_;  // with symbolic links resolved
  std::string temporary_;
  FileDescriptor file_;
  std::vector<std::byte> buffer_;
  std::size_t slot_ = 0;  // in the table of temporaries
};

}  // namespace kith::io
