// recent.hpp: a number that takes the system longer to tell than a small search takes, asked for again only after a
// while. It has no lock, which the child of a fork might find taken.
#pragma once

#include <atomic>
#include <chrono>

namespace kith::backend {

template <class Number>
class Recent {
 public:
  explicit constexpr Recent(std::chrono::milliseconds age) : age_(age) {}

  // What ask() returned a moment ago; threads that find it too old at the same time ask each.
  template <class Ask>
  Number get(Ask ask) {
    const Clock::rep now = Clock::now().time_since_epoch().count();
    if (now < until_.load(std::memory_order_acquire)) return number_.load(std::memory_order_relaxed);
    const Number number = ask();
    number_.store(number, std::memory_order_relaxed);
    until_.store(now + Clock::duration(age_).count(), std::memory_order_release);
    return number;
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds age_;
  std::atomic<Number> number_{};
  std::atomic<Clock::rep> until_{};
};

}  // namespace kith::backend
