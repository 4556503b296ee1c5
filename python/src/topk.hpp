// topk.hpp: options of a selection from keywords.
#pragma once

#include <string>

#include "kith/topk.hpp"

namespace kith::python {

TopkOptions topk_options(bool largest, const std::string& output, const std::string& backend, const std::string& method,
                         int threads, std::int64_t memory);

}  // namespace kith::python
