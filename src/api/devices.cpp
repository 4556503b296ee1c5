#include "api/devices.hpp"

#include <fmt/format.h>

#include <utility>

#include "backend/profile_file.hpp"
#include "kith/error.hpp"

namespace kith::api {
namespace {

[[noreturn]] void throw_absent(Backend backend) {
  throw Error(ErrorCode::no_device, fmt::format("backend {} is not in this build", to_string(backend)));
}

}  // namespace

bool is_available(Backend backend) {
  switch (backend) {
    case Backend::cpu: return true;
#if defined(KITH_HAS_CUDA)
    case Backend::cuda: {
      static const bool found = cuda::device_count() > 0;  // the driver takes a while to start
      return found;
    }
#endif
#if defined(KITH_HAS_EMULATED)
    case Backend::emulated: return emulated::device_count() > 0;
#endif
    default: return false;
  }
}

std::vector<std::string> device_select_names(Backend backend) {
  switch (backend) {
#if defined(KITH_HAS_CUDA)
    case Backend::cuda: return cuda::select_method_names();
#endif
#if defined(KITH_HAS_EMULATED)
    case Backend::emulated: return emulated::select_method_names();
#endif
    default: return {};
  }
}

std::vector<Device> list_cuda_devices() {
#if defined(KITH_HAS_CUDA)
  return cuda::device_list();
#else
  return {};
#endif
}

template <Element T>
void device_topk(Backend backend, [[maybe_unused]] const MatrixView<T>& matrix, [[maybe_unused]] std::int64_t k,
                 [[maybe_unused]] const TopkOptions& options, [[maybe_unused]] Topk<T>& out) {
  switch (backend) {
#if defined(KITH_HAS_CUDA)
    case Backend::cuda: return cuda::topk(matrix, k, options, out);
#endif
#if defined(KITH_HAS_EMULATED)
    case Backend::emulated: return emulated::topk(matrix, k, options, out);
#endif
    default: throw_absent(backend);
  }
}

namespace {

core::DeviceFacts facts_without_profile(Backend backend) {
  switch (backend) {
#if defined(KITH_HAS_CUDA)
    case Backend::cuda: return cuda::device_facts();
#endif
#if defined(KITH_HAS_EMULATED)
    case Backend::emulated: return emulated::device_facts();
#endif
    default: throw_absent(backend);
  }
}

}  // namespace

core::DeviceFacts device_facts(Backend backend) {
  core::DeviceFacts facts = facts_without_profile(backend);
  backend::FoundProfile found = backend::find_profile(facts.name);
  facts.profile = found.profile;
  facts.profile_source = std::move(found.source);
  return facts;
}

std::vector<MeasuredCost> measure_device_costs(Backend backend, [[maybe_unused]] const TuneSize& size) {
  switch (backend) {
#if defined(KITH_HAS_CUDA)
    case Backend::cuda: return cuda::measure_costs(size);
#endif
#if defined(KITH_HAS_EMULATED)
    case Backend::emulated: return emulated::measure_costs(size);
#endif
    default: throw_absent(backend);
  }
}

template <Element T>
std::unique_ptr<DeviceIndex<T>> make_device_index(Backend backend, [[maybe_unused]] const MatrixView<T>& base,
                                                  [[maybe_unused]] const Metric& metric,
                                                  [[maybe_unused]] bool resident) {
  switch (backend) {
#if defined(KITH_HAS_CUDA)
    case Backend::cuda: return cuda::make_index(base, metric, resident);
#endif
#if defined(KITH_HAS_EMULATED)
    case Backend::emulated: return emulated::make_index(base, metric, resident);
#endif
    default: throw_absent(backend);
  }
}

template <Element T>
void device_distances(Backend backend, [[maybe_unused]] const MatrixView<T>& base,
                      [[maybe_unused]] const MatrixView<T>& queries, [[maybe_unused]] const Options& options,
                      [[maybe_unused]] DistanceOf<T>* out) {
  switch (backend) {
#if defined(KITH_HAS_CUDA)
    case Backend::cuda: return cuda::distances(base, queries, options.metric, options.progress, out);
#endif
#if defined(KITH_HAS_EMULATED)
    case Backend::emulated: return emulated::distances(base, queries, options.metric, options.progress, out);
#endif
    default: throw_absent(backend);
  }
}

template <class T>
void enqueue_cuda_topk([[maybe_unused]] const DeviceTopk<T>& work, [[maybe_unused]] const TopkOptions& options,
                       [[maybe_unused]] void* stream) {
#if defined(KITH_HAS_CUDA)
  cuda::enqueue_topk(work, options, stream);
#else
  throw_absent(Backend::cuda);
#endif
}

template <class T>
std::unique_ptr<PointerIndex<T>> make_cuda_pointer_index([[maybe_unused]] const MatrixView<T>& base,
                                                         [[maybe_unused]] const Options& options,
                                                         [[maybe_unused]] void* stream) {
#if defined(KITH_HAS_CUDA)
  return cuda::make_pointer_index(base, options.metric, options.check_finite, stream);
#else
  throw_absent(Backend::cuda);
#endif
}

#define KITH_INSTANTIATE(T)                                                                                            \
  template void device_distances(Backend, const MatrixView<T>&, const MatrixView<T>&, const Options&, DistanceOf<T>*); \
  template void device_topk(Backend, const MatrixView<T>&, std::int64_t, const TopkOptions&, Topk<T>&);                \
  template std::unique_ptr<DeviceIndex<T>> make_device_index(Backend, const MatrixView<T>&, const Metric&, bool);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

template void enqueue_cuda_topk(const DeviceTopk<float>&, const TopkOptions&, void*);
template void enqueue_cuda_topk(const DeviceTopk<double>&, const TopkOptions&, void*);
template std::unique_ptr<PointerIndex<float>> make_cuda_pointer_index(const MatrixView<float>&, const Options&, void*);
template std::unique_ptr<PointerIndex<double>> make_cuda_pointer_index(const MatrixView<double>&, const Options&,
                                                                       void*);

}  // namespace kith::api
