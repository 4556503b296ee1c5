// What the steps of a search cost on a device, measured, for the planner to reckon with.
#pragma once

#include <string>
#include <vector>

#include "kith/export.hpp"
#include "kith/options.hpp"

namespace kith {

struct TuneOptions {
  Backend backend = Backend::automatic;  // cuda; `emulated` only by its name, and of no use but to test
  bool quick = false;                    // smaller work and fewer runs: within some 20 %
};

// Seconds a step of the whole device.
struct StepCost {
  std::string name;
  std::string meaning;
  double before = 0;
  double after = 0;
  bool measured = false;  // false: nothing was found out, it stays as it was
};

struct TuneReport {
  std::string device;
  std::string source;  // of the costs before: a file, or built in
  std::vector<StepCost> costs;
  double seconds = 0;  // that it took
};

// On the current device, which should have nothing else to do; it takes a few seconds and two or three GiB. Changes
// nothing: a search goes by the costs that it finds in the file $KITH_PROFILE, else in profile_path(device), else by
// those built in. Throws Error(no_device) where there is none, Error(bad_data) where KITH_PROFILE has something wrong.
KITH_API TuneReport tune(const TuneOptions& options = {});

// The text of the file with these costs.
KITH_API std::string profile_text(const TuneReport& report);

// ${XDG_CONFIG_HOME:-$HOME/.config}/kith/<device>.json; empty where neither variable is set.
KITH_API std::string profile_path(const std::string& device);

}  // namespace kith
