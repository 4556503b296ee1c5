// fiber.hpp: a stack of execution, and the switch between two of them.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#include "asan.hpp"

namespace emulator {

// The function that every fiber starts in; it never returns.
void fiber_main();

class Fiber {
 public:
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  // Makes the fiber start anew in fiber_main() at the next switch to it. `color` moves the top of its stack, because
  // stacks that start at the same offset of a page compete for the same cache lines.
  void prepare(std::size_t color);
  bool prepared() const { return context_ != nullptr; }
  void forget() { context_ = nullptr; }

  // Switches from this fiber, which is running, to another one; returns after a switch back.
  void switch_to(Fiber& other) {
    asan::start_switch(&fake_stack_, other.stack_, other.stack_bytes_);
    const auto from = boost::context::detail::jump_fcontext(other.context_, this);
    arrived(from, fake_stack_);
  }

 private:
  static void start(boost::context::detail::transfer_t from);

  // Stores the context of the fiber that was left; if that is a thread's own stack, also its bounds.
  static void arrived(boost::context::detail::transfer_t from, void* fake_stack) {
    Fiber* origin = static_cast<Fiber*>(from.data);
    origin->context_ = from.fctx;
    const void* stack = nullptr;
    std::size_t bytes = 0;
    asan::finish_switch(fake_stack, &stack, &bytes);
    if (origin->mapping_ != nullptr) return;
    origin->stack_ = stack;
    origin->stack_bytes_ = bytes;
  }

  boost::context::detail::fcontext_t context_ = nullptr;
  void* mapping_ = nullptr;      // the guard page, then the stack; null for a thread's own stack
  const void* stack_ = nullptr;  // its lowest address
  std::size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;
};

}  // namespace emulator
