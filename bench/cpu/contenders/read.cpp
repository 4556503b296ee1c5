// read.cpp: all threads read the base once, each its own part of it, and sum it. No search that looks at every point
// can be faster, as long as the base is much larger than the cache. Bytes past the last whole 64-bit word are left out.
#include <cstddef>
#include <cstring>

#include "cpu/contenders/contenders.hpp"
#include "cpu/contenders/sum_words.hpp"
#include "support/machine.hpp"

namespace kith::bench {
namespace {

constexpr std::int64_t kWord = sizeof(std::uint64_t);

class Read final : public Contender {
 public:
  Read(const void* data, std::int64_t bytes, int threads)
      : bytes_(static_cast<const std::uint8_t*>(data)), words_(bytes / kWord), threads_(threads) {}

  void run() override {
    std::uint64_t sum = 0;
#pragma omp parallel for num_threads(threads_) schedule(static) reduction(+ : sum)
    for (int part = 0; part < threads_; ++part) {
      const std::int64_t first = words_ * part / threads_;
      sum += sum_words(bytes_ + first * kWord, words_ * (part + 1) / threads_ - first);
    }
    sum_ = sum;
  }

  std::string fault() const override {
    std::uint64_t expected = 0;
    for (std::int64_t i = 0; i < words_; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes_ + i * kWord, sizeof word);
      expected += word;
    }
    return sum_ == expected ? "" : "the sum is not that of a plain loop";
  }

  Work work() const override {
    return {static_cast<double>(words_ * kWord), "GB/s"};
  }
  std::string note() const override {
    return words_ * kWord < 4 * support::inspect_machine().cache_bytes ? "part of the base stays in the cache" : "";
  }

 private:
  const std::uint8_t* bytes_;
  std::int64_t words_;
  int threads_;
  std::uint64_t sum_ = 0;
};

}  // namespace

template <Element T>
std::unique_ptr<Contender> make_read(const Problem<T>& problem) {
  const auto bytes = problem.base.rows() * problem.base.cols() * static_cast<std::int64_t>(sizeof(T));
  return std::make_unique<Read>(problem.base.data(), bytes, problem.threads);
}

template std::unique_ptr<Contender> make_read(const Problem<float>&);
template std::unique_ptr<Contender> make_read(const Problem<double>&);
template std::unique_ptr<Contender> make_read(const Problem<std::uint8_t>&);
template std::unique_ptr<Contender> make_read(const Problem<Float16>&);

}  // namespace kith::bench
