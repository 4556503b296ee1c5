// watch.hpp: a call into the library: the GIL released, Ctrl-C heeded, progress reported.
#pragma once

#include <chrono>
#include <optional>

#include "bindings.hpp"
#include "gil.hpp"
#include "kith/error.hpp"
#include "kith/options.hpp"

namespace kith::python {

// While one lives, the library's progress on this thread goes to it. Every now and then it looks for signals and calls
// progress(done, total), unless that is None; what these raise stops the work.
class Watch {
 public:
  explicit Watch(nb::handle progress);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // The callback for Options: the library calls it on the thread that called the library.
  static bool on_progress(const Progress& progress);

  // Runs f with the GIL on a thread that is in a call under a Watch; what Python raises in it stops the work.
  template <class F>
  static auto run_python(F f) {
    const GilAcquired acquired;
    try {
      return f();
    } catch (nb::python_error& error) {
      stop_with(error);
    }
  }

  // Throws what Python raised, if it did.
  void rethrow();

 private:
  bool report(const Progress& progress);
  [[noreturn]] static void stop_with(nb::python_error& error);

  nb::handle progress_;
  std::chrono::steady_clock::time_point last_;
  std::optional<nb::python_error> raised_;
  Watch* outer_;
};

// Runs work() under a Watch.
template <class Work>
auto watched(nb::handle progress, Work work) {
  Watch watch(progress);
  try {
    const GilReleased released;
    return work();
  } catch (const Error&) {
    watch.rethrow();
    throw;
  }
}

}  // namespace kith::python
