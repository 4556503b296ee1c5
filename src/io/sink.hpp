// Where a writer puts its bytes, in order.
#pragma once

#include <cstddef>
#include <string_view>

namespace kith::io {

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(const void* data, std::size_t size) = 0;
  void write(std::string_view text) { write(text.data(), text.size()); }
};

}  // namespace kith::io
