// progress.hpp: reports of a search on a device, which runs behind the host that enqueues it.
// A search that waits for its answer waits before it reports, too. One whose answer stays on the device reports what is
// enqueued: large tiles of queries, of which two are on their way at most, keep that close to what is done.
#pragma once

#include <algorithm>
#include <atomic>

#include "cuda/runtime/check.hpp"
#include "kith/error.hpp"
#include "kith/options.hpp"

namespace kith::KITH_BACKEND {

class DeviceProgress {
 public:
  // `total`: pairs of a query and a point. How many passes there will be is not known, so the first is all of the way.
  // `stop`: as backend::Queries has it.
  DeviceProgress(const ProgressCallback& callback, const std::atomic<bool>* stop, std::int64_t total, bool waits,
                 cudaStream_t stream)
      : callback_(callback), stop_(stop), total_(total), waits_(waits), stream_(stream) {}

  // Throws Error(cancelled) where the callback says so, or somebody else.
  void add(std::int64_t pairs) {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed))
      throw Error(ErrorCode::cancelled, "the search was stopped");
    if (!callback_) return;
    if (waits_) KITH_CUDA(cudaStreamSynchronize(stream_));
    done_ = std::min(total_, done_ + pairs);
    if (!callback_({done_, total_})) throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
  }

 private:
  const ProgressCallback& callback_;
  const std::atomic<bool>* stop_;
  std::int64_t total_;
  bool waits_;
  cudaStream_t stream_;
  std::int64_t done_ = 0;
};

}  // namespace kith::KITH_BACKEND
