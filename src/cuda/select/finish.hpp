// finish.hpp: from the k keys of each row, in any order, to the answer.
#pragma once

#include "cuda/select/method.hpp"

namespace kith::KITH_BACKEND::select {

// `keys` is rows × k in the workspace, each row's k first keys in any order; it is overwritten.
template <class T>
void finish_rows(KeyOf<T>* keys, const SelectCall<T>& call);

// For rows that are sorted already and `stride` keys apart: writes the first k of each.
template <class T>
void put_sorted_rows(const KeyOf<T>* keys, std::int64_t stride, const SelectCall<T>& call);

}  // namespace kith::KITH_BACKEND::select
