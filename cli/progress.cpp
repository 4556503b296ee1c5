#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/message.hpp"
#include "cli/signals.hpp"
#include "cli/sizes.hpp"

namespace kith::cli {
namespace {

constexpr auto kRedrawEvery = std::chrono::milliseconds(100);

int terminal_columns() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

ProgressBar::ProgressBar(std::string label, std::string unit)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      visible_(!quiet() && stderr_is_terminal()),
      start_(Clock::now()),
      last_draw_(start_) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

ProgressCallback ProgressBar::callback() {
  return [this](const Progress& progress) {
    draw(progress);
    return !interrupted();
  };
}

void ProgressBar::draw(const Progress& progress) {
  const Clock::time_point now = Clock::now();
  if (!visible_ || now - last_draw_ < kRedrawEvery) return;
  last_draw_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(progress.done) / seconds;
  const double left = rate > 0 ? static_cast<double>(progress.total - progress.done) / rate : 0;
  const std::string text = fmt::format(" {:3.0f}%  {} {}/s  {} left", 100 * progress.fraction(), format_count(rate),
                                       unit_, format_seconds(left));
  const int room = terminal_columns() - static_cast<int>(label_.size() + text.size()) - 4;
  const int width = std::clamp(room, 0, 30);
  const int filled = static_cast<int>(progress.fraction() * width);
  fmt::print(stderr, "\r{} [{:#>{}}{:.>{}}]{}\x1b[K", label_, "", filled, "", width - filled, text);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace kith::cli
