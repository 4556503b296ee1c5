// What Python raises for each code of kith::Error.
#include <exception>

#include "bindings.hpp"
#include "kith/error.hpp"

namespace kith::python {
namespace {

PyObject* exception_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::bad_data: return PyExc_ValueError;
    case ErrorCode::out_of_memory: return PyExc_MemoryError;
    case ErrorCode::cannot_write: return PyExc_OSError;
    case ErrorCode::no_device:
    case ErrorCode::cancelled:
    case ErrorCode::internal: return PyExc_RuntimeError;
  }
  return PyExc_RuntimeError;
}

}  // namespace

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      PyErr_SetString(exception_for(error.code()), error.what());
    }
  });
}

}  // namespace kith::python
