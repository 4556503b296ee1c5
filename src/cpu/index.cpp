#include "cpu/index.hpp"

#include <algorithm>

#include "backend/machine.hpp"
#include "core/instantiate.hpp"
#include "core/key.hpp"
#include "cpu/brute/product_samples.hpp"
#include "cpu/index_parts.hpp"
#include "cpu/search.hpp"
#include "cpu/triangle/surviving_fraction.hpp"

namespace kith::cpu {
namespace {

constexpr const char* kNormsPart = "norms";
constexpr const char* kMeansPart = "means";

// Queries whose sample need not be taken again.
constexpr std::int64_t kEnoughSampled = core::kCpuSampleQueries;

// Values of queries that one thread prepares in any case (plan/cpu_threads.hpp).
constexpr std::int64_t kFewValues = std::int64_t{1} << 16;

}  // namespace

template <Element T>
const PreparedRows<T>& LazyRows<T>::get(bool norms, ProgressMeter& progress, double scale) {
  if (rows_ && (!norms || has_norms())) return *rows_;
  preparation_.norms = norms;
  preparation_.scale = scale;
  preparation_.check_finite = preparation_.check_finite && !rows_;
  rows_ = prepare_rows(view_, metric_, preparation_, progress);
  return *rows_;
}

template <Element T>
void LazyRows<T>::take(const backend::Parts& parts) {
  preparation_.check_finite = false;
  if (!parts.has(kNormsPart)) return;
  rows_ = PreparedRows<T>{view_, metric_, {}, {}, score_scale(view_, metric_)};
  rows_->square_norms = core::MappedArray<double>(parts.values<double>(kNormsPart, view_.rows));
  if (metric_.kind == MetricKind::correlation)
    rows_->means = core::MappedArray<double>(parts.values<double>(kMeansPart, view_.rows));
}

template <Element T>
CpuIndex<T>::CpuIndex(const backend::IndexRequest<T>& request)
    : base_(request.base),
      options_(request.options),
      threads_(request.threads),
      is_of_file_(request.parts != nullptr),
      may_have_norms_(request.facts.has_norms),
      rows_(base_, options_.metric, {"base", options_.check_finite, false, threads_}) {
  if (!is_of_file_) return;
  given_ = *request.parts;
  has_clusters_ = given_.has(kClustersPart);
  has_tree_ = given_.has(kTreePart);
}

template <Element T>
LazyRows<T> CpuIndex<T>::query_rows(const MatrixView<T>& queries) const {
  const bool is_known = options_.threads > 0 || queries.rows * queries.cols <= kFewValues;
  const int threads = is_known ? threads_ : backend::calling_thread_limit({threads_, ""}).threads;
  return {queries, options_.metric, {"query", options_.check_finite, false, threads}};
}

template <Element T>
bool CpuIndex<T>::is_base(const MatrixView<T>& queries) const {
  return queries.data == base_.data && queries.rows == base_.rows && queries.row_stride == base_.row_stride &&
         queries.col_stride == base_.col_stride;
}

template <Element T>
plan::IndexFacts CpuIndex<T>::facts(const Problem& /*problem*/) const {
  const bool will_have_norms = !is_of_file_ || given_.has(kNormsPart) || wants_norms();
  return {.has_norms = is_prepared_ ? rows_.has_norms() : will_have_norms,
          .has_clusters = has_clusters_,
          .has_tree = has_tree_,
          .sampled_k = known_k_,
          .spent = spent_};
}

// An index may meet any number of queries, so it has norms for products of matrices.
template <Element T>
bool CpuIndex<T>::wants_norms() const {
  const core::Form form = core::form_of(options_.metric);
  const bool brute =
      options_.method != Method::triangle && options_.method != Method::shifted_sort && options_.method != Method::tree;
  return brute && (form == core::Form::dot || (form == core::Form::squared && may_have_norms_));
}

template <Element T>
void CpuIndex<T>::prepare_rows(ProgressMeter& progress) const {
  rows_.get(wants_norms(), progress);
  is_prepared_ = true;
}

template <Element T>
void CpuIndex<T>::require_rows() const {
  if (is_prepared_) return;
  const std::lock_guard<std::mutex> lock(rows_mutex_);
  if (is_prepared_) return;
  ProgressMeter progress(options_.progress, base_.rows);
  rows_.take(given_);
  prepare_rows(progress);
}

template <Element T>
void CpuIndex<T>::prepare(const Plan* plan) {
  if (is_of_file_) return;
  ProgressMeter progress(options_.progress, base_.rows);
  prepare_rows(progress);
  if (plan != nullptr && plan->method == Method::triangle && !has_clusters_) clusters(*plan, progress, nullptr);
  if (plan != nullptr && plan->method == Method::tree && !has_tree_) tree(*plan, progress);
}

template <Element T>
std::unique_ptr<backend::BackendSearch<T>> CpuIndex<T>::begin(const backend::Queries<T>& queries) const {
  if (is_of_file_) require_rows();
  return std::make_unique<CpuSearch<T>>(*this, queries);
}

template <Element T>
const TriangleBase<T>& CpuIndex<T>::clusters(const Plan& plan, ProgressMeter& progress, bool* made) const {
  const std::lock_guard<std::mutex> lock(clusters_mutex_);
  if (made != nullptr) *made = clusters_ == nullptr;
  if (clusters_ == nullptr && given_.has(kClustersPart))
    clusters_ = std::make_unique<TriangleBase<T>>(
        TriangleBase<T>{clusters_of<DistanceOf<T>>(given_, base_.rows, base_.cols), {}});
  if (clusters_ == nullptr)
    clusters_ = std::make_unique<TriangleBase<T>>(
        make_triangle_base(rows(false, progress), plan.triangle.base_landmarks, plan.threads, progress));
  has_clusters_ = true;
  return *clusters_;
}

template <Element T>
const Tree<DistanceOf<T>>& CpuIndex<T>::tree(const Plan& plan, ProgressMeter& progress) const {
  if (const auto* const made = made_tree_.load()) return *made;
  const std::lock_guard<std::mutex> lock(tree_mutex_);
  if (tree_ == nullptr && given_.has(kTreePart))
    tree_ =
        std::make_unique<Tree<DistanceOf<T>>>(tree_of<DistanceOf<T>>(given_, base_.rows, base_.cols, options_.period));
  if (tree_ == nullptr)
    tree_ = std::make_unique<Tree<DistanceOf<T>>>(
        make_tree(rows(false, progress), options_.period, plan.threads, progress));
  made_tree_ = tree_.get();
  has_tree_ = true;
  return *tree_;
}

// What nobody has used yet is handed on as it came.
template <Element T>
backend::Parts CpuIndex<T>::parts() const {
  backend::Parts made;
  const auto hand_on = [&](const std::string& prefix) {
    for (const backend::Part& part : given_.all())
      if (part.name == prefix || part.name.starts_with(prefix + ".")) made.add(part.name, part.bytes);
  };
  if (!is_prepared_) {
    hand_on(kNormsPart);
    hand_on(kMeansPart);
  } else if (rows_.has_norms()) {
    made.add(kNormsPart, rows_.rows()->square_norms.span());
    if (!rows_.rows()->means.empty()) made.add(kMeansPart, rows_.rows()->means.span());
  }
  {
    const std::lock_guard<std::mutex> lock(tree_mutex_);
    if (tree_ != nullptr) {
      add_tree(*tree_, made);
    } else {
      hand_on(kTreePart);
    }
  }
  const std::lock_guard<std::mutex> lock(clusters_mutex_);
  if (clusters_ != nullptr) {
    add_clusters(clusters_->clusters, made);
  } else {
    hand_on(kClustersPart);
  }
  return made;
}

template <Element T>
core::SurvivingFractions CpuIndex<T>::surviving_fractions(const Plan& plan, const PreparedRows<T>& queries,
                                                          ProgressMeter& progress) const {
  const std::int64_t k = plan.problem.k;
  const auto known = [&] { return sampled_k_ >= k && sampled_queries_ >= kEnoughSampled; };
  {
    const std::lock_guard<std::mutex> lock(clusters_mutex_);
    if (known()) return survivors_;
  }
  const auto sampled = cpu::surviving_fractions(rows(false, progress), queries, k, plan.triangle.base_landmarks);
  const std::lock_guard<std::mutex> lock(clusters_mutex_);
  if (sampled_k_ < k) sampled_queries_ = 0;
  const std::int64_t count = std::min(queries.view.rows, core::kCpuSampleQueries);
  const double weight = static_cast<double>(count) / static_cast<double>(sampled_queries_ + count);
  survivors_.points += weight * (sampled.points - survivors_.points);
  survivors_.clusters += weight * (sampled.clusters - survivors_.clusters);
  survivors_.dimensions += weight * (sampled.dimensions - survivors_.dimensions);
  sampled_queries_ += count;
  sampled_k_ = std::max(sampled_k_, k);
  known_k_ = sampled_queries_ >= kEnoughSampled ? sampled_k_ : 0;
  return survivors_;
}

template <Element T>
double CpuIndex<T>::bf16_candidates(const PreparedRows<T>& queries, ProgressMeter& progress) const {
  if (bf16_candidates_ == 0) bf16_candidates_ = cpu::bf16_candidates(rows(true, progress), queries);
  return bf16_candidates_;
}

template <Element T>
void CpuIndex<T>::count_brute_force(double seconds) const {
  const std::lock_guard<std::mutex> lock(clusters_mutex_);
  spent_ = spent_ + seconds;
}

template <Element T>
std::unique_ptr<backend::BackendIndex<T>> make_index(const backend::IndexRequest<T>& request) {
  return std::make_unique<CpuIndex<T>>(request);
}

#define KITH_INSTANTIATE(T)   \
  template class LazyRows<T>; \
  template class CpuIndex<T>; \
  template std::unique_ptr<backend::BackendIndex<T>> make_index(const backend::IndexRequest<T>&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
