// Arrays as text: CSV and JSON. Numbers are printed so that they read back equal.
#pragma once

#include "kith/io.hpp"

namespace kith::io {

class Sink;

// Arrays with equal row counts, side by side; a header row unless there is one array and it has no name.
void write_csv(Sink& sink, const NamedArrays& arrays);

// An object of arrays, or the bare array when there is one and it has no name. NaN and Inf become null.
void write_json(Sink& sink, const NamedArrays& arrays);

}  // namespace kith::io
