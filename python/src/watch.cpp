#include "watch.hpp"

#include <utility>

namespace kith::python {
namespace {

// Seldom enough that taking the GIL costs nothing, often enough for a person.
constexpr std::chrono::milliseconds kInterval{40};

thread_local Watch* current = nullptr;

}  // namespace

Watch::Watch(nb::handle progress)
    : progress_(progress), last_(std::chrono::steady_clock::now()), outer_(std::exchange(current, this)) {}

Watch::~Watch() {
  current = outer_;
}

bool Watch::on_progress(const Progress& progress) {
  return current == nullptr || current->report(progress);
}

bool Watch::report(const Progress& progress) {
  if (raised_) return false;
  const bool last = progress.done == progress.total && !progress_.is_none();
  const auto now = std::chrono::steady_clock::now();
  if (!last && now - last_ < kInterval) return true;
  last_ = now;
  const GilAcquired acquired;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress_.is_none()) progress_(progress.done, progress.total);
  } catch (nb::python_error& error) {
    raised_.emplace(std::move(error));
    return false;
  }
  return true;
}

void Watch::stop_with(nb::python_error& error) {
  current->raised_.emplace(std::move(error));
  throw Error(ErrorCode::cancelled, "stopped by an exception of Python");
}

void Watch::rethrow() {
  if (raised_) throw nb::python_error(std::move(*raised_));
}

}  // namespace kith::python
