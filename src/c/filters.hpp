// filters.hpp: filters and labels of C as those of the library, which refer to the caller's memory.
#pragma once

#include "c/arguments.hpp"
#include "kith/collection.hpp"
#include "kith/filter.hpp"

namespace kith::c {

// Empty where there is none.
Filter filter_of(const kith_filter* filter);
PointLabels labels_of(const kith_labels* labels, std::int64_t points);

}  // namespace kith::c
