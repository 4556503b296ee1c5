#include "cli/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "cli/exit_codes.hpp"
#include "kith/error.hpp"
#include "kith/io.hpp"

namespace kith::cli {
namespace {

std::atomic<int> scopes{0};
std::atomic<bool> signalled{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

extern "C" void on_interrupt(int) {
  if (!signalled.exchange(true) && scopes.load() > 0) return;
  io::remove_temporaries();
  constexpr char kText[] = "kith: interrupted\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof(kText) - 1);
  _exit(kInterrupted);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

bool interrupted() {
  return signalled.load();
}

void throw_if_interrupted() {
  if (interrupted()) throw Error(ErrorCode::cancelled, "interrupted");
}

InterruptScope::InterruptScope() {
  ++scopes;
}
InterruptScope::~InterruptScope() {
  --scopes;
}

}  // namespace kith::cli
