// check.hpp: whether an answer is right, by a plain double-precision loop that shares nothing with the library.
//
// Every query: ids in range and different, distances those of the returned points. A sample of the queries (all of them
// while that costs at most kCheckWork coordinate pairs; evenly spread): the neighbors are the k nearest.
// An exact contender must have the very ids, in order of (distance rounded to the returned type, id), and distances
// right to the last rounding; double sums in another order may differ, so two points whose distances agree to kNoise
// are interchangeable. Of a peer, recall and the largest distance error are measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/matrix.hpp"
#include "kith/metric.hpp"
#include "kith/quality.hpp"

namespace kith::bench {

inline constexpr double kCheckWork = 2e9;
inline constexpr double kNoise = 1e-12;
// A peer below these is called inexact, and no bar counts against it.
inline constexpr double kPeerRecall = 0.999;
inline constexpr double kPeerError = 1e-2;

// queries × k ids and values as a contender returned them, row-major.
struct Answer {
  std::int64_t queries = 0;
  std::int64_t k = 0;
  std::vector<std::int64_t> ids;
  std::vector<double> distances;

  friend bool operator==(const Answer&, const Answer&) = default;
};

// What was asked. Points must outlive whoever judges.
template <Element T>
struct Question {
  MatrixView<T> base;
  MatrixView<T> queries;
  std::int64_t k = 0;
  bool self = false;  // the queries are the base points, each leaving itself out
  int threads = 1;    // of the check
  double work = kCheckWork;
};

// Smaller keys are nearer.
struct Neighbor {
  double key;
  std::int64_t id;
};

struct Verdict {
  std::string fault;         // why the answer is wrong; empty when it is not
  bool inexact = false;      // a peer's answer, past what rounding explains
  std::int64_t checked = 0;  // queries whose neighbors were compared with the truth
  double recall = 1;         // fraction of returned points among the k nearest, ties counted by distance
  double error = 0;          // largest |returned − true| distance, relative to the query's farthest neighbor
  DistanceRatios ratios;     // of the last neighbor found to the true last one
};

// The truth under one metric.
template <Element T>
class Oracle {
 public:
  Oracle(const Question<T>& question, Metric metric);

  const Metric& metric() const { return metric_; }
  Verdict judge_exact(const Answer& answer) const;
  Verdict judge_peer(const Answer& answer) const;
  // The k nearest of each query that is checked, in order.
  const std::vector<std::vector<Neighbor>>& truth() const { return truth_; }

 private:
  double key(std::int64_t query, std::int64_t id) const;
  double returned_value(double key) const;
  double noise(double value) const;
  double rounded(double value) const { return static_cast<double>(static_cast<DistanceOf<T>>(value)); }
  bool nearer(const Neighbor& a, const Neighbor& b) const;
  void find_truth();
  std::string shape_fault(const Answer& answer) const;
  std::string row_fault(const Answer& answer, std::int64_t query) const;
  std::string truth_fault(const Answer& answer, std::size_t sample) const;
  double distance_error(const Answer& answer, std::int64_t query) const;
  std::int64_t hits(const Answer& answer, std::size_t sample) const;

  Question<T> question_;
  Metric metric_;
  std::vector<std::int64_t> sample_;
  std::vector<std::vector<Neighbor>> truth_;
};

}  // namespace kith::bench
