// streams.cpp: streams are queues. Work runs when something waits for it, in a random order of streams from the seed.
#include <algorithm>
#include <map>
#include <set>

#include "block.hpp"
#include "chip.hpp"
#include "random.hpp"
#include "state.hpp"

namespace emulator::cuda {

struct CUstream_st {
  int device = 0;
  bool blocking = true;
  bool is_default = false;
  std::deque<std::shared_ptr<emulator::Work>> queue;
  std::shared_ptr<emulator::Work> last;
};

struct CUevent_st {
  int device = 0;
  bool timed = true;
  std::shared_ptr<emulator::Work> recorded;
};

}  // namespace emulator::cuda

namespace emulator {

namespace {

struct Streams {
  std::vector<std::unique_ptr<CUstream_st>> all;
  std::map<int, CUstream_st*> defaults;
  std::set<CUevent_st*> events;
  std::string failure;
};

// Never destroyed, like all state of the emulator: static objects of the library may free memory at exit.
Streams& streams() {
  static Streams& instance = *new Streams;
  return instance;
}

CUstream_st* create(int device, bool blocking, bool is_default) {
  auto stream = std::make_unique<CUstream_st>();
  stream->device = device;
  stream->blocking = blocking;
  stream->is_default = is_default;
  streams().all.push_back(std::move(stream));
  return streams().all.back().get();
}

// Returns null for an unknown stream.
CUstream_st* resolve(cudaStream_t stream) {
  Streams& known = streams();
  if (stream == nullptr) {
    CUstream_st*& found = known.defaults[current_device()];
    if (found == nullptr) found = create(current_device(), true, true);
    return found;
  }
  const auto found = std::find_if(known.all.begin(), known.all.end(), [=](const auto& s) { return s.get() == stream; });
  return found == known.all.end() ? nullptr : stream;
}

bool pending(const std::shared_ptr<Work>& work) {
  return work != nullptr && !work->done;
}

// The default stream waits for all blocking streams of its device, and they wait for it.
std::vector<std::shared_ptr<Work>> implied(const CUstream_st& stream) {
  std::vector<std::shared_ptr<Work>> after;
  if (!stream.blocking) return after;
  for (const auto& other : streams().all) {
    const bool related = other->device == stream.device && other->blocking && other->is_default != stream.is_default;
    if (related && pending(other->last)) after.push_back(other->last);
  }
  return after;
}

std::shared_ptr<Work> append(CUstream_st& stream, std::function<void()> run, bool always) {
  auto work = std::make_shared<Work>();
  work->run = std::move(run);
  work->always = always;
  work->device = stream.device;
  work->after = implied(stream);
  stream.queue.push_back(work);
  stream.last = work;
  return work;
}

void run_first(CUstream_st& stream) {
  const std::shared_ptr<Work> work = stream.queue.front();
  stream.queue.pop_front();
  if (work->run && (streams().failure.empty() || work->always)) {
    open_device_memory(work->device);
    work->run();
    close_device_memory();
  }
  work->done = true;
  work->when = std::chrono::steady_clock::now();
  work->run = nullptr;
  work->after.clear();
}

bool can_run(const CUstream_st& stream) {
  return !stream.queue.empty() && std::none_of(stream.queue.front()->after.begin(), stream.queue.front()->after.end(),
                                               [](const auto& work) { return !work->done; });
}

// Work depends only on work queued before it, so that some work can always run.
void run_one() {
  std::vector<CUstream_st*> candidates;
  for (const auto& stream : streams().all)
    if (can_run(*stream)) candidates.push_back(stream.get());
  if (!candidates.empty()) run_first(*candidates[random_source.below(static_cast<std::uint32_t>(candidates.size()))]);
}

void run_until_done(const std::shared_ptr<Work>& work) {
  while (pending(work)) run_one();
}

}  // namespace

void set_failure(const std::string& text) {
  if (streams().failure.empty()) streams().failure = text;
}

cudaError_t enqueue(cudaStream_t stream, std::function<void()> run, bool always) {
  CUstream_st* target = resolve(stream);
  if (target == nullptr) return report(cudaErrorInvalidResourceHandle);
  append(*target, std::move(run), always);
  return report(cudaSuccess);
}

cudaError_t enqueue(const char* name, std::function<void()> work, cudaStream_t stream) {
  const Guard guard(lock());
  return enqueue(stream, [name = std::string(name), work = std::move(work)] {
    try {
      work();
    } catch (const std::exception& error) {
      set_failure(name + ": " + error.what());
    }
  });
}

cudaError_t drain(cudaStream_t stream) {
  CUstream_st* target = resolve(stream);
  if (target == nullptr) return report(cudaErrorInvalidResourceHandle);
  run_until_done(target->last);
  return report(cudaSuccess);
}

cudaError_t drain_device() {
  const int device = current_device();
  for (std::size_t i = 0; i < streams().all.size(); ++i)
    if (streams().all[i]->device == device) run_until_done(streams().all[i]->last);
  return report(cudaSuccess);
}

std::string last_failure() {
  const Guard guard(lock());
  return streams().failure;
}

void reset() {
  const Guard guard(lock());
  set_failure("reset");  // queued work is then skipped
  for (const auto& stream : streams().all) run_until_done(stream->last);
  streams().failure.clear();
  cudaGetLastError();
}

cudaError_t launch(const char* name, std::function<void()> body, dim3 grid, dim3 shape, std::size_t shared_bytes,
                   cudaStream_t stream, const void* kernel) {
  const Guard guard(lock());
  const std::uint64_t threads = std::uint64_t{shape.x} * shape.y * shape.z;
  const bool grid_fits =
      grid.x >= 1 && grid.x <= 0x7FFFFFFFU && grid.y >= 1 && grid.y <= 65535 && grid.z >= 1 && grid.z <= 65535;
  const bool block_fits = shape.x <= 1024 && shape.y <= 1024 && shape.z <= 64 && threads >= 1 && threads <= kMaxThreads;
  if (!grid_fits || !block_fits) return report(cudaErrorInvalidConfiguration);
  const std::size_t dynamic_limit = dynamic_shared_limit(kernel);
  if (shared_bytes > dynamic_limit) return report(cudaErrorInvalidValue);
  const std::size_t shared_limit = dynamic_limit > kStaticShared ? chip().shared_per_block : kStaticShared;
  const CUstream_st* target = resolve(stream);
  if (target == nullptr || target->device != current_device()) return report(cudaErrorInvalidResourceHandle);
  return enqueue(stream, [kernel = Kernel{name, std::move(body), grid, shape, shared_bytes, shared_limit}] {
    const std::string failure = run(kernel);
    if (!failure.empty()) set_failure(failure);
  });
}

namespace cuda {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const Guard guard(lock());
  *stream = create(current_device(), (flags & cudaStreamNonBlocking) == 0, false);
  return report(cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Guard guard(lock());
  if (stream == nullptr) return report(cudaErrorInvalidResourceHandle);
  const cudaError_t error = drain(stream);
  std::erase_if(streams().all, [=](const auto& other) { return other.get() == stream; });
  return error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Guard guard(lock());
  return drain(stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const Guard guard(lock());
  const CUstream_st* target = resolve(stream);
  if (target == nullptr) return report(cudaErrorInvalidResourceHandle);
  if (!pending(target->last)) return report(cudaSuccess);
  run_one();  // so that a polling loop makes progress
  return cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  const Guard guard(lock());
  CUstream_st* target = resolve(stream);
  if (target == nullptr || !streams().events.contains(event)) return report(cudaErrorInvalidResourceHandle);
  if (pending(event->recorded)) append(*target, nullptr, false)->after.push_back(event->recorded);
  return report(cudaSuccess);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const Guard guard(lock());
  *event = new CUevent_st{current_device(), (flags & cudaEventDisableTiming) == 0, nullptr};
  streams().events.insert(*event);
  return report(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Guard guard(lock());
  if (streams().events.erase(event) == 0) return report(cudaErrorInvalidResourceHandle);
  delete event;
  return report(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const Guard guard(lock());
  CUstream_st* target = resolve(stream);
  if (target == nullptr || !streams().events.contains(event) || target->device != event->device)
    return report(cudaErrorInvalidResourceHandle);
  event->recorded = append(*target, nullptr, false);
  return report(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Guard guard(lock());
  if (!streams().events.contains(event)) return report(cudaErrorInvalidResourceHandle);
  run_until_done(event->recorded);
  return report(cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Guard guard(lock());
  if (!streams().events.contains(event)) return report(cudaErrorInvalidResourceHandle);
  if (!pending(event->recorded)) return report(cudaSuccess);
  run_one();
  return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const Guard guard(lock());
  for (const cudaEvent_t event : {start, end}) {
    if (!streams().events.contains(event) || !event->timed || event->recorded == nullptr)
      return report(cudaErrorInvalidResourceHandle);
    if (pending(event->recorded)) return report(cudaErrorNotReady);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->recorded->when - start->recorded->when).count();
  return report(cudaSuccess);
}

}  // namespace cuda

}  // namespace emulator
