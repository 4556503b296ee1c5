#include "cuda/index.hpp"

#include <string>

#include "core/elements.hpp"
#include "core/instantiate.hpp"
#include "cuda/functions.hpp"
#include "cuda/host_data/host_link.hpp"
#include "cuda/points/check_points.hpp"
#include "cuda/primitives/move_rows.hpp"
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
  if (!is_of_file_) find_distinct_rows();
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
  if (is_of_file_) find_distinct_rows();
  return std::make_unique<DeviceSearch<T>>(*this, queries);
}

// Brute force by scores with a bias for each point, which can be infinite.
template <Element T>
bool DeviceIndex<T>::leaves_out(const Plan& plan) const {
  const bool is_brute = plan.method == Method::fused || plan.method == Method::two_stage;
  return is_resident() && is_brute && plan.distinct_rows == 0 && !plan.passes.empty() &&
         brute::takes_wanted(plan.passes.front(), base().cols);
}

// Points in working precision whose rows lie next to each other.
template <Element T>
bool DeviceIndex<T>::copies_rows() const {
  if constexpr (!std::is_same_v<T, F>) return false;
  const PointStore<F>* const points = made_store();
  return points != nullptr && points->exact(0, 1).rows.stride == points->dims();
}

template <Element T>
auto DeviceIndex<T>::copy_rows(std::span<const std::int64_t> rows) const
    -> std::shared_ptr<const backend::RowCopies<T>> {
  if constexpr (std::is_same_v<T, F>) {
    struct Copies {
      Stream stream;
      DeviceBuffer<F> values;
      backend::RowCopies<T> all;
    };
    if (!copies_rows()) return nullptr;
    const PointStore<F>& points = *made_store();
    const std::int64_t dims = points.dims();
    const auto count = static_cast<std::int64_t>(rows.size());
    const std::vector<unsigned> narrow(rows.begin(), rows.end());
    const auto copies = std::make_shared<Copies>();
    DeviceBuffer<unsigned> chosen(narrow.size(), copies->stream);
    KITH_CUDA(cudaMemcpyAsync(chosen.data(), narrow.data(), narrow.size() * sizeof(unsigned), cudaMemcpyHostToDevice,
                              copies->stream));
    copies->values = DeviceBuffer<F>(as_size(count * dims), copies->stream);
    gather_rows(points.exact(0, points.count()).rows.data, chosen.data(), count, dims, copies->values.data(),
                copies->stream);
    copies->stream.synchronize();  // `narrow` goes
    copies->all = {{copies->values.data(), count, dims, dims, 1, Memory::device}, copies->stream};
    return {copies, &copies->all};
  }
  return nullptr;
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
    if (request_.check_on_host != nullptr && !is_of_file_) request_.check_on_host(base(), request_.options);
    return;
  }
  if (base().memory == Memory::device) {
    Event there;
    there.record(static_cast<cudaStream_t>(request_.stream));
    there.wait_on(stream_);
  }
  host_data::HostLink link(stream_, host_data::bytes_of(base()));
  if (keep_narrow(link)) return;
  PointStore<F> points = link.bring_points(base(), metric(), needs_bias(), host_data::RowGaps::allowed);
  check_base(points, 0);
  if (integer_range_ == 0) integer_range_ = integer_range(points.exact(0, points.count()).rows, points.dims(), stream_);
  stream_.synchronize();
  store_.emplace(std::move(points));
}

template <Element T>
void DeviceIndex<T>::check_base(const PointStore<F>& points, std::int64_t first) const {
  PointCheck<F>(points, metric(), checks_values() && !is_of_file_, stream_).refuse_faults("base", first);
}

// Whether the points stay as they are stored, from now on.
template <Element T>
bool DeviceIndex<T>::keep_narrow(host_data::HostLink& link) const {
  if constexpr (kIsNarrow<T>) {
    if (!request_.facts.narrow) return false;
    std::unique_ptr<NarrowPoints<T>> points = link.bring_narrow(base(), metric(), needs_bias());
    const bool looks_for_integers = integer_range_ == 0;
    bool all_integers = looks_for_integers;
    double range = 0;
    points->prepare([&](const PointStore<F>& part, std::int64_t first) {
      check_base(part, first);
      if (!all_integers) return;
      const double of_part = integer_range(part.exact(0, part.count()).rows, part.dims(), stream_);
      all_integers = of_part > 0;
      range = std::max(range, of_part);
    });
    if (looks_for_integers && all_integers) integer_range_ = range;
    narrow_ = std::move(points);
    return true;
  }
  return false;
}

template <Element T>
auto DeviceIndex<T>::store() const -> const PointStore<F>* {
  if constexpr (kIsNarrow<T>) {
    if (narrow_ != nullptr && request_.facts.may_widen) {
      const std::lock_guard<std::mutex> lock(widening_);
      if (!store_) {
        PointStore<F> points(narrow_->count(), narrow_->dims(), metric(), needs_bias(), stream_);
        narrow_->widen(0, narrow_->count(), points.rows(), stream_);
        points.prepare(narrow_->count());
        stream_.synchronize();
        store_.emplace(std::move(points));
      }
      return &*store_;
    }
  }
  return made_store();
}

template <Element T>
auto DeviceIndex<T>::some_points(cudaStream_t stream) const -> std::optional<PointStore<F>> {
  if constexpr (kIsNarrow<T>) {
    if (narrow_ != nullptr && made_store() == nullptr) {
      const std::int64_t some = std::min(kGroupSample, narrow_->count());
      PointStore<F> points(some, narrow_->dims(), metric(), false, stream);
      narrow_->widen_some(some, points.rows(), stream);
      points.prepare(some);
      return points;
    }
  }
  return std::nullopt;
}

template <Element T>
std::int64_t DeviceIndex<T>::find_distinct_rows() const {
  require_base();
  const std::lock_guard<std::mutex> lock(making_);
  if (!looked_for_duplicates_ && is_resident() && request_.facts.distinct_limit > 0) distinct_ = make_distinct_rows();
  looked_for_duplicates_ = true;
  return distinct_ == nullptr ? 0 : distinct_->groups.count;
}

// Of points that are kept as they are stored, by rows of a sample.
template <Element T>
bool DeviceIndex<T>::may_have_groups(Workspace& workspace) const {
  if constexpr (kIsNarrow<T>) {
    const std::int64_t rows = base().rows;
    if (narrow_ == nullptr || rows <= kGroupSample) return true;
    DeviceBuffer<F> sample(as_size(kGroupSample * base().cols), stream_);
    narrow_->widen_some(kGroupSample, sample.data(), stream_);
    return points::may_have_groups<F>({sample.data(), kGroupSample, base().cols}, base().cols, rows,
                                      {.max_groups = request_.facts.distinct_limit}, workspace);
  }
  return true;
}

// They make searches faster and nothing else, so without memory for them there are none.
template <Element T>
auto DeviceIndex<T>::make_distinct_rows() const -> std::unique_ptr<DistinctRows> {
  const std::int64_t dims = base().cols;
  try {
    Workspace workspace(stream_);
    if (!may_have_groups(workspace)) return nullptr;
    DeviceBuffer<F> widened;  // for as long as groups are looked for
    PointRows<F> rows;
    if constexpr (kIsNarrow<T>) {
      if (narrow_ != nullptr) {
        widened = DeviceBuffer<F>(as_size(narrow_->count() * dims), stream_);
        narrow_->widen(0, narrow_->count(), widened.data(), stream_);
        rows = {widened.data(), narrow_->count(), dims};
      }
    }
    if (rows.data == nullptr) rows = store_->exact(0, store_->count()).rows;
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
  const PointStore<F>* const points = store();
  if (points == nullptr)
    throw Error(ErrorCode::out_of_memory, std::string("method ") + name_of(plan.method) +
                                              " keeps the base on the device; the budget of " +
                                              std::to_string(plan.budget_bytes) + " bytes has no room for it");
  return *points;
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
