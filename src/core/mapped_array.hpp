// mapped_array.hpp: values that are made here, or lie in a file that is mapped into memory.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace kith::core {

// A std::vector, as far as it is used here, or a view of values that somebody else keeps, which are copied before they
// are changed.
template <class V>
class MappedArray {
 public:
  using value_type = V;

  MappedArray() = default;
  MappedArray(std::vector<V> values) : own_(std::move(values)) {}  // NOLINT(google-explicit-constructor)
  explicit MappedArray(std::span<const V> mapped) : mapped_(mapped) {}

  const V* data() const { return mapped_.empty() ? own_.data() : mapped_.data(); }
  std::size_t size() const { return mapped_.empty() ? own_.size() : mapped_.size(); }
  bool empty() const { return size() == 0; }
  const V* begin() const { return data(); }
  const V* end() const { return data() + size(); }
  const V& operator[](std::size_t i) const { return data()[i]; }
  std::span<const V> span() const { return {data(), size()}; }

  V* data() { return owned().data(); }
  V* begin() { return data(); }
  V* end() { return data() + size(); }
  V& operator[](std::size_t i) { return data()[i]; }
  void resize(std::size_t count) { owned().resize(count); }
  void reserve(std::size_t count) { owned().reserve(count); }
  void push_back(const V& value) { owned().push_back(value); }

 private:
  // Values that may be changed.
  std::vector<V>& owned() {
    if (!mapped_.empty()) {
      own_.assign(mapped_.begin(), mapped_.end());
      mapped_ = {};
    }
    return own_;
  }

  std::vector<V> own_;
  std::span<const V> mapped_;
};

}  // namespace kith::core
