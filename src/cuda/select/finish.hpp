// finish.hpp: writes the output from the k smallest keys of each row.
#pragma once

#include "cuda/select/method.hpp"

namespace kith::KITH_BACKEND::select {

// Writes the output. `keys`, rows × k in the workspace, has the k smallest keys of each row; it is overwritten.
template <class T>
void finish_rows(KeyOf<T>* keys, const SelectCall<T>& call);

// Writes the output from sorted rows of keys, `stride` keys apart: the first k of each.
template <class T>
void put_sorted_rows(const KeyOf<T>* keys, std::int64_t stride, const SelectCall<T>& call);

}  // namespace kith::KITH_BACKEND::select
