// The whole program: takes the command line apart, runs the command, and turns every failure into a message and an exit
// code.
#pragma once

namespace kith::cli {

int run_program(int argc, const char* const* argv);

}  // namespace kith::cli
