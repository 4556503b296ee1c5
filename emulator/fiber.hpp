// fiber.hpp: one stack of execution, and the switch from one to another.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#include "asan.hpp"

namespace emulator {

// Where every fiber starts; it never returns.
void fiber_main();

class Fiber {
 public:
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  // Makes the fiber start at fiber_main() when it is next switched to; what it was doing is forgotten. `color` moves
  // its stack's top, because stacks that all start at the same place of a page would share the same few lines of the
  // cache.
  void prepare(std::size_t color);
  bool prepared() const { return context_ != nullptr; }
  void forget() { context_ = nullptr; }

  // From this fiber, which runs, to another one; returns when something switches back.
  void switch_to(Fiber& other) {
    asan::start_switch(&fake_stack_, other.stack_, other.stack_bytes_);
    const auto from = boost::context::detail::jump_fcontext(other.context_, this);
    arrived(from, fake_stack_);
  }

 private:
  static void start(boost::context::detail::transfer_t from);

  // The fiber that was left can be switched to again; if it is a thread's own stack, this tells where that lies.
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
