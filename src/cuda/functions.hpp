// functions.hpp: what the table of a backend for devices is made of.
#pragma once

#include "backend/contract.hpp"

namespace kith::KITH_BACKEND {

// Whether the current device can be used, and what keeps this build from it where one is here.
struct DevicePresence {
  bool usable = false;
  std::string obstacle;
};
DevicePresence find_device();
std::vector<Device> device_list();
// Ids of devices that can be used, by what the driver says without waking them.
std::vector<int> usable_devices();

// Of the current device, with the profile that is built in.
core::DeviceFacts device_facts();

// Those costs of a profile that can be measured on the current device.
std::vector<backend::MeasuredCost> measure_costs(const backend::TuneSize& size);

// An index of points (cuda/index.hpp).
template <Element T>
std::unique_ptr<backend::BackendIndex<T>> make_index(const backend::IndexRequest<T>& request);

template <Element T>
void distances(const MatrixView<T>& base, const MatrixView<T>& queries, const Options& options, void* stream,
               DistanceOf<T>* out);

// Where matrix and answer both lie on the device everything is enqueued on the stream, and nothing waited for.
template <Element T>
void topk(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, const TopkView<T>& out,
          void* stream);

}  // namespace kith::KITH_BACKEND
