// block_scan.cuh: a block reads a stretch and offers what may be wanted to a sink (Hanák, 4.1 and 4.1.5).
// A sink has
//   threshold()   keys not below it are of no use; the same for all threads
//   add(key)      true when there was room for it; called by single threads
//   flush()       makes room and lowers the threshold; called by all threads, with everything added before visible
#pragma once

#include "cuda/select/row_segment.cuh"

namespace kith::KITH_BACKEND::select {

// Every thread offers the elements that its `wanted` bits stand for, in as many rounds as the sink's room asks for.
// The elements are read again, from cache: it is rare that there are any. All threads of the block call.
template <class Stretch, class Sink, class ElementOfBit>
__device__ __forceinline__ void offer(const Stretch& stretch, unsigned wanted, ElementOfBit element, Sink& sink) {
  while (true) {
    while (wanted != 0) {
      const typename Stretch::Key key = stretch.key(element(lowest_bit(wanted)));
      if (key < sink.threshold() && !sink.add(key)) break;
      wanted &= wanted - 1;
    }
    if (__syncthreads_or(wanted != 0 ? 1 : 0) == 0) return;
    sink.flush();
  }
}

// Batches one after the other, or far apart: about the golden section of them on, round and round, which meets each
// once. What is small then shows early whatever the order of the stretch.
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

// `interleaved` > 0: the stretch holds that many ascending lists, element i belonging to list i % interleaved, no more
// than a batch has elements. The scan ends with the first batch of which nothing is wanted: nothing behind it can be.
template <unsigned kThreads, unsigned kVectors, class Stretch, class Sink>
__device__ void block_scan(const Stretch& stretch, Sink& sink, unsigned interleaved = 0, bool scattered = false) {
  using Reader = BatchReader<Stretch, kThreads, kVectors>;
  const Reader reader(stretch, threadIdx.x);
  const BatchOrder order((reader.vectors() + Reader::kBatch - 1) / Reader::kBatch, scattered);
  unsigned edge = reader.edge();
  typename Reader::Batch batch = reader.load(0);
  unsigned at = 0;
  for (unsigned left = order.batches; left > 0; --left) {
    const unsigned first = at * Reader::kBatch;
    at = order.after(at);
    // In flight while this batch is worked on.
    typename Reader::Batch next{};
    if (left > 1) next = reader.load(at * Reader::kBatch);
    const unsigned wanted = reader.test(batch, first, stretch.limit(sink.threshold())) | edge;
    if (interleaved > 0 && __syncthreads_or(wanted != 0 ? 1 : 0) == 0) return;
    offer(
        stretch, wanted, [&](unsigned bit) { return reader.element(first, bit); }, sink);
    batch = next;
    edge = 0;
  }
}

}  // namespace kith::KITH_BACKEND::select
