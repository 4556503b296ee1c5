// stream.hpp: owners of CUDA streams and events.
#pragma once

#include <utility>

#include "cuda/runtime/check.hpp"

namespace kith::KITH_BACKEND::inline runtime {

class Stream {
 public:
  Stream() { KITH_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)
  void synchronize() const { KITH_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
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
  void wait_on(cudaStream_t stream) const { KITH_CUDA(cudaStreamWaitEvent(stream, event_, 0)); }
  void synchronize() const { KITH_CUDA(cudaEventSynchronize(event_)); }
  // For destructors: does not throw; the next call reports the error.
  void synchronize_quietly() const noexcept { cudaEventSynchronize(event_); }
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
