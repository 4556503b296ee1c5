// Standard output carries data alone, and a write to it that fails is an error.
#pragma once

#include <string_view>

namespace kith::cli {

// Buffered. Throws Error(cannot_write) with the system's reason.
void write_stdout(std::string_view text);

// Writes out what is buffered; throws as above.
void flush_stdout();

// Whether the reader of stdout has gone away.
bool stdout_is_broken_pipe();

}  // namespace kith::cli
