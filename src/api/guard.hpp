// guard.hpp: the edge of the library: what leaves it is a kith::Error, or the caller's own exception from a callback;
// inside, the floating-point environment is the default one, whatever the caller's is.
#pragma once

#include <new>
#include <stdexcept>

#include "core/fp_environment.hpp"
#include "kith/error.hpp"

namespace kith::api {

template <class Work>
auto guarded(Work work) {
  const core::DefaultFpEnvironment environment;
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "the machine's memory is exhausted");
  } catch (const std::length_error&) {
    throw Error(ErrorCode::out_of_memory, "the result is larger than memory can hold");
  }
}

}  // namespace kith::api
