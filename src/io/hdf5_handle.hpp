// Ownership of libhdf5's identifiers, its lock and its error text.
#pragma once

#include <hdf5.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace kith::io {

class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle(hid_t id, Close function) : id_(id), close_(function) {}
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }

  bool valid() const { return id_ >= 0; }
  hid_t get() const { return id_; }
  // False when closing, which may write, fails.
  bool close() {
    const hid_t id = std::exchange(id_, -1);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_;
  Close close_;
};

// A name for a file in memory. No two alike: libhdf5 takes files of one name for one file. No file on a disk can have
// it: libhdf5 would refuse to open its own.
inline std::string hdf5_memory_name() {
  static std::atomic<std::uint64_t> count = 0;
  return "/dev/null/memory " + std::to_string(++count);
}

// Held around every use of libhdf5: one thread at a time, and no error text on stderr.
class Hdf5Session {
 public:
  Hdf5Session() : lock_(mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Session() {
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
  }
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

  // What libhdf5 says of its last failure, at its origin; the system's words alone when it quotes them.
  static std::string reason() {
    std::string text = origin();
    constexpr std::string_view kQuote = "error message = '";
    const std::size_t at = text.find(kQuote);
    if (at == std::string::npos) return text;
    const std::size_t begin = at + kQuote.size();
    return text.substr(begin, text.find('\'', begin) - begin);
  }

 private:
  static std::string origin() {
    std::string text = "libhdf5 gives no reason";
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
          if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
          return 0;
        },
        &text);
    return text;
  }

  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }

  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

}  // namespace kith::io
