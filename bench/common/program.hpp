// program.hpp: what the benchmark programs share: their exit codes, and how they begin and end.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <optional>

namespace kith::bench {

inline constexpr int kFailure = 1;  // a wrong answer, or the run broke off
inline constexpr int kUsageError = 2;
inline constexpr int kNoDevice = 5;

// The exit code where the arguments leave nothing to do: a mistake, or a wish for help.
inline std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  return std::nullopt;
}

// body(argc, argv); errors are printed behind the program's name.
template <class Body>
int run_program(const char* name, int argc, char** argv, Body body) {
  try {
    return body(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return kFailure;
  }
}

}  // namespace kith::bench
