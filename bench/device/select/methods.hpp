// methods.hpp: selection methods by name, made ready to run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device/select/select_case.hpp"

namespace kith::bench::device::select {

// "auto", the selection methods, and "partial-bitonic/shared-memory" and "/shuffles", which only benchmarks use.
bool is_method(const std::string& name);

// What "auto" is on this device.
std::string chosen_method(const MatrixShape& shape, unsigned k, bool sorted);

// Enqueues the whole selection each time it is called, with a workspace of its own, so that only the first call
// allocates, whatever runs in between. Matrix and answer must outlive it; the answer has memory for rows × k.
std::function<void()> make_selection(const Entry& entry, const DeviceMatrix& matrix, DeviceAnswer& answer,
                                     cudaStream_t stream);

// Updates of each slot, the head first, over all rows of the matrix.
std::vector<unsigned long long> count_updates(const std::string& queue, unsigned k, const DeviceMatrix& matrix,
                                              const cuda::Stream& stream);

}  // namespace kith::bench::device::select
