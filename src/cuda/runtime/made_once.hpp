// made_once.hpp: a value that the first who needs it makes, and that others wait for.
// std::call_once would do, but that not every C library lets an exception through it.
#pragma once

#include <mutex>
#include <optional>

namespace kith::KITH_BACKEND::inline runtime {

// Thread-safe.
template <class T>
class MadeOnce {
 public:
  // The value, once make(value) has set it. After an exception the next one makes it.
  template <class Make>
  const T& get(Make make) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (value_) return *value_;
    try {
      make(value_);
    } catch (...) {
      value_.reset();
      throw;
    }
    return *value_;
  }

 private:
  std::mutex mutex_;
  std::optional<T> value_;
};

}  // namespace kith::KITH_BACKEND::inline runtime
