// A progress bar on stderr: share done, rate and remaining time. Drawn only on a terminal and not when quiet; asked for
// or not, its callback cancels the work when a signal has come.
#pragma once

#include <chrono>
#include <string>

#include "kith/options.hpp"

namespace kith::cli {

class ProgressBar {
 public:
  // `unit` names what is counted: "distances".
  ProgressBar(std::string label, std::string unit);
  ~ProgressBar();  // erases the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Valid while the bar lives.
  ProgressCallback callback();

 private:
  using Clock = std::chrono::steady_clock;

  void draw(const Progress& progress);

  std::string label_;
  std::string unit_;
  bool visible_;
  bool drawn_ = false;
  Clock::time_point start_;
  Clock::time_point last_draw_;
};

}  // namespace kith::cli
