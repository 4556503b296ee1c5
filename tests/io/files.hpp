// Files for the tests of the readers and writers: a folder that removes itself, bytes in and out, errors as values.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {

class Folder {
 public:
  Folder() {
    // Memory, where it can be had: every save() waits for the disk.
    const std::filesystem::path memory = "/dev/shm";
    const bool usable = ::access(memory.c_str(), W_OK) == 0;
    std::string pattern = ((usable ? memory : std::filesystem::temp_directory_path()) / "kith_io_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  // Writes the bytes and returns the path.
  std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return file(name);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string fixture(const std::string& name) {
  return (std::filesystem::path(__FILE__).parent_path() / "data" / name).string();
}

// Every format that there is but these.
inline std::vector<Format> formats_without(std::initializer_list<Format> left_out) {
  std::vector<Format> formats;
  for (const std::string& name : format_names()) {
    const Format format = parse_format(name);
    if (std::find(left_out.begin(), left_out.end(), format) == left_out.end()) formats.push_back(format);
  }
  return formats;
}

// The bytes of a number as it lies in memory.
template <class T>
std::string raw(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// A source over text that the caller keeps.
inline Source source_of(const std::string& text) {
  return {"test", {reinterpret_cast<const std::byte*>(text.data()), text.size()}, nullptr};
}

inline LoadOptions array_named(const std::string& name) {
  LoadOptions options;
  options.array = name;
  return options;
}

struct Failure {
  ErrorCode code = ErrorCode::internal;
  std::string message = "nothing was thrown";
};

inline std::ostream& operator<<(std::ostream& out, const Failure& failure) {
  return out << to_string(failure.code) << ": " << failure.message;
}

inline bool operator==(const Failure& a, const Failure& b) {
  return a.code == b.code && a.message == b.message;
}

template <class F>
Failure failure_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

inline Failure bad_data(const std::string& message) {
  return {ErrorCode::bad_data, message};
}

inline Failure invalid_argument(const std::string& message) {
  return {ErrorCode::invalid_argument, message};
}

// Same shape, type and values; NaN equals NaN.
inline testing::AssertionResult same_array(const Array& got, const Array& want) {
  const auto print = [](const Array& array) {
    return std::string(to_string(array.type())) + " rank " + std::to_string(array.rank()) + " " +
           std::to_string(array.rows()) + " x " + std::to_string(array.cols());
  };
  if (print(got) != print(want)) return testing::AssertionFailure() << print(got) << ", wanted " << print(want);
  const auto bytes = [](const Array& array) {
    std::vector<std::uint8_t> out(static_cast<std::size_t>(array.size() * size_of(array.type())));
    array.copy_rows(0, array.rows(), array.type(), out.data());
    return out;
  };
  const auto a = bytes(got);
  const auto b = bytes(want);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) {
      return testing::AssertionFailure() << "element " << i / static_cast<std::size_t>(size_of(got.type()))
                                         << " differs";
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace kith::io
