// stream.hpp: owners of CUDA streams and events.
#pragma once

#include <utility>

#include "cuda/runtime/spares.hpp"

namespace kith::KITH_BACKEND::inline runtime {

class Stream {
 public:
  Stream() : loan_(borrow_stream()) {}
  Stream(Stream&& other) noexcept : loan_(std::exchange(other.loan_, {})) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(loan_, other.loan_);
    return *this;
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (loan_.stream != nullptr) return_stream(loan_);
  }

  operator cudaStream_t() const { return loan_.stream; }  // NOLINT(google-explicit-constructor)
  void synchronize() const { KITH_CUDA(cudaStreamSynchronize(loan_.stream)); }

 private:
  StreamLoan loan_;
};

class Event {
 public:
  Event() { KITH_CUDA(cudaEventCreate(&event_)); }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }

  void record(cudaStream_t stream) { KITH_CUDA(cudaEventRecord(event_, stream)); }
  bool record_quietly(cudaStream_t stream) noexcept { return cudaEventRecord(event_, stream) == cudaSuccess; }
  void wait_on(cudaStream_t stream) const { KITH_CUDA(cudaStreamWaitEvent(stream, event_, 0)); }
  void synchronize() const { KITH_CUDA(cudaEventSynchronize(event_)); }
  // For destructors: does not throw; the next call reports the error.
  void synchronize_quietly() const noexcept { cudaEventSynchronize(event_); }
  bool has_happened() const { return cudaEventQuery(event_) == cudaSuccess; }
  // Milliseconds from `before` to this event, once both have happened.
  float since(const Event& before) const {
    float milliseconds = 0;
    KITH_CUDA(cudaEventElapsedTime(&milliseconds, before.event_, event_));
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace kith::KITH_BACKEND::inline runtime
