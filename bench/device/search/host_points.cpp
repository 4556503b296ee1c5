#include "device/search/host_points.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <stdexcept>

#include "common/parallel.hpp"
#include "common/random_bits.hpp"
#include "cuda/runtime/check.hpp"
#include "device/harness/backend.hpp"
#include "support/machine.hpp"

namespace kith::bench::device::search {
namespace {

float nearly_gaussian(std::int64_t position) {
  const unsigned long long bits = random_bits(static_cast<unsigned long long>(position));
  const auto sum =
      static_cast<int>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48 & 0xFFFF));
  constexpr float kScale = 1.7320508F / 65536;  // of unit variance
  return static_cast<float>(sum - 2 * 65535) * kScale;
}

}  // namespace

HostPoints::HostPoints(std::int64_t bytes) : bytes_(bytes / 4096 * 4096) {
  constexpr std::int64_t kSpare = std::int64_t{4} << 30;
  constexpr std::int64_t kPart = 1 << 20;
  const std::int64_t available = support::inspect_machine().available_bytes;
  if (available > 0 && bytes_ > available - std::min(bytes_, kSpare))
    throw std::runtime_error(fmt::format("a base of {} bytes; the machine has {} to spare", bytes, available));
  const auto size = static_cast<std::size_t>(bytes_);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error(fmt::format("mmap of {} bytes failed", bytes_));
  values_ = static_cast<float*>(memory);
  madvise(memory, size, MADV_HUGEPAGE);
  for_parts(bytes_ / 4, kPart, all_threads(), [this](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) values_[i] = nearly_gaussian(i);
  });
}

HostPoints::~HostPoints() {
  if (pinned_) cudaHostUnregister(values_);
  munmap(values_, static_cast<std::size_t>(bytes_));
}

void HostPoints::pin() {
  if (pinned_) return;
  const auto size = static_cast<std::size_t>(bytes_);
  cuda::check(cudaHostRegister(values_, size, cudaHostRegisterDefault), "cudaHostRegister", size);
  pinned_ = true;
}

MatrixView<float> spread_rows(const MatrixView<float>& rows, std::int64_t count) {
  const std::int64_t some = std::min(count, rows.rows);
  return {rows.data, some, rows.cols, rows.rows / some * rows.row_stride, 1};
}

}  // namespace kith::bench::device::search
