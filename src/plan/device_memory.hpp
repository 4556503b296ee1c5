// device_memory.hpp: how much memory a search takes on a device at its peak, by the shape alone.
#pragma once

#include "core/facts.hpp"
#include "kith/plan.hpp"
#include "plan/choose.hpp"

namespace kith::plan {

// Bytes beside the base and what an index makes of it once (fp16, clusters, orders): queries and answers of the host,
// scores, candidates, keys, lists; slots of a base that is streamed. The first pass only, and of what depends on the
// data the least: a radius search that finds more takes more.
std::int64_t peak_bytes(const Plan& plan, const IndexFacts& index, bool resident, const core::DevicePolicy& policy);

}  // namespace kith::plan
