#include "search_device/host_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <sys/mman.h>

#include "cuda/runtime/check.hpp"

namespace kith::search_bench {
namespace {

constexpr std::int64_t kChunk = 1 << 20;  // values that a thread takes at a time

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

// task(first, last) for parts of 0 … count, on all threads.
void for_parts(std::int64_t count, std::int64_t part, const std::function<void(std::int64_t, std::int64_t)>& task) {
  std::atomic<std::int64_t> next{0};
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back([&] {
      for (std::int64_t first = next.fetch_add(part); first < count; first = next.fetch_add(part))
        task(first, std::min(count, first + part));
    });
}

// Bytes that can be had without swapping; all there are where the system does not say.
std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return std::stoll(line.substr(13)) * 1024;
  return std::numeric_limits<std::int64_t>::max();
}

// splitmix64: every place has its own number, whoever makes it.
std::uint64_t random_bits(std::uint64_t place) {
  std::uint64_t bits = (place + 1) * 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

float nearly_gaussian(std::int64_t place) {
  const std::uint64_t bits = random_bits(static_cast<std::uint64_t>(place));
  const auto sum =
      static_cast<int>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48 & 0xFFFF));
  constexpr float kScale = 1.7320508F / 65536;  // of unit variance
  return static_cast<float>(sum - 2 * 65535) * kScale;
}

float distance(const float* x, const float* y, std::int64_t dims) {
  double sums[8] = {};
  std::int64_t c = 0;
  for (; c + 8 <= dims; c += 8)
    for (int i = 0; i < 8; ++i) {
      const double difference = static_cast<double>(x[c + i]) - static_cast<double>(y[c + i]);
      sums[i] += difference * difference;
    }
  for (int i = 0; c < dims; ++c, ++i) {
    const double difference = static_cast<double>(x[c]) - static_cast<double>(y[c]);
    sums[i] += difference * difference;
  }
  return static_cast<float>(((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7])));
}

using Found = std::pair<float, std::int64_t>;

void keep(std::vector<Found>& best, const Found& found, std::size_t k) {
  if (best.size() == k && !(found < best.back())) return;
  if (best.size() == k) best.pop_back();
  best.insert(std::upper_bound(best.begin(), best.end(), found), found);
}

}  // namespace

HostPoints::HostPoints(std::int64_t bytes) : bytes_(bytes / 4096 * 4096) {
  constexpr std::int64_t kSpare = std::int64_t{4} << 30;
  if (bytes_ > available_memory() - std::min(bytes_, kSpare))
    throw std::runtime_error(fmt::format("a base of {} bytes; the machine has {} to spare", bytes, available_memory()));
  void* const memory = mmap(nullptr, size(bytes_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error(fmt::format("mmap of {} bytes failed", bytes_));
  values_ = static_cast<float*>(memory);
  madvise(memory, size(bytes_), MADV_HUGEPAGE);
  for_parts(bytes_ / 4, kChunk, [this](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) values_[i] = nearly_gaussian(i);
  });
}

HostPoints::~HostPoints() {
  if (pinned_) cudaHostUnregister(values_);
  munmap(values_, size(bytes_));
}

void HostPoints::pin() {
  cuda::check(cudaHostRegister(values_, size(bytes_), cudaHostRegisterDefault), "cudaHostRegister", size(bytes_));
  pinned_ = true;
}

HostAnswer scan(const MatrixView<float>& base, const MatrixView<float>& queries, std::int64_t k) {
  std::vector<std::vector<Found>> best(size(queries.rows));
  std::mutex joining;
  for_parts(base.rows, kChunk / 16, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::vector<Found>> mine(best.size());
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t q = 0; q < queries.rows; ++q)
        keep(mine[size(q)], {distance(queries.row(q), base.row(i), base.cols), i}, size(k));
    const std::lock_guard lock(joining);
    for (std::size_t q = 0; q < best.size(); ++q)
      for (const Found& found : mine[q]) keep(best[q], found, size(k));
  });
  HostAnswer answer;
  for (const std::vector<Found>& found : best)
    for (const auto& [key, id] : found) {
      answer.distances.push_back(key);
      answer.ids.push_back(id);
    }
  return answer;
}

}  // namespace kith::search_bench
