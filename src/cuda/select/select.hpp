// select.hpp: the selection methods by their enumerators.
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

}  // namespace kith::KITH_BACKEND::select
