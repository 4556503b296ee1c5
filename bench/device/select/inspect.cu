#include "device/select/inspect.hpp"

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"

namespace kith::bench::device::select {
namespace {

using Word = unsigned long long;

constexpr unsigned kThreads = 256;
constexpr unsigned kChunk = 1U << 16;  // values of a row that one block counts

// What is known of a row and its answer.
struct RowState {
  Word last;   // the largest key of the answer
  Word hash;   // of the answer's ids
  Word count;  // keys of the row up to `last`
  Word found;  // hash of their ids
  unsigned misplaced;
  unsigned padding;
};

struct Verdict {
  unsigned wrong_rows;
  unsigned first_row;
};

// Values are not negative, so their bits are in their order.
__device__ Word key_of(float value, unsigned id) {
  return static_cast<Word>(__float_as_uint(value)) << 32 | id;
}

__device__ Word hash_of(unsigned id) {
  Word bits = (id + 1ULL) * 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9ULL;
  return bits ^ (bits >> 32);
}

// A block a row: the answer by itself.
__global__ void answer_kernel(const float* values, unsigned length, const float* answer_values,
                              const std::int64_t* answer_ids, unsigned k, bool sorted, RowState* states) {
  KITH_SHARED(RowState, state, 1);
  if (threadIdx.x == 0) *state = {};
  __syncthreads();
  const std::int64_t row = blockIdx.x;
  answer_values += row * k;
  answer_ids += row * k;
  Word last = 0;
  Word hash = 0;
  unsigned misplaced = 0;
  for (unsigned i = threadIdx.x; i < k; i += blockDim.x) {
    const std::int64_t id = answer_ids[i];
    if (id < 0 || id >= length || values[row * length + id] != answer_values[i]) {
      ++misplaced;
      continue;
    }
    const Word key = key_of(answer_values[i], static_cast<unsigned>(id));
    if (key > last) last = key;
    hash += hash_of(static_cast<unsigned>(id));
    if (sorted && i > 0 && key_of(answer_values[i - 1], static_cast<unsigned>(answer_ids[i - 1])) >= key) ++misplaced;
  }
  atomicMax(&state->last, last);
  atomicAdd(&state->hash, hash);
  if (misplaced > 0) atomicAdd(&state->misplaced, misplaced);
  __syncthreads();
  if (threadIdx.x == 0) states[row] = *state;
}

// A block a chunk: the row's keys up to the answer's last.
__global__ void count_kernel(const float* values, unsigned length, unsigned chunks, RowState* states) {
  KITH_SHARED(Word, count, 1);
  KITH_SHARED(Word, found, 1);
  if (threadIdx.x == 0) *count = *found = 0;
  __syncthreads();
  const std::int64_t row = blockIdx.x / chunks;
  const unsigned begin = blockIdx.x % chunks * kChunk;
  const unsigned end = length - begin > kChunk ? begin + kChunk : length;
  const Word last = states[row].last;
  Word my_count = 0;
  Word my_found = 0;
  for (unsigned column = begin + threadIdx.x; column < end; column += blockDim.x) {
    if (key_of(__ldcs(values + row * length + column), column) > last) continue;
    ++my_count;
    my_found += hash_of(column);
  }
  if (my_count > 0) {
    atomicAdd(count, my_count);
    atomicAdd(found, my_found);
  }
  __syncthreads();
  if (threadIdx.x != 0 || *count == 0) return;
  atomicAdd(&states[row].count, *count);
  atomicAdd(&states[row].found, *found);
}

__global__ void verdict_kernel(const RowState* states, std::int64_t rows, unsigned k, Verdict* verdict) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const RowState& state = states[row];
  if (state.misplaced == 0 && state.count == k && state.hash == state.found) return;
  atomicAdd(&verdict->wrong_rows, 1U);
  atomicMin(&verdict->first_row, static_cast<unsigned>(row));
}

}  // namespace

std::string Inspector::fault(const DeviceMatrix& matrix, const DeviceAnswer& answer, unsigned k, bool sorted) {
  const MatrixShape& shape = matrix.shape();
  const std::size_t bytes = static_cast<std::size_t>(shape.rows) * sizeof(RowState) + sizeof(Verdict);
  if (memory_.size() < bytes) {
    memory_ = {};
    memory_ = cuda::DeviceBuffer<unsigned char>(bytes, stream_);
  }
  auto* states = reinterpret_cast<RowState*>(memory_.data());
  auto* on_device = reinterpret_cast<Verdict*>(states + shape.rows);
  Verdict verdict = {0, ~0U};
  KITH_CUDA(cudaMemcpyAsync(on_device, &verdict, sizeof(verdict), cudaMemcpyHostToDevice, stream_));
  cuda::launch("inspect answer", answer_kernel, {.blocks = shape.rows, .threads = kThreads}, stream_, matrix.data(),
               shape.length, answer.values.data(), answer.ids.data(), k, sorted, states);
  const auto chunks = static_cast<unsigned>(cuda::ceil_div(shape.length, kChunk));
  cuda::launch("inspect rows", count_kernel, {.blocks = shape.rows * chunks, .threads = kThreads}, stream_,
               matrix.data(), shape.length, chunks, states);
  cuda::launch("inspect verdict", verdict_kernel, {.blocks = cuda::ceil_div(shape.rows, kThreads), .threads = kThreads},
               stream_, states, shape.rows, k, on_device);
  KITH_CUDA(cudaMemcpyAsync(&verdict, on_device, sizeof(verdict), cudaMemcpyDeviceToHost, stream_));
  stream_.synchronize();
  if (verdict.wrong_rows == 0) return "";
  return "wrong in " + std::to_string(verdict.wrong_rows) + " of " + std::to_string(shape.rows) +
         " rows, the first of them row " + std::to_string(verdict.first_row);
}

}  // namespace kith::bench::device::select
