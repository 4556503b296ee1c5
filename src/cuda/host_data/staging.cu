#include "cuda/host_data/staging.hpp"

#include <atomic>
#include <future>
#include <system_error>
#include <thread>

#include "cuda/runtime/platform.cuh"
#include "cuda/runtime/properties.hpp"

namespace kith::KITH_BACKEND::host_data {
namespace {

bool is_pinned(const void* address) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, address) == cudaSuccess) return attributes.type == cudaMemoryTypeHost;
  cudaGetLastError();
  return false;
}

}  // namespace

StagingShape staging_shape(std::int64_t bytes) {
  constexpr std::int64_t kLeastPiece = 256 << 10;  // smaller copies take no less time
  const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const core::DevicePolicy& policy = device_policy();
  const std::int64_t threads =
      std::clamp<std::int64_t>(bytes / policy.staging_thread_bytes, 1, std::min(cores, policy.staging_threads));
  const std::int64_t piece = std::max(kLeastPiece, ceil_div(bytes, 2 * threads));
  const std::int64_t room = std::clamp<std::int64_t>(bytes, 1, std::min(piece, policy.staging_buffer_bytes));
  return {static_cast<std::size_t>(ceil_div(room, 8) * 8), static_cast<int>(threads)};
}

bool is_pinned(const void* first, std::size_t bytes) {
  return is_pinned(first) && is_pinned(static_cast<const unsigned char*>(first) + bytes - 1);
}

void share_out(std::int64_t count, int threads, const std::function<void(std::int64_t, int)>& task) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&](int worker) {
    try {
      for (std::int64_t i = next++; i < count; i = next++) task(i, worker);
    } catch (...) {
      next = count;
      throw;
    }
  };
  int device = 0;
  if (threads > 1) KITH_CUDA(cudaGetDevice(&device));
  // A future waits for its thread when it goes, before what the thread uses does.
  std::vector<std::future<void>> others;
  for (int worker = 1; worker < std::min<std::int64_t>(threads, count); ++worker) {
    try {
      others.push_back(std::async(std::launch::async, [&work, device, worker] {
        KITH_CUDA(cudaSetDevice(device));
        work(worker);
      }));
    } catch (const std::system_error&) {
      break;
    }
  }
  work(0);
  for (std::future<void>& other : others) other.get();
}

}  // namespace kith::KITH_BACKEND::host_data
