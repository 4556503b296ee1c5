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

extern "C" void on_quit(int signal) {
  io::remove_temporaries();
  raise(signal);  // its default action, which is in force again, follows when this function returns
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

// nohup, and shells that start a job in the background.
bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void install_signal_handlers() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) handle(signal, on_interrupt, SA_RESTART);
  if (!is_ignored(SIGQUIT)) handle(SIGQUIT, on_quit, static_cast<int>(SA_RESETHAND));
  handle(SIGPIPE, SIG_IGN, 0);
  handle(SIGXFSZ, SIG_IGN, 0);
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
