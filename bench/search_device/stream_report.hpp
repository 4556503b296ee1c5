// stream_report.hpp: what was measured of a streamed base, for people and on file.
#pragma once

#include <nlohmann/json.hpp>

#include "search_device/stream.hpp"

namespace kith::search_bench {

void print(const StreamResult& result);
nlohmann::ordered_json to_json(const StreamResult& result);

}  // namespace kith::search_bench
