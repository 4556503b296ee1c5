// stream_pair.hpp: two streams that tiles of queries take in turn, so that the best of one are selected, which is
// reading, while the scores of the next are computed.
#pragma once

#include <array>

#include "cuda/runtime/stream.hpp"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::inline runtime {

class StreamPair {
 public:
  // Each lane may use half of the budget.
  explicit StreamPair(std::size_t budget) : streams_{Lane(budget / 2), Lane(budget / 2)} {}
  StreamPair(const StreamPair&) = delete;
  StreamPair& operator=(const StreamPair&) = delete;
  // What the lanes work on may go when they do.
  ~StreamPair() { wait(); }

  void wait() noexcept {
    for (Lane& lane : streams_) cudaStreamSynchronize(lane.stream);
  }
  // Gives all their memory back.
  void clear() {
    for (Lane& lane : streams_) lane.workspace.clear();
  }

  // Both start when the stream comes to this.
  void follow(cudaStream_t stream) {
    begun_.record(stream);
    for (Lane& lane : streams_) begun_.wait_on(lane.stream);
  }
  // The other lane, once its last tile is done: two tiles are on their way, no more.
  Workspace& next() {
    turn_ = 1 - turn_;
    streams_[turn_].done.synchronize();
    return streams_[turn_].workspace;
  }
  void tile_is_enqueued() { streams_[turn_].done.record(streams_[turn_].stream); }
  // The stream goes on when both are done.
  void lead(cudaStream_t stream) {
    for (Lane& lane : streams_) lane.done.wait_on(stream);
  }

 private:
  struct Lane {
    explicit Lane(std::size_t budget) : workspace(stream, budget) {}

    Stream stream;
    Workspace workspace;
    Event done;
  };

  std::array<Lane, 2> streams_;
  std::size_t turn_ = 0;
  Event begun_;
};

}  // namespace kith::KITH_BACKEND::inline runtime
