// select.hpp: the selection methods by their enumerators, and which of them `automatic` is.
#pragma once

#include <vector>

#include "cuda/select/method.hpp"

namespace kith::KITH_BACKEND::select {

// Runs the method, or the one chosen for the call where it is automatic. Throws Error(invalid_argument) for what is no
// method of a device.
template <class T>
void select_rows(const SelectCall<T>& call, SelectMethod method);

// `automatic` first.
std::vector<SelectMethod> select_methods();

// What `automatic` is for rows × length values of which k are wanted in this form, on a device with so many
// multiprocessors.
SelectMethod choose_method(std::int64_t rows, std::int64_t length, std::int64_t k, TopkOutput form,
                           unsigned processors);

}  // namespace kith::KITH_BACKEND::select
