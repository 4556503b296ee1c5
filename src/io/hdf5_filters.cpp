#include "io/hdf5_filters.hpp"

#include <algorithm>
#include <span>

#include "io/deflate.hpp"

namespace kith::io {
namespace {

constexpr std::size_t kChecksumBytes = 4;

std::uint32_t fold(std::uint32_t sum) {
  return (sum & 0xffff) + (sum >> 16);
}

// Fletcher's checksum of 16-bit big-endian words, the last filled up with a zero.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0;
  std::uint32_t sum_of_sums = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const auto high = std::to_integer<std::uint32_t>(bytes[i]) << 8;
    sum = fold(sum + high + (i + 1 < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + 1]) : 0));
    sum_of_sums = fold(sum_of_sums + sum);
  }
  return (sum_of_sums << 16) | sum;
}

std::string remove_checksum(std::vector<std::byte>& bytes) {
  if (bytes.size() < kChecksumBytes) return "it has no checksum";
  std::uint32_t wanted = 0;
  for (std::size_t i = 0; i < kChecksumBytes; ++i) {
    wanted |= std::to_integer<std::uint32_t>(bytes[bytes.size() - kChecksumBytes + i]) << (8 * i);
  }
  bytes.resize(bytes.size() - kChecksumBytes);
  return fletcher32(bytes) == wanted ? "" : "its checksum is wrong";
}

// Shuffled data has the first bytes of all elements, then their second bytes, and so on.
void unshuffle(std::size_t element_bytes, std::vector<std::byte>& bytes) {
  const std::size_t count = bytes.size() / element_bytes;
  std::vector<std::byte> out(bytes);  // with what is left over at the end
  for (std::size_t byte = 0; byte < element_bytes; ++byte) {
    const std::byte* in = bytes.data() + byte * count;
    for (std::size_t i = 0; i < count; ++i) out[i * element_bytes + byte] = in[i];
  }
  bytes = std::move(out);
}

std::string unpack(std::size_t size, std::vector<std::byte>& bytes) {
  std::vector<std::byte> out(size);
  const Inflated result = inflate_exactly(bytes, out);
  bytes = std::move(out);
  switch (result) {
    case Inflated::ok: return "";
    case Inflated::damaged: return "its deflated data is damaged";
    case Inflated::too_short: return "it unpacks to less than " + std::to_string(size) + " bytes";
    case Inflated::too_long: break;
  }
  return "it unpacks to more than " + std::to_string(size) + " bytes";
}

}  // namespace

std::string undo_filters(const Hdf5Layout& layout, std::uint32_t skipped, std::vector<std::byte>& bytes) {
  const auto applied = [&](std::size_t i) { return ((skipped >> i) & 1) == 0; };
  // Before deflate, which is there once, only a checksum changes the size.
  const auto size_before = [&](std::size_t filter) {
    auto size = static_cast<std::size_t>(layout.chunk_bytes);
    for (std::size_t i = 0; i < filter; ++i) {
      if (layout.filters[i] == Hdf5Filter::fletcher32 && applied(i)) size += kChecksumBytes;
    }
    return size;
  };
  for (std::size_t i = layout.filters.size(); i-- > 0;) {
    if (!applied(i)) continue;
    std::string problem;
    switch (layout.filters[i]) {
      case Hdf5Filter::deflate: problem = unpack(size_before(i), bytes); break;
      case Hdf5Filter::shuffle: unshuffle(static_cast<std::size_t>(layout.stored.bytes), bytes); break;
      case Hdf5Filter::fletcher32: problem = remove_checksum(bytes); break;
    }
    if (!problem.empty()) return problem;
  }
  if (bytes.size() == static_cast<std::size_t>(layout.chunk_bytes)) return "";
  return "it has " + std::to_string(bytes.size()) + " bytes instead of " + std::to_string(layout.chunk_bytes);
}

}  // namespace kith::io
