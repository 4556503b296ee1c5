// gil.hpp: the GIL given back for a while, or taken for a while, also when Python is being torn down meanwhile. A
// thread must not get it any more then: Python before 3.14 unwinds the stack of one that asks, which no C++ code on it
// survives, and has no interpreter at all in the end; later ones let it hang. It hangs here too: the process ends
// without it.
#pragma once

#include <unistd.h>

#include "bindings.hpp"

namespace kith::python {

[[noreturn]] inline void never_return() {
  for (;;) pause();
}

// What take() returns, which asks for the GIL.
template <class Take>
auto take_gil(Take take) {
  if (Py_IsInitialized() == 0) never_return();  // from the beginning of the end on
  try {
    return take();
  } catch (...) {  // the unwinding, if the end came while it waited
    never_return();
  }
}

class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased() {
    take_gil([this] { PyEval_RestoreThread(state_); });
  }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* state_;
};

class GilAcquired {
 public:
  GilAcquired() : state_(take_gil([] { return PyGILState_Ensure(); })) {}
  ~GilAcquired() { PyGILState_Release(state_); }
  GilAcquired(const GilAcquired&) = delete;
  GilAcquired& operator=(const GilAcquired&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace kith::python
