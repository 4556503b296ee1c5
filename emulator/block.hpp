// block.hpp: runs the blocks of a kernel, one after another, each thread a fiber.
#pragma once

#include <functional>
#include <string>

#include "emulator/execution.hpp"

namespace emulator {

constexpr unsigned kMaxThreads = 1024;
constexpr std::size_t kStaticShared = 48 << 10;
constexpr std::size_t kMaxShared = 227 << 10;
constexpr unsigned char kPoison = 0xFF;  // NaN as float and as double, −1 as an integer

struct Kernel {
  std::string name;
  std::function<void()> body;
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
};

// What went wrong, or nothing.
std::string run(const Kernel& kernel);

}  // namespace emulator
