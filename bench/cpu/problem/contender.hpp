// contender.hpp: one way to answer a row, or a ceiling that no way can beat.
#pragma once

#include <string>

#include "common/check.hpp"

namespace kith::bench {

// How much a ceiling does in one run; 1e9 of it in a second is one `unit`. Others have none.
struct Work {
  double amount = 0;
  const char* unit = "";
};

class Contender {
 public:
  Contender() = default;
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  virtual ~Contender() = default;

  // What is timed: from queries to an answer, the memory for the answer included.
  virtual void run() = 0;
  // Gives the last answer's memory back, so that doing so is not timed with the next.
  virtual void clear() {}
  // The last answer; a ceiling has none.
  virtual Answer answer() const { return {}; }
  // Why what the last run() of a ceiling did is not what it claims; empty when it is.
  virtual std::string fault() const { return {}; }
  // What the answer's values are.
  virtual Metric metric() const { return MetricKind::sqeuclidean; }
  virtual Work work() const { return {}; }
  // Something worth knowing about how it works.
  virtual std::string note() const { return {}; }
};

}  // namespace kith::bench
