// handles.hpp: handles are numbers that are never used twice, in the shape of pointers, and looked up in a table; so
// one that was destroyed, is of another kind or was never made is found out, and what a call works on stays until it
// returns.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "kith/error.hpp"

namespace kith::c {

// Odd, so that a pointer to anything is none of them; of all kinds from one sequence, so that none is of two kinds.
std::uintptr_t next_handle() noexcept;

// Handles of all tables.
void count_handles(std::int64_t change) noexcept;

// `Handle` is the incomplete type of kith.h, `Object` what its handles stand for.
template <class Handle, class Object>
class HandleTable {
 public:
  explicit HandleTable(const char* kind) : kind_(kind) {}

  Handle* add(std::shared_ptr<Object> object) {
    const std::uintptr_t number = next_handle();
    const std::unique_lock lock(mutex_);
    objects_.emplace(number, std::move(object));
    count_handles(1);
    return reinterpret_cast<Handle*>(number);  // NOLINT(performance-no-int-to-ptr): nobody follows it
  }

  // Throws Error(invalid_argument) for what is no handle of this kind.
  std::shared_ptr<Object> get(const Handle* handle) const {
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = objects_.find(number_of(handle)); found != objects_.end()) return found->second;
    }
    refuse(handle);
  }

  void remove(const Handle* handle) {
    if (handle == nullptr) return;
    std::shared_ptr<Object> removed;  // destroyed behind the lock
    {
      const std::unique_lock lock(mutex_);
      if (const auto found = objects_.find(number_of(handle)); found != objects_.end()) {
        removed = std::move(found->second);
        objects_.erase(found);
        count_handles(-1);
        return;
      }
    }
    refuse(handle);
  }

 private:
  static std::uintptr_t number_of(const Handle* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

  [[noreturn]] void refuse(const Handle* handle) const {
    if (handle == nullptr) throw Error(ErrorCode::invalid_argument, fmt::format("the {} is null", kind_));
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{:#x} is no {}: it was destroyed, or is a handle of another kind", number_of(handle), kind_));
  }

  const char* kind_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects_;
};

}  // namespace kith::c
