// devices.hpp: the backends for devices, as far as they are in this build.
#pragma once

#include "backend/contract.hpp"

namespace kith::api {

// Built in, and a device is there. cpu always is.
bool is_available(Backend backend);

// Empty where the backend is not built in.
std::vector<std::string> device_select_names(Backend backend);
std::vector<Device> list_cuda_devices();

// The functions of the backend, which must be available.
template <Element T>
void device_topk(Backend backend, const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options,
                 Topk<T>& out);
core::DeviceFacts device_facts(Backend backend);  // with the profile that is found for it
std::vector<MeasuredCost> measure_device_costs(Backend backend, const TuneSize& size);
template <Element T>
std::unique_ptr<DeviceIndex<T>> make_device_index(Backend backend, const MatrixView<T>& base, const Metric& metric,
                                                  bool resident);
template <Element T>
void device_distances(Backend backend, const MatrixView<T>& base, const MatrixView<T>& queries, const Options& options,
                      DistanceOf<T>* out);
template <class T>
void enqueue_cuda_topk(const DeviceTopk<T>& work, const TopkOptions& options, void* stream);
template <class T>
std::unique_ptr<PointerIndex<T>> make_cuda_pointer_index(const MatrixView<T>& base, const Options& options,
                                                         void* stream);

}  // namespace kith::api
