// SIGINT, SIGTERM and SIGHUP end the program with exit code 130 and leave no output file behind.
// While work that can be cancelled runs (an InterruptScope), the first signal only raises a flag, which progress
// callbacks turn into a cancellation, and a second one ends the program at once. Outside such a scope the first one
// does, after removing the temporary files of a save that is under way.
// SIGQUIT removes temporary files, then does what it always does. A SIGHUP or SIGQUIT that is ignored stays so.
// SIGPIPE and SIGXFSZ are ignored: a closed pipe and a file that grows too large show as failed writes.
#pragma once

namespace kith::cli {

void install_signal_handlers();

bool interrupted();

// Throws Error(cancelled) when a signal has come.
void throw_if_interrupted();

// May be nested.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

}  // namespace kith::cli
