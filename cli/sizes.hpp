// Quantities as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kith::cli {

// "1048576", "256MiB", "1.5GiB", "500MB", "64k": KiB/MiB/GiB/TiB (or K, M, G, T alone) count in 1024, kB/MB/GB/TB in
// 1000; any case. Throws Error(invalid_argument) for anything else, for 0 and for what 63 bits cannot hold.
std::int64_t parse_size(std::string_view text);

std::string format_bytes(std::int64_t bytes);      // "256 MiB"
std::string format_count(double count);            // "1.2 G"
std::string format_seconds(double seconds);        // "12.3 ms", "4.56 s", "3 min 20 s"
std::string format_integer(std::int64_t integer);  // "1,000,000"

}  // namespace kith::cli
