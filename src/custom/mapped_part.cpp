#include "custom/mapped_part.hpp"

#include <fmt/format.h>

#include <utility>

#include "backend/machine.hpp"
#include "core/instantiate.hpp"
#include "kith/error.hpp"

namespace kith::custom {
namespace {

// Fewer rows are searched before their images are made.
constexpr std::int64_t kFewRows = 2048;
// What the image of a row takes with its place in an index, beside distances of a row to all queries.
constexpr double kImageSeconds = 4e-6;
// Where candidates are a large part of all rows nothing is saved.
constexpr std::int64_t kRowsOfACandidate = 16;

[[noreturn]] void refuse(const PairMetric& metric, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, fmt::format("metric '{}' {}", metric.name(), what));
}

// Options of the index of images: what is of neighbors is done where their distances are known.
Options of_images(const Options& options) {
  Options made;
  made.backend = options.backend;
  made.method = options.method;
  made.threads = options.threads;
  made.memory_budget = options.memory_budget;
  made.triangle = options.triangle;
  return made;
}

}  // namespace

bool wants_brute(const Options& options) {
  return options.method == Method::brute;
}

bool wants_images(const Options& options) {
  const bool is_device = options.backend != Backend::automatic && options.backend != Backend::cpu;
  return !wants_brute(options) && (options.method != Method::automatic || is_device);
}

MappedPart::MappedPart(const PairMetric& metric, std::int64_t dims, const Options& options)
    : mappable_(wants_brute(options) ? nullptr : dynamic_cast<const Mappable*>(&metric)) {
  if (!wants_images(options)) return;
  if (mappable_ != nullptr) mapping_ = mappable_->mapping(dims);
  if (mapping_ != nullptr) return;
  const char* why = mappable_ == nullptr ? "" : ", for no map of rows is well conditioned by what it was given";
  if (options.method != Method::automatic)
    refuse(metric,
           fmt::format("is searched by brute force{}; method {} was asked for", why, to_string(options.method)));
  refuse(metric, fmt::format("is computed on the CPU{}; backend {} has the metrics of kith::MetricKind", why,
                             to_string(options.backend)));
}

template <Element T>
const ImageIndex* MappedPart::images_for(const PairProblem<T>& problem, std::int64_t queries, std::int64_t k,
                                         const Options& options) {
  if (mappable_ == nullptr) return nullptr;
  const bool is_asked = wants_images(options);
  const auto rows = static_cast<double>(problem.base.rows);
  if (!is_asked && (problem.base.rows < kFewRows || first_candidates(k) > problem.base.rows / kRowsOfACandidate))
    return nullptr;
  const std::lock_guard lock(mutex_);
  if (is_tried_) return images_.get();
  if (!is_asked) {
    const double seconds = static_cast<double>(queries) * rows * problem.metric.pair_seconds(problem.base.cols);
    if (queries > 0 && seconds < rows * kImageSeconds + mappable_->mapping_seconds()) return nullptr;
    // As doubles, and as what is searched.
    const double bytes = 16 * rows * static_cast<double>(problem.base.cols + 1);
    const std::int64_t budget = options.memory_budget > 0 ? options.memory_budget : backend::free_memory().bytes / 2;
    if (bytes > static_cast<double>(budget) / 2) return nullptr;
  }
  if (mapping_ == nullptr) mapping_ = mappable_->mapping(problem.base.cols);
  if (mapping_ != nullptr) images_ = make_images(problem, mapping_, of_images(options));
  if (images_ == nullptr && is_asked)
    refuse(problem.metric, "has no images of too many base rows: method brute searches them");
  is_tried_ = true;
  return images_.get();
}

SearchReport mapped_report(const PairMetric& metric, MappedReport&& done, const Problem& problem, double max_distance) {
  SearchReport report = std::move(done.images);
  Plan& plan = report.plan;
  plan.problem = problem;
  plan.metric = {};
  plan.max_distance = max_distance;
  if (plan.reason.empty()) plan.threads = static_cast<int>(done.threads);
  plan.reason =
      fmt::format("metric '{}': candidates by images of rows{}{}, their distances by its definition, in double",
                  metric.name(), plan.reason.empty() ? "" : ", ", plan.reason);
  if (done.unproven > 0) plan.reason += fmt::format("; all distances of {} queries without a proof", done.unproven);
  report.finalists = done.distances;
  return report;
}

#define KITH_INSTANTIATE(T) \
  template const ImageIndex* MappedPart::images_for(const PairProblem<T>&, std::int64_t, std::int64_t, const Options&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::custom
