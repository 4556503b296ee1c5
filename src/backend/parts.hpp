// parts.hpp: what an index has made of its points, as named bytes that a file can keep and that an index of the same
// points and options can begin with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::backend {

struct Part {
  std::string name;
  std::span<const std::byte> bytes;  // aligned for any number
  // Throws Error(bad_data) where the bytes are not those that were written. Null where nobody wrote them.
  std::function<void()> verify{};
};

class Parts {
 public:
  Parts() = default;
  explicit Parts(std::vector<Part> parts) : parts_(std::move(parts)) {}

  bool empty() const { return parts_.empty(); }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const std::vector<Part>& all() const { return parts_; }

  template <class V>
  void add(std::string name, std::span<const V> values) {
    static_assert(std::is_trivially_copyable_v<V>);
    parts_.push_back({std::move(name), std::as_bytes(values)});
  }

  // Values as they were written; `verified` where they lead to others, so that wrong ones would do harm. `count` of
  // them are expected, −1 where any number is; Error(bad_data) says otherwise, and where there is no such part.
  template <class V>
  std::span<const V> values(std::string_view name, std::int64_t count, bool verified = false) const {
    const Part* const part = find(name);
    if (part == nullptr) refuse_missing(name);
    const auto bytes = static_cast<std::int64_t>(part->bytes.size());
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(V));
    if (bytes % kSize != 0 || (count >= 0 && bytes / kSize != count)) refuse_size(*part, count, kSize);
    if (verified && part->verify) part->verify();
    return {reinterpret_cast<const V*>(part->bytes.data()), part->bytes.size() / sizeof(V)};
  }

 private:
  [[noreturn]] static void refuse_missing(std::string_view name);
  [[noreturn]] static void refuse_size(const Part& part, std::int64_t count, std::int64_t value_bytes);
  const Part* find(std::string_view name) const {
    for (const Part& part : parts_)
      if (part.name == name) return &part;
    return nullptr;
  }

  std::vector<Part> parts_;
};

}  // namespace kith::backend
