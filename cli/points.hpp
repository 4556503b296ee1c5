// Points as a search wants them: of a type the library computes in, base and queries alike.
#pragma once

#include <string>

#include "kith/io.hpp"

namespace kith::cli {

// int32 and int64 become float64; a note says so. `what` names the points: "base".
io::Array as_points(const std::string& what, io::Array points);
io::Array load_points(const std::string& what, const std::string& path, const io::LoadOptions& options);

// Brings both to one type that holds them: their own, else float64 where one of them has it, else float32; and says
// so. One-dimensional queries as long as the base's points are one query.
void match_queries(io::Array& base, io::Array& queries);

}  // namespace kith::cli
