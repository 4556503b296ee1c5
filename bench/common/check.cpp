#include "common/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <unordered_set>

#include "common/parallel.hpp"

namespace kith::bench {
namespace {

// The definitions, written out.
template <class T>
double distance(MetricKind kind, const T* x, const T* y, std::int64_t dims) {
  double sum = 0;
  double xx = 0;
  double yy = 0;
  for (std::int64_t c = 0; c < dims; ++c) {
    const auto a = static_cast<double>(x[c]);
    const auto b = static_cast<double>(y[c]);
    switch (kind) {
      case MetricKind::sqeuclidean: sum += (a - b) * (a - b); break;
      case MetricKind::manhattan: sum += std::abs(a - b); break;
      case MetricKind::chebyshev: sum = std::max(sum, std::abs(a - b)); break;
      case MetricKind::inner_product: sum += a * b; break;
      case MetricKind::hamming: sum += a != b ? 1 : 0; break;
      case MetricKind::cosine:
        sum += a * b;
        xx += a * a;
        yy += b * b;
        break;
      default: throw std::logic_error("no benchmark row has this metric: " + to_string(Metric(kind)));
    }
  }
  if (kind == MetricKind::hamming) return sum / static_cast<double>(dims);
  return kind == MetricKind::cosine ? 1 - sum / std::sqrt(xx * yy) : sum;
}

std::vector<std::int64_t> spread(std::int64_t queries, double affordable) {
  const auto count = static_cast<std::int64_t>(std::clamp(affordable, 1.0, static_cast<double>(queries)));
  std::vector<std::int64_t> sample;
  for (std::int64_t i = 0; i < count; ++i) sample.push_back(i * queries / count);
  return sample;
}

// Calls judge(i) for every i below count on all threads and returns the first fault by number.
template <class Judge>
std::string first_fault(std::int64_t count, int threads, const Judge& judge) {
  std::int64_t first_wrong = count;
  std::string fault;
  std::mutex mutex;
  for_parts(count, 8, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      std::string found = judge(i);
      if (found.empty()) continue;
      const std::lock_guard lock(mutex);
      if (i >= first_wrong) continue;
      first_wrong = i;
      fault = std::move(found);
    }
  });
  return fault;
}

std::size_t at(const Answer& answer, std::int64_t query, std::int64_t rank) {
  return static_cast<std::size_t>(query * answer.k + rank);
}

}  // namespace

template <Element T>
Oracle<T>::Oracle(const Question<T>& question, Metric metric)
    : question_(question),
      metric_(metric),
      sample_(spread(question.queries.rows, question.work / static_cast<double>(question.base.rows) /
                                                static_cast<double>(question.base.cols))) {
  key(0, 0);  // a metric that is not known throws here, where it can be caught
  find_truth();
}

template <Element T>
double Oracle<T>::key(std::int64_t query, std::int64_t id) const {
  const double value =
      distance(metric_.kind, question_.queries.row(query), question_.base.row(id), question_.base.cols);
  return metric_.kind == MetricKind::inner_product ? -value : value;
}

template <Element T>
double Oracle<T>::noise(double value) const {
  // A cosine distance is what is left of 1.
  return kNoise * (metric_.kind == MetricKind::cosine ? 1.0 : std::abs(value));
}

template <Element T>
double Oracle<T>::returned_value(double key) const {
  return metric_.kind == MetricKind::inner_product ? -key : key;
}

template <Element T>
bool Oracle<T>::nearer(const Neighbor& a, const Neighbor& b) const {
  const double x = rounded(a.key);
  const double y = rounded(b.key);
  return x != y ? x < y : a.id < b.id;
}

// A heap of the k nearest a query: of each part of the base, then of all.
template <Element T>
void Oracle<T>::find_truth() {
  const auto before = [this](const Neighbor& a, const Neighbor& b) { return nearer(a, b); };
  const auto keep = [&](std::vector<Neighbor>& heap, const Neighbor& found) {
    if (heap.size() == static_cast<std::size_t>(question_.k)) {
      if (!nearer(found, heap.front())) return;
      std::pop_heap(heap.begin(), heap.end(), before);
      heap.pop_back();
    }
    heap.push_back(found);
    std::push_heap(heap.begin(), heap.end(), before);
  };
  constexpr std::int64_t kPart = 8192;
  truth_.resize(sample_.size());
  std::mutex mutex;
  for_parts(question_.base.rows, kPart, question_.threads, [&](std::int64_t first, std::int64_t last) {
    for (std::size_t i = 0; i < sample_.size(); ++i) {
      std::vector<Neighbor> heap;
      for (std::int64_t id = first; id < last; ++id)
        if (!question_.self || id != sample_[i]) keep(heap, {key(sample_[i], id), id});
      const std::lock_guard lock(mutex);
      for (const Neighbor& found : heap) keep(truth_[i], found);
    }
  });
  for (std::vector<Neighbor>& heap : truth_) std::sort_heap(heap.begin(), heap.end(), before);
}

// Sizes and ids: what must hold before any id may be looked up.
template <Element T>
std::string Oracle<T>::shape_fault(const Answer& answer) const {
  const std::int64_t queries = question_.queries.rows;
  const std::int64_t k = question_.k;
  const auto size = static_cast<std::size_t>(queries * k);
  if (answer.queries != queries || answer.k != k || answer.ids.size() != size || answer.distances.size() != size)
    return fmt::format("{} × {} neighbors instead of {} × {}", answer.queries, answer.k, queries, k);
  return first_fault(queries, question_.threads, [&](std::int64_t query) -> std::string {
    std::unordered_set<std::int64_t> seen;
    for (std::int64_t rank = 0; rank < k; ++rank) {
      const std::int64_t id = answer.ids[at(answer, query, rank)];
      if (id < 0 || id >= question_.base.rows)
        return fmt::format("query {}, rank {}: id {} of {} points", query, rank, id, question_.base.rows);
      if (!seen.insert(id).second) return fmt::format("query {}, rank {}: id {} once more", query, rank, id);
      if (question_.self && id == query) return fmt::format("query {}, rank {}: the point itself", query, rank);
    }
    return {};
  });
}

// Distances right to the last rounding, and in order.
template <Element T>
std::string Oracle<T>::row_fault(const Answer& answer, std::int64_t query) const {
  for (std::int64_t rank = 0; rank < answer.k; ++rank) {
    const std::int64_t id = answer.ids[at(answer, query, rank)];
    const double got = answer.distances[at(answer, query, rank)];
    const double expected = returned_value(key(query, id));
    const double slack = noise(expected);
    if (!(rounded(expected - slack) <= got && got <= rounded(expected + slack)))
      return fmt::format("query {}, rank {}: point {} is at {:.9g}, not {:.9g}", query, rank, id, expected, got);
    if (rank == 0) continue;
    const Neighbor before{returned_value(answer.distances[at(answer, query, rank - 1)]),
                          answer.ids[at(answer, query, rank - 1)]};
    if (!nearer(before, {returned_value(got), id}))
      return fmt::format("query {}, rank {}: point {} at {:.9g} is out of order", query, rank, id, got);
  }
  return {};
}

template <Element T>
std::string Oracle<T>::truth_fault(const Answer& answer, std::size_t sample) const {
  const std::int64_t query = sample_[sample];
  for (std::int64_t rank = 0; rank < answer.k; ++rank) {
    const std::int64_t id = answer.ids[at(answer, query, rank)];
    const Neighbor& expected = truth_[sample][static_cast<std::size_t>(rank)];
    if (id == expected.id) continue;
    const double got = key(query, id);
    if (std::abs(got - expected.key) > noise(expected.key))
      return fmt::format("query {}, rank {}: point {} at {:.9g} instead of {} at {:.9g}", query, rank, id,
                         returned_value(got), expected.id, returned_value(expected.key));
  }
  return {};
}

template <Element T>
Verdict Oracle<T>::judge_exact(const Answer& answer) const {
  Verdict verdict;
  const int threads = question_.threads;
  verdict.checked = static_cast<std::int64_t>(sample_.size());
  verdict.fault = shape_fault(answer);
  if (verdict.fault.empty())
    verdict.fault = first_fault(answer.queries, threads, [&](std::int64_t query) { return row_fault(answer, query); });
  if (verdict.fault.empty())
    verdict.fault = first_fault(verdict.checked, threads,
                                [&](std::int64_t i) { return truth_fault(answer, static_cast<std::size_t>(i)); });
  return verdict;
}

template <Element T>
double Oracle<T>::distance_error(const Answer& answer, std::int64_t query) const {
  double error = 0;
  double farthest = std::numeric_limits<double>::min();
  for (std::int64_t rank = 0; rank < answer.k; ++rank) {
    const double value = returned_value(key(query, answer.ids[at(answer, query, rank)]));
    const double off = std::abs(answer.distances[at(answer, query, rank)] - value);
    if (!std::isfinite(off)) return std::numeric_limits<double>::infinity();
    error = std::max(error, off);
    farthest = std::max(farthest, std::abs(value));
  }
  return error / farthest;
}

template <Element T>
std::int64_t Oracle<T>::hits(const Answer& answer, std::size_t sample) const {
  const double limit = rounded(truth_[sample].back().key);
  std::int64_t count = 0;
  for (std::int64_t rank = 0; rank < answer.k; ++rank)
    count += rounded(key(sample_[sample], answer.ids[at(answer, sample_[sample], rank)])) <= limit ? 1 : 0;
  return count;
}

template <Element T>
Verdict Oracle<T>::judge_peer(const Answer& answer) const {
  Verdict verdict;
  verdict.checked = static_cast<std::int64_t>(sample_.size());
  verdict.fault = shape_fault(answer);
  if (!verdict.fault.empty()) return verdict;
  double error = 0;
  std::mutex mutex;
  for_parts(answer.queries, 64, question_.threads, [&](std::int64_t first, std::int64_t last) {
    double part = 0;
    for (std::int64_t query = first; query < last; ++query) part = std::max(part, distance_error(answer, query));
    const std::lock_guard lock(mutex);
    error = std::max(error, part);
  });
  std::int64_t found = 0;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < sample_.size(); ++i) {
    found += hits(answer, i);
    const double last = key(sample_[i], answer.ids[at(answer, sample_[i], answer.k - 1)]);
    const double ratio = last == truth_[i].back().key ? 1 : last / truth_[i].back().key;
    ratios.push_back(metric_.kind == MetricKind::sqeuclidean ? std::sqrt(ratio) : ratio);
  }
  verdict.ratios = summarize_ratios(std::move(ratios));
  verdict.error = error;
  verdict.recall = static_cast<double>(found) / static_cast<double>(verdict.checked * answer.k);
  verdict.inexact = !(verdict.recall >= kPeerRecall && verdict.error <= kPeerError);
  return verdict;
}

template class Oracle<float>;
template class Oracle<double>;
template class Oracle<std::uint8_t>;
template class Oracle<Float16>;

}  // namespace kith::bench
