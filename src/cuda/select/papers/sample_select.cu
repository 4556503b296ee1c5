// sample_select.cu: sample select, one block per row (Hanák, 3.7.1 and 4.3).
// The buckets of bucket_select.cuh are bounded by splitters: percentiles of a random sample of the set, which the block
// sorts in registers. A key's bucket is found in an implicit complete binary search tree in shared memory.
//   stages = 1  the keys below the k-th key's bucket are written as the bucket is moved (the default)
//   stages = 2  only the bucket is moved; when the k-th key is known, a last pass over the row collects the result
// Cost: a row is read slightly more than twice, or three times in two stages, whatever the distribution; the tree costs
// eight comparisons per key and pass.
// Limits: any k. Workspace: k keys per row, and a quarter of a row's keys for each resident block.
// For comparison with Hanák only: `auto` never chooses it.
#include <string>

#include "cuda/primitives/random.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/select/bucket_select.cuh"
#include "cuda/select/bucket_work.hpp"
#include "cuda/select/finish.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::select {

namespace {

template <class T, unsigned kThreads>
class SampleBuckets {
 public:
  using Key = KeyOf<T>;
  static constexpr unsigned kLevels = 8;
  static constexpr unsigned kBuckets = 1U << kLevels;
  static constexpr unsigned kSample = 1024;
  static constexpr unsigned kItems = kSample / kThreads;
  static constexpr unsigned kEach = kSample / kBuckets;  // sampled keys per bucket
  static constexpr bool kFromSource = true;

  struct Shared {
    Key tree[kBuckets - 1];   // node i has its children at 2i + 1 and 2i + 2
    Key splitters[kBuckets];  // bucket b starts at splitters[b]; the first is not used
  };

  template <class Scratch>
  __device__ SampleBuckets(const RowKeySource<T>& source, const Cut<Key>& /*cut*/, unsigned round, Scratch& scratch)
      : shared_(scratch.buckets) {
    const unsigned seed = random_bits(static_cast<unsigned>(source.row), round);
    Key sample[kItems];
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i)
      sample[i] = source.key(sample_position(source.count, kSample, threadIdx.x * kItems + i, seed));
    Bitonic<Key, kThreads, kItems>::sort(sample, scratch.keys);
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) {
      const unsigned rank = threadIdx.x * kItems + i;
      if (rank % kEach == 0) shared_.splitters[rank / kEach] = sample[i];
    }
    __syncthreads();
    for (unsigned node = threadIdx.x; node < kBuckets - 1; node += kThreads)
      shared_.tree[node] = shared_.splitters[in_order(node)];
    __syncthreads();
  }

  __device__ unsigned bucket(const Key& key) const {
    unsigned node = 0;
    KITH_UNROLL
    for (unsigned level = 0; level < kLevels; ++level) node = 2 * node + (key < shared_.tree[node] ? 1 : 2);
    return node - (kBuckets - 1);
  }

  __device__ Cut<Key> part(const Cut<Key>& cut, unsigned bucket) const {
    Cut<Key> narrowed = cut;
    if (bucket > 0) narrowed.low = shared_.splitters[bucket];
    if (bucket < kBuckets - 1) narrowed.end = shared_.splitters[bucket + 1];
    return narrowed;
  }

 private:
  // The index of a node's splitter: the position of the node in an in-order walk of the tree.
  __device__ static unsigned in_order(unsigned node) {
    const auto level = 31U - static_cast<unsigned>(__clz(static_cast<int>(node + 1)));
    const unsigned in_level = node + 1 - (1U << level);
    return (2 * in_level + 1) << (kLevels - 1 - level);
  }

  Shared& shared_;
};

template <class T, unsigned kThreads>
using SampleSelect = BucketSelect<T, SampleBuckets<T, kThreads>, kThreads>;

template <class T, unsigned kThreads>
__global__ void __launch_bounds__(kThreads, kBucketBlocks<T, kThreads>)
    sample_select_kernel(Rows<T> rows, unsigned k, unsigned stages, KeyOf<T>* aux, unsigned aux_size, KeyOf<T>* out) {
  using Select = SampleSelect<T, kThreads>;
  using Scratch = typename Select::Scratch;
  static_assert(SampleBuckets<T, kThreads>::kSample <= Select::kInRegisters,
                "a set has at least as many keys as the sample");
  KITH_SHARED(Scratch, scratch, 1);
  aux += static_cast<std::int64_t>(blockIdx.x) * aux_size;
  for (std::int64_t row = blockIdx.x; row < rows.rows; row += gridDim.x) {
    Select select(rows, row, aux, aux_size, scratch[0]);
    if (stages == 1)
      select.in_one_stage(k, out + row * k);
    else
      select.in_two_stages(k, out + row * k);
  }
}

}  // namespace

namespace methods {

template <class T>
void sample_select(const SelectCall<T>& call) {
  const int stages = call.tuning.stages;
  if (stages < 0 || stages > 2)
    throw Error(ErrorCode::invalid_argument, "sample-select has 1 or 2 stages, not " + std::to_string(stages));
  const BucketWork<T> work = allocate_bucket_work(call);
  launch("sample-select", work.short_rows ? sample_select_kernel<T, 256> : sample_select_kernel<T, 512>,
         {.blocks = work.blocks, .threads = work.short_rows ? 256U : 512U}, call.stream(), call.rows, call.k(),
         stages == 2 ? 2U : 1U, work.aux, work.aux_size, work.out);
  finish_rows(work.out, call);
}

template void sample_select<float>(const SelectCall<float>&);
template void sample_select<double>(const SelectCall<double>&);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
