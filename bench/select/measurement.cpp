#include "measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kith::select_bench {
namespace {

const Measurement* on_random_rows(const Measurement& measurement, const std::vector<Measurement>& all) {
  Shape shape = measurement.shape;
  shape.pattern = Pattern::random;
  for (const Measurement& other : all)
    if (other.suite == measurement.suite && other.shape == shape && other.entry.k == measurement.entry.k &&
        other.entry.contender.label == measurement.entry.contender.label && other.status == Status::timed)
      return &other;
  return nullptr;
}

BarResult judge_times_random(const Measurement& measurement, const std::vector<Measurement>& all) {
  const double limit = measurement.entry.bar.times_random;
  BarResult result{fmt::format("≤ {:g} × random", limit), "", false};
  const Measurement* random = on_random_rows(measurement, all);
  if (random == nullptr) {
    result.reached = "random rows not timed";
    return result;
  }
  const double ratio = measurement.median_ms() / random->median_ms();
  result.reached = fmt::format("{:.2f}", ratio);
  result.ok = ratio <= limit;
  return result;
}

}  // namespace

const char* to_string(Status status) {
  switch (status) {
    case Status::timed: return "timed";
    case Status::skipped: return "skipped";
    case Status::unsupported: return "unsupported";
    case Status::wrong: return "wrong";
  }
  return "";
}

double Measurement::median_ms() const {
  return median(samples_ms);
}

double Measurement::terabytes_a_second() const {
  return static_cast<double>(shape.values() * sizeof(float)) / median_ms() * 1e-9;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<BarResult> judge(const Measurement& measurement, const std::vector<Measurement>& all, double read_rate) {
  const Bar& bar = measurement.entry.bar;
  if (bar.fraction == 0 && bar.ms == 0 && bar.times_random == 0) return std::nullopt;
  if (measurement.status != Status::timed) return BarResult{"", "not timed", false};
  if (bar.times_random > 0) return judge_times_random(measurement, all);
  if (bar.ms > 0)
    return BarResult{fmt::format("≤ {:g} ms", bar.ms), fmt::format("{:.3f} ms", measurement.median_ms()),
                     measurement.median_ms() <= bar.ms};
  const double fraction = measurement.terabytes_a_second() / read_rate;
  return BarResult{fmt::format("≥ {:.2f} R", bar.fraction), fmt::format("{:.3f} R", fraction),
                   fraction >= bar.fraction};
}

}  // namespace kith::select_bench
