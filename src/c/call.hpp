// call.hpp: the border to C: what is thrown inside becomes a status, and its message what kith_last_error() returns.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>

#include "kith.h"
#include "kith/error.hpp"

namespace kith::c {

kith_status status_of(ErrorCode code) noexcept;

// Keeps the message for this thread, without allocating, and returns the status.
kith_status fail(kith_status status, const char* message) noexcept;

// Does the work of a function of kith.h. A callback of C++ may throw anything, against the rules: that ends here too.
template <class Work>
kith_status call(Work work) noexcept {
  try {
    work();
    return KITH_OK;
  } catch (const Error& error) {
    return fail(status_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(KITH_OUT_OF_MEMORY, "the machine's memory is exhausted");
  } catch (const std::length_error&) {
    return fail(KITH_OUT_OF_MEMORY, "the result is larger than memory can hold");
  } catch (const std::exception& error) {
    return fail(KITH_INTERNAL, error.what());
  } catch (...) {
    return fail(KITH_INTERNAL, "an exception of a type that is not known");
  }
}

}  // namespace kith::c
