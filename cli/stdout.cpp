#include "cli/stdout.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "kith/error.hpp"

namespace kith::cli {
namespace {

[[noreturn]] void fail(int reason) {
  throw Error(ErrorCode::cannot_write, fmt::format("standard output: {}", std::strerror(reason)));
}

}  // namespace

void write_stdout(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail(errno);
}

void flush_stdout() {
  if (std::fflush(stdout) != 0) fail(errno);
}

bool stdout_is_broken_pipe() {
  pollfd state = {STDOUT_FILENO, POLLOUT, 0};
  return poll(&state, 1, 0) == 1 && (state.revents & POLLERR) != 0;
}

}  // namespace kith::cli
