#include "io/deflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace kith::io {
namespace {

// zlib counts in unsigned int.
uInt piece(std::size_t left) {
  return static_cast<uInt>(std::min<std::size_t>(left, std::numeric_limits<uInt>::max()));
}

Inflated run(z_stream& stream, std::span<const std::byte> packed, std::span<std::byte> out) {
  std::byte beyond = {};  // takes the first byte that is too many
  std::size_t taken = 0;
  std::size_t made = 0;
  while (true) {
    const bool full = made == out.size();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + taken));
    stream.avail_in = piece(packed.size() - taken);
    stream.next_out = reinterpret_cast<Bytef*>(full ? &beyond : out.data() + made);
    stream.avail_out = full ? 1 : piece(out.size() - made);
    const uInt in_before = stream.avail_in;
    const uInt out_before = stream.avail_out;
    const int result = ::inflate(&stream, Z_NO_FLUSH);
    taken += in_before - stream.avail_in;
    made += out_before - stream.avail_out;
    if (made > out.size()) return Inflated::too_long;
    if (result == Z_STREAM_END) return made == out.size() ? Inflated::ok : Inflated::too_short;
    if (result != Z_OK || (in_before == stream.avail_in && out_before == stream.avail_out)) return Inflated::damaged;
  }
}

}  // namespace

Inflated inflate_exactly(std::span<const std::byte> packed, std::span<std::byte> out) {
  z_stream stream = {};
  if (::inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  const Inflated result = run(stream, packed, out);
  ::inflateEnd(&stream);
  return result;
}

}  // namespace kith::io
