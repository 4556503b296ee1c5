// stream_pair.hpp: two streams with a workspace each, on which tiles of queries are enqueued alternately.
// The selection of one tile, which is bound by memory, overlaps with the distances of the next, which are bound by
// arithmetic. At most two tiles are in flight.
#pragma once

#include <array>

#include "cuda/runtime/stream.hpp"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::inline runtime {

class StreamPair {
 public:
  // Each stream may use half of the budget.
  explicit StreamPair(std::size_t budget) : workers_{Worker(budget / 2), Worker(budget / 2)} {}
  StreamPair(const StreamPair&) = delete;
  StreamPair& operator=(const StreamPair&) = delete;
  // Buffers that the streams use may be freed after this object, so it waits for both.
  ~StreamPair() { wait(); }

  void wait() noexcept {
    for (Worker& worker : workers_) cudaStreamSynchronize(worker.stream);
  }
  // Frees the memory of both workspaces.
  void clear() {
    for (Worker& worker : workers_) worker.workspace.clear();
  }

  // Makes both streams wait for the work enqueued on `stream` so far.
  void start_after(cudaStream_t stream) {
    start_.record(stream);
    for (Worker& worker : workers_) start_.wait_on(worker.stream);
  }
  // Returns the workspace of the other stream, after waiting for its last tile.
  Workspace& next() {
    turn_ = 1 - turn_;
    workers_[turn_].done.synchronize();
    return workers_[turn_].workspace;
  }
  void tile_is_enqueued() { workers_[turn_].done.record(workers_[turn_].stream); }
  // Makes `stream` wait for the last tiles of both streams.
  void finish_before(cudaStream_t stream) {
    for (Worker& worker : workers_) worker.done.wait_on(stream);
  }

 private:
  struct Worker {
    explicit Worker(std::size_t budget) : workspace(stream, budget) {}

    Stream stream;
    Workspace workspace;
    Event done;
  };

  std::array<Worker, 2> workers_;
  std::size_t turn_ = 0;
  Event start_;
};

}  // namespace kith::KITH_BACKEND::inline runtime
