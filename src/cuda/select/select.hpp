// select.hpp: the selection methods by their names, and which of them `auto` is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cuda/select/method.hpp"

namespace kith::KITH_BACKEND::select {

// Runs the method of that name; "auto" is the one chosen for the call. Throws Error(invalid_argument) for others.
template <class T>
void select_rows(const SelectCall<T>& call, std::string_view method);

// "auto" first.
std::vector<std::string> select_method_names();

// What "auto" is for rows × length values of which k are wanted in this form, on a device with so many multiprocessors.
std::string_view choose_method(std::int64_t rows, std::int64_t length, std::int64_t k, TopkOutput form,
                               unsigned processors);

}  // namespace kith::KITH_BACKEND::select
