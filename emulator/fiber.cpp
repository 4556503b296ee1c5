// fiber.cpp: stacks with a guard page, switched by Boost.Context.
#include "fiber.hpp"

#include <sys/mman.h>

#include <new>

namespace emulator {

namespace {

#ifdef __OPTIMIZE__
constexpr std::size_t kStack = asan::kOn ? 256 << 10 : 64 << 10;
#else
constexpr std::size_t kStack = 512 << 10;
#endif
constexpr std::size_t kGuard = 4096;
constexpr std::size_t kLine = 64;
constexpr std::size_t kColours = 64;

}  // namespace

Fiber::~Fiber() {
  if (mapping_ != nullptr) munmap(mapping_, kGuard + kStack);
}

void Fiber::prepare(std::size_t color) {
  if (mapping_ == nullptr) {
    void* mapping = mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED || mprotect(mapping, kGuard, PROT_NONE) != 0) throw std::bad_alloc();
    mapping_ = mapping;
    stack_ = static_cast<char*>(mapping) + kGuard;
    stack_bytes_ = kStack;
  }
  asan::unpoison(stack_, stack_bytes_);
  const std::size_t used = stack_bytes_ - color % kColours * kLine;
  context_ = boost::context::detail::make_fcontext(static_cast<char*>(mapping_) + kGuard + used, used, &Fiber::start);
}

void Fiber::start(boost::context::detail::transfer_t from) {
  arrived(from, nullptr);
  fiber_main();
}

}  // namespace emulator
