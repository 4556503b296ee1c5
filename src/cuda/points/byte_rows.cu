// byte_rows.cu: floats to bytes.
// Idea    a thread writes four coordinates of a row; all bytes of a row are written, zeros behind its end.
// Cost    reads the points once, and is bound by memory.
#include "cuda/points/byte_rows.hpp"

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::inline points {
namespace {

constexpr std::int64_t kBytesOfWord = 4;

__global__ void pack_bytes_kernel(PointRows<float> rows, std::int64_t dims, std::int64_t row_words, unsigned* words) {
  const std::int64_t at = thread_index();
  if (at >= rows.count * row_words) return;
  const float* const row = rows.data + at / row_words * rows.stride;
  const std::int64_t first = at % row_words * kBytesOfWord;
  unsigned word = 0;
  KITH_UNROLL
  for (int i = 0; i < kBytesOfWord; ++i) {
    const int value = first + i < dims ? static_cast<int>(row[first + i]) : 0;
    word |= (static_cast<unsigned>(value) & 0xffU) << (8 * i);
  }
  words[at] = word;
}

}  // namespace

void pack_bytes(const PointRows<float>& rows, std::int64_t dims, const ByteRows& output, cudaStream_t stream) {
  const std::int64_t row_words = output.row_bytes / kBytesOfWord;
  launch("pack_bytes", pack_bytes_kernel, thread_each(rows.count * row_words), stream, rows, dims, row_words,
         reinterpret_cast<unsigned*>(output.data));
}

}  // namespace kith::KITH_BACKEND::inline points
