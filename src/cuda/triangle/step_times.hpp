// step_times.hpp: times of the steps of a search, by events on its stream.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cuda/runtime/stream.hpp"
#include "kith/search.hpp"

namespace kith::KITH_BACKEND::triangle {

// Is called with the name of a step once all of it is enqueued; may be empty.
using StepMark = std::function<void(const std::string&)>;

class StepTimes {
 public:
  explicit StepTimes(cudaStream_t stream) : stream_(stream) {
    marks_.push_back({"", Event()});
    marks_.back().event.record(stream);
  }
  StepTimes(const StepTimes&) = delete;
  StepTimes& operator=(const StepTimes&) = delete;

  StepMark mark() {
    return [this](const std::string& name) {
      marks_.push_back({name, Event()});
      marks_.back().event.record(stream_);
    };
  }

  // Adds up steps of the same name. Waits for the stream.
  std::vector<TriangleStatistics::Step> steps() const {
    marks_.back().event.synchronize();
    std::vector<TriangleStatistics::Step> steps;
    for (std::size_t i = 1; i < marks_.size(); ++i) {
      const double seconds = static_cast<double>(marks_[i].event.since(marks_[i - 1].event)) / 1e3;
      add_step(steps, {marks_[i].name, seconds});
    }
    return steps;
  }

  static void add_step(std::vector<TriangleStatistics::Step>& steps, const TriangleStatistics::Step& step) {
    for (TriangleStatistics::Step& there : steps) {
      if (there.name != step.name) continue;
      there.seconds += step.seconds;
      return;
    }
    steps.push_back(step);
  }

 private:
  struct Mark {
    std::string name;
    Event event;
  };

  cudaStream_t stream_;
  std::vector<Mark> marks_;
};

}  // namespace kith::KITH_BACKEND::triangle
