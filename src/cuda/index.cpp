#include "cuda/index.hpp"

#include <string>

#include "core/elements.hpp"
#include "core/instantiate.hpp"
#include "cuda/functions.hpp"
#include "cuda/host_data/host_link.hpp"
#include "cuda/points/check_points.hpp"
#include "cuda/search.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {
namespace {

// The library's own function is not linked where device sources stand alone.
const char* name_of(Method method) {
  switch (method) {
    case Method::triangle: return "triangle";
    case Method::tree: return "tree";
    case Method::shifted_sort: return "shifted-sort";
    default: return "brute, of batches,";
  }
}

}  // namespace

template <Element T>
DeviceIndex<T>::~DeviceIndex() {
  if (waits_for_) cudaStreamSynchronize(*waits_for_);
}

template <Element T>
void DeviceIndex<T>::prepare(const Plan* /*plan*/) {
  serves_once_ = false;
  keeps_.emplace();
  find_distinct_rows();
}

template <Element T>
plan::IndexFacts DeviceIndex<T>::facts(const Problem& problem) const {
  const std::lock_guard<std::mutex> lock(making_);
  plan::IndexFacts facts = request_.facts;
  facts.serves_once = serves_once_;
  const bool squares = core::form_of(metric()) == core::Form::squared;
  const brute::Pass first{.distance = DistanceStage::fp16, .expanded = squares, .fused = true};
  brute::Pass second = first;
  second.bounded = true;
  facts.timed = times_.of(problem);
  facts.has_tree = tree_.is_made();
  facts.sampled_k = sampled_.contains(problem.k) ? problem.k : 0;
  facts.few_need_second_pass = history_.few_have_failed();
  facts.many_need_second_pass = history_.has_failed(first);
  facts.fp16_fails = history_.has_failed(first) && history_.has_failed(second);
  brute::Pass split = first;
  split.distance = DistanceStage::split_fp16;
  facts.split_fp16_fails = history_.has_failed(split);
  if (looked_for_duplicates_) facts.distinct_limit = 0;
  if (distinct_ != nullptr) facts.distinct_rows = distinct_->groups.count;
  constexpr double kLinkBytes = 55e9;  // a second, of PCIe 5
  if (!made_ && base().memory == Memory::host)
    facts.bring_seconds = static_cast<double>(host_data::bytes_of(base())) / kLinkBytes;
  return facts;
}

template <Element T>
std::unique_ptr<backend::BackendSearch<T>> DeviceIndex<T>::begin(const backend::Queries<T>& queries) const {
  return std::make_unique<DeviceSearch<T>>(*this, queries);
}

template <Element T>
void DeviceIndex<T>::require_base() const {
  const std::lock_guard<std::mutex> lock(making_);
  if (made_) return;
  make_base();
  made_ = true;
}

template <Element T>
void DeviceIndex<T>::make_base() const {
  if (!request_.facts.resident) {
    if (request_.check_on_host != nullptr) request_.check_on_host(base(), request_.options);
    return;
  }
  if (base().memory == Memory::device) {
    Event there;
    there.record(static_cast<cudaStream_t>(request_.stream));
    there.wait_on(stream_);
  }
  host_data::HostLink link(stream_, host_data::bytes_of(base()));
  PointStore<F> points = link.bring_points(base(), metric(), needs_bias(), host_data::RowGaps::allowed);
  PointCheck<F>(points, metric(), checks_values(), stream_).refuse_faults("base");
  if (integer_range_ == 0) integer_range_ = integer_range(points.exact(0, points.count()).rows, points.dims(), stream_);
  stream_.synchronize();
  store_.emplace(std::move(points));
}

template <Element T>
std::int64_t DeviceIndex<T>::find_distinct_rows() const {
  require_base();
  const std::lock_guard<std::mutex> lock(making_);
  if (!looked_for_duplicates_ && store_ && request_.facts.distinct_limit > 0) distinct_ = make_distinct_rows();
  looked_for_duplicates_ = true;
  return distinct_ == nullptr ? 0 : distinct_->groups.count;
}

// They make searches faster and nothing else, so without memory for them there are none.
template <Element T>
auto DeviceIndex<T>::make_distinct_rows() const -> std::unique_ptr<DistinctRows> {
  const PointRows<F> rows = store_->exact(0, store_->count()).rows;
  const std::int64_t dims = store_->dims();
  try {
    Workspace workspace(stream_);
    std::optional<RowGroups> groups =
        group_equal_rows(rows, dims, {.max_groups = request_.facts.distinct_limit}, workspace);
    if (!groups) return nullptr;
    PointStore<F> points = first_rows(rows, dims, *groups, metric(), needs_bias(), stream_);
    stream_.synchronize();
    return std::make_unique<DistinctRows>(*std::move(groups), std::move(points));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    return nullptr;
  }
}

template <Element T>
bool DeviceIndex<T>::checks_values() const {
  return request_.options.check_finite && core::kIsFloating<T>;
}

template <Element T>
bool DeviceIndex<T>::is_base(const MatrixView<T>& queries) const {
  return queries.data == base().data && queries.rows == base().rows && queries.row_stride == base().row_stride &&
         queries.col_stride == base().col_stride && queries.memory == base().memory;
}

template <Element T>
auto DeviceIndex<T>::store_for(const Plan& plan) const -> const PointStore<F>& {
  if (!store_)
    throw Error(ErrorCode::out_of_memory, std::string("method ") + name_of(plan.method) +
                                              " keeps the base on the device; the budget of " +
                                              std::to_string(plan.budget_bytes) + " bytes has no room for it");
  return *store_;
}

template <Element T>
std::unique_ptr<backend::BackendIndex<T>> make_index(const backend::IndexRequest<T>& request) {
  return std::make_unique<DeviceIndex<T>>(request);
}

#define KITH_INSTANTIATE(T)      \
  template class DeviceIndex<T>; \
  template std::unique_ptr<backend::BackendIndex<T>> make_index(const backend::IndexRequest<T>&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
