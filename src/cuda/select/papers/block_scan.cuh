// block_scan.cuh: a block reads a segment of a row and passes the keys below a threshold to a sink (Hanák, 4.1, 4.1.5).
// For comparison with Hanák only: `auto` never chooses a method that uses it. A sink has
//   threshold()   keys not below it are rejected; the same value in all threads
//   add(key)      false if the sink is full; called by single threads
//   flush()       empties the buffer and lowers the threshold; called by all threads, after a barrier
#pragma once

#include "cuda/select/row_segment.cuh"

namespace kith::KITH_BACKEND::select {

// Every thread offers the elements of its `wanted` bits, in as many rounds as the sink needs to flush. The elements are
// read again, from the cache, which is rare. Must be called by all threads of the block.
template <class Segment, class Sink, class ElementOfBit>
__device__ __forceinline__ void offer(const Segment& segment, unsigned wanted, ElementOfBit element, Sink& sink) {
  while (true) {
    while (wanted != 0) {
      const typename Segment::Key key = segment.key(element(lowest_bit(wanted)));
      if (key < sink.threshold() && !sink.add(key)) break;
      wanted &= wanted - 1;
    }
    if (__syncthreads_or(wanted != 0 ? 1 : 0) == 0) return;
    sink.flush();
  }
}

// The order of batches: consecutive, or scattered by steps of about the golden section modulo their number, which
// visits each once. Scattered, small keys are met early even in a descending row.
struct BatchOrder {
  unsigned batches;
  unsigned step;

  __device__ BatchOrder(unsigned count, bool scattered) : batches(count > 0 ? count : 1), step(1) {
    if (!scattered || batches < 3) return;
    step = static_cast<unsigned>(static_cast<float>(batches) * 0.618F);
    while (common_divisor(step, batches) != 1) ++step;
  }

  __device__ unsigned after(unsigned batch) const {
    const unsigned left = batches - batch;
    return step < left ? batch + step : step - left;
  }

 private:
  __device__ static unsigned common_divisor(unsigned a, unsigned b) {
    while (b != 0) {
      const unsigned rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
};

// Offers all elements of the segment to the sink. `interleaved` > 0: the segment consists of that many ascending lists,
// element i belonging to list i % interleaved, and a batch covers all of them; the scan then ends with the first batch
// without a key below the threshold, since no later one can have any.
template <unsigned kThreads, unsigned kVectors, class Segment, class Sink>
__device__ void block_scan(const Segment& segment, Sink& sink, unsigned interleaved = 0, bool scattered = false) {
  using Reader = BatchReader<Segment, kThreads, kVectors>;
  const Reader reader(segment, threadIdx.x);
  const BatchOrder order((reader.vectors() + Reader::kBatch - 1) / Reader::kBatch, scattered);
  unsigned edge = reader.edge();
  typename Reader::Batch batch = reader.load(0);
  unsigned at = 0;
  for (unsigned left = order.batches; left > 0; --left) {
    const unsigned first = at * Reader::kBatch;
    at = order.after(at);
    // The next load is in flight while this batch is tested.
    typename Reader::Batch next{};
    if (left > 1) next = reader.load(at * Reader::kBatch);
    const unsigned wanted = reader.test(batch, first, segment.limit(sink.threshold())) | edge;
    if (interleaved > 0 && __syncthreads_or(wanted != 0 ? 1 : 0) == 0) return;
    offer(
        segment, wanted, [&](unsigned bit) { return reader.element(first, bit); }, sink);
    batch = next;
    edge = 0;
  }
}

}  // namespace kith::KITH_BACKEND::select
