// What kith topk lets one choose of single selection methods: an option for each value of SelectTuning.
#pragma once

#include <string>

#include "cli/context.hpp"
#include "kith/topk.hpp"

namespace kith::cli {

struct TuningSettings {
  SelectTuning tuning;
  std::string group = "auto";
  bool aligned = false;  // asked for by name; it is the default
  bool unaligned = false;

  SelectTuning values() const;
};

void add_tuning_options(CLI::App& command, Context& context, TuningSettings& settings);

}  // namespace kith::cli
