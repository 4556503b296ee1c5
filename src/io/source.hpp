// Where a reader's bytes come from: a memory-mapped file, or memory that was filled from a pipe, standard input or an
// archive entry. Readers see one span of bytes and a name for their errors, and may keep the owner to hand out views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kith::io {

struct Source {
  std::string name;                   // as errors call it
  std::span<const std::byte> bytes;   // beginning at a multiple of 8
  std::shared_ptr<const void> owner;  // keeps the bytes; null when the caller does

  std::size_t size() const { return bytes.size(); }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// Maps a regular file, reads anything else to its end; "-" is standard input.
Source open_source(const std::string& path);

// Bytes that arrive in pieces. Memory grows with what has arrived, never with what a header promises.
class Spool {
 public:
  Spool() = default;
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  std::span<std::byte> room();  // free space to write into, never empty
  void arrived(std::size_t count) { size_ += count; }
  std::size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  Source finish(std::string name);  // gives the memory away

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// Memory for an array that is read or converted, aligned for every element type. Error(out_of_memory) when there is
// none.
std::shared_ptr<std::byte> allocate(std::int64_t bytes);

// Error(out_of_memory) for an allocation that failed.
[[noreturn]] void fail_memory(std::int64_t bytes);

// Error(bad_data): "name: reason", "name: byte 12: reason", "name: line 3: reason".
[[noreturn]] void fail(const Source& source, const std::string& reason);
[[noreturn]] void fail_at(const Source& source, std::size_t offset, const std::string& reason);
[[noreturn]] void fail_line(const Source& source, std::int64_t line, const std::string& reason);

// Text of a file as an error may show it: unprintable bytes as '?'; in_quotes() also shortens it.
std::string printable(std::string_view text);
std::string in_quotes(std::string_view text);

// "3 rows", "1 row".
std::string counted(std::int64_t count, const char* noun);

}  // namespace kith::io
