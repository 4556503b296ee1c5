#include "cuda/search.hpp"

#include <cmath>

#include "core/instantiate.hpp"
#include "core/max_distance.hpp"
#include "cuda/brute/candidates.hpp"
#include "cuda/brute/expand_duplicates.hpp"
#include "cuda/graph/exclude_self.hpp"
#include "cuda/graph/leave_out_beyond.hpp"

namespace kith::KITH_BACKEND {
namespace {

using host_data::RowGaps;

}  // namespace

template <Element T>
DeviceSearch<T>::DeviceSearch(const DeviceIndex<T>& index, const backend::Queries<T>& queries)
    : index_(index), queries_(queries), stream_(static_cast<cudaStream_t>(queries.stream)) {
  if (queries.on_stream) {
    index.note_stream(stream_);
  } else {
    stream_ = own_.emplace();
  }
  memory_.emplace(stream_);
}

template <Element T>
plan::DataSamples DeviceSearch<T>::samples() {
  return {[this](const Plan& plan) {
            const auto sampled = index_.sampled(plan.problem.k);
            const double fraction = sampled ? *sampled : surviving_fraction(plan);
            if (!sampled) index_.note_sampled(plan.problem.k, fraction);
            return plan::SurvivingFractions{fraction, 1};
          },
          [this](const Plan& plan) { return first_pass_suffices(plan); },
          {},
          [this] { return index_.find_distinct_rows(); }};
}

// A few of the queries are enough.
template <Element T>
double DeviceSearch<T>::surviving_fraction(const Plan& plan) {
  index_.require_base();
  const bool is_base = index_.is_base(queries_.points);
  const MatrixView<T> some = brute::some_rows(queries_.points);
  Link link(stream_, host_data::bytes_of(some));
  const auto queries = [&] { return link.bring_points(some, index_.metric(), false, RowGaps::allowed); };
  if (const auto base = is_base ? std::nullopt : index_.some_points(stream_)) {
    Plan of_some = plan;
    const double share = static_cast<double>(base->count()) / static_cast<double>(index_.base().rows);
    of_some.problem.k = std::max<std::int64_t>(1, std::llround(static_cast<double>(plan.problem.k) * share));
    return triangle::surviving_fraction_of(of_some, queries(), *base, stream_);
  }
  const PointStore<F>* base = index_.store();
  if (base == nullptr) return 1;
  if (is_base) return triangle::surviving_fraction_of(plan, *base, *base, stream_);
  return triangle::surviving_fraction_of(plan, queries(), *base, stream_);
}

template <Element T>
bool DeviceSearch<T>::first_pass_suffices(const Plan& plan) {
  index_.require_base();
  const MatrixView<T> some = brute::some_rows(queries_.points);
  Link link(stream_, host_data::bytes_of(some));
  const PointStore<F> points = link.bring_points(some, index_.metric(), index_.needs_bias(), RowGaps::closed);
  Workspace workspace(stream_, as_size(plan.workspace_bytes));
  const brute::BruteWork work = brute::brute_work_of(plan, 0, index_.history());
  return index_.with_base(
      plan, stream_, [&](BaseSource<F>& base) { return brute::first_pass_suffices(work, points, base, workspace); });
}

template <Element T>
void DeviceSearch<T>::search(const Plan& plan, const NeighborsView<F>& out, SearchReport& report) {
  index_.require_base();
  Link link = link_for(out.memory == Memory::host ? rows() * plan.problem.k * 8 : 0);
  if (plan.method == Method::triangle) {
    search_triangle(plan, out, report, link);
  } else if (plan.method == Method::tree) {
    search_tree(plan, out, link);
  } else if (plan.method == Method::shifted_sort) {
    search_shifted_sort(plan, out, link);
  } else {
    search_brute(plan, out, report, link);
  }
}

template <Element T>
void DeviceSearch<T>::search_brute(const Plan& plan, const NeighborsView<F>& out, SearchReport& report, Link& link) {
  // Who has no proof is gathered from rows without gaps.
  const PointStore<F>* base = index_.is_base(queries_.points) ? index_.store() : nullptr;
  const bool is_base = base != nullptr && base->exact(0, 1).rows.stride == base->dims();
  std::optional<PointStore<F>> brought;
  std::optional<PointCheck<F>> check;
  Event there;
  DeviceBuffer<PointFaults> faults;
  // The way of queries from the host does not count.
  const bool brings = queries_.points.memory == Memory::host && !is_base;
  const bool is_timed = queries_.wanted == nullptr;
  std::optional<SearchTiming> timing = brings || !is_timed ? std::nullopt : begin_timing(plan);
  if (!is_base) {
    faults = DeviceBuffer<PointFaults>(1, stream_);
    brought.emplace(link.bring_points(queries_.points, index_.metric(),
                                      brute::needs_norms(plan.passes.front(), index_.metric()), RowGaps::closed));
    there.record(stream_);
  }
  if (brings && is_timed) timing = begin_timing(plan);
  // Beside the search, on a stream of its own: the host waits for the check and for nothing else. It is enqueued while
  // the device works on the first tile.
  const auto begin_check = [&] {
    if (is_base || check) return;
    there.wait_on(index_.stream());
    check.emplace(*brought, index_.metric(), index_.checks_values(), index_.stream(), std::move(faults));
  };
  const PointStore<F>& points = brought ? *brought : *base;
  brute::BruteWork work = brute::brute_work_of(plan, index_.range_with(points, stream_), index_.history());
  const DeviceBuffer<unsigned> wanted = bring_wanted(plan);
  if (wanted.size() > 0) work.wanted = wanted.data();
  DeviceBuffer<F> keys(as_size(rows() * work.k), stream_);
  DeviceBuffer<unsigned> found(keys.size(), stream_);
  Workspace workspace(stream_, as_size(plan.workspace_bytes));
  DeviceProgress done = progress(plan, out.memory);
  Answers answers = answers_for(plan, out, link);
  // The caller's memory is written once the queries are known to be right; what lies beside it may be before.
  const auto put = [&] {
    begin_check();
    if (check && out.memory == Memory::device) check->refuse_faults("query");
    if (plan.distinct_rows == 0) return put_lists(keys.data(), found.data(), answers);
    const ExpandedLists lists = expand_groups(plan.problem.k, keys, found);
    put_lists(lists.keys.data(), lists.found.data(), answers);
  };
  const std::int64_t tile_rows = plan.base_tile * plan.problem.base_rows / brute::searched_points(plan);
  const auto passes = index_.with_base(plan, stream_, [&](BaseSource<F>& tiles) {
    const auto on_tile_done = [&] {
      begin_check();
      done.add(plan.query_block * tile_rows);
    };
    return brute::brute_search(work, points, tiles, keys.data(), found.data(), workspace, on_tile_done, put);
  });
  end_timing(std::move(timing));
  if (check && out.memory == Memory::host) check->refuse_faults("query");
  host_data::deliver(answers.distances, answers.ids);
  brute::add_steps(work, passes, report);
}

// Nothing where all points are wanted, or the plan leaves none out.
template <Element T>
DeviceBuffer<unsigned> DeviceSearch<T>::bring_wanted(const Plan& plan) const {
  if (queries_.wanted == nullptr || !index_.leaves_out(plan)) return {};
  const auto words = as_size((index_.base().rows + 63) / 64);
  DeviceBuffer<unsigned> wanted(2 * words, stream_);
  KITH_CUDA(
      cudaMemcpyAsync(wanted.data(), queries_.wanted, words * sizeof(std::uint64_t), cudaMemcpyHostToDevice, stream_));
  return wanted;
}

template <Element T>
auto DeviceSearch<T>::bring_limits() const -> DeviceBuffer<F> {
  if (queries_.limits.empty()) return {};
  DeviceBuffer<F> limits(queries_.limits.size(), stream_);
  KITH_CUDA(cudaMemcpyAsync(limits.data(), queries_.limits.data(), queries_.limits.size_bytes(), cudaMemcpyHostToDevice,
                            stream_));
  return limits;
}

template <Element T>
auto DeviceSearch<T>::expand_groups(std::int64_t k, const DeviceBuffer<F>& keys,
                                    const DeviceBuffer<unsigned>& groups) const -> ExpandedLists {
  const auto width = static_cast<std::int64_t>(keys.size()) / rows();
  ExpandedLists lists{{as_size(rows() * k), stream_}, {as_size(rows() * k), stream_}};
  brute::expand_duplicates<F>({keys.data(), groups.data(), rows(), width}, index_.groups(), k, lists.keys.data(),
                              lists.found.data(), stream_);
  return lists;
}

template <Element T>
void DeviceSearch<T>::search_triangle(const Plan& plan, const NeighborsView<F>& out, SearchReport& report, Link& link) {
  const PointStore<F>& base = index_.store_for(plan);
  const std::int64_t count = rows() * plan.problem.k;
  DeviceBuffer<F> keys(as_size(count), stream_);
  DeviceBuffer<unsigned> found(as_size(count), stream_);
  Workspace workspace(stream_, as_size(plan.workspace_bytes));
  DeviceProgress done = progress(plan, out.memory);
  with_checked(false, RowGaps::allowed, link, [&](const PointStore<F>& points) {
    std::optional<SearchTiming> timing = begin_timing(plan);
    index_.clusters().search(
        plan, points, base, keys.data(), found.data(), workspace,
        [&](std::int64_t queries) { done.add(queries * base.count()); }, report);
    end_timing(std::move(timing));
  });
  Answers answers = answers_for(plan, out, link);
  put_lists(keys.data(), found.data(), answers);
  host_data::deliver(answers.distances, answers.ids);
}

template <Element T>
void DeviceSearch<T>::search_tree(const Plan& plan, const NeighborsView<F>& out, Link& link) {
  const PointStore<F>& base = index_.store_for(plan);
  const std::int64_t count = rows() * plan.problem.k;
  DeviceBuffer<F> keys(as_size(count), stream_);
  DeviceBuffer<unsigned> found(as_size(count), stream_);
  Workspace workspace(stream_, as_size(plan.workspace_bytes));
  DeviceProgress done = progress(plan, out.memory);
  with_checked(false, RowGaps::allowed, link, [&](const PointStore<F>& points) {
    // What takes less time since so much is known says nothing of other searches.
    std::optional<SearchTiming> timing = queries_.limits.empty() ? begin_timing(plan) : std::nullopt;
    const DeviceBuffer<F> limits = bring_limits();
    const tree::TreeSets<F> sets{points, base, index_.tree().get(plan, base, stream_), limits.data()};
    tree::tree_search(tree_work(plan), sets, plan.problem.k, keys.data(), found.data(), workspace,
                      [&](std::int64_t queries) { done.add(queries * base.count()); });
    end_timing(std::move(timing));
  });
  Answers answers = answers_for(plan, out, link);
  answers.has_gaps = !queries_.limits.empty();
  put_lists(keys.data(), found.data(), answers);
  host_data::deliver(answers.distances, answers.ids);
}

template <Element T>
void DeviceSearch<T>::search_shifted_sort(const Plan& plan, const NeighborsView<F>& out, Link& link) {
  const PointStore<F>& base = index_.store_for(plan);
  const std::int64_t count = rows() * plan.problem.k;
  Workspace workspace(stream_, as_size(plan.workspace_bytes));
  DeviceProgress done = progress(plan, out.memory);
  host_data::Answer<std::uint8_t> certified(out.certified, out.memory, out.certified == nullptr ? 0 : rows(), link);
  const auto search_into = [&](F* distances, std::int64_t* ids) {
    std::uint8_t* const flags = out.certified == nullptr ? nullptr : certified.data();
    with_checked(false, RowGaps::allowed, link, [&](const PointStore<F>& points) {
      index_.orders().search(plan, points, base, {distances, ids, flags}, workspace,
                             [&](std::int64_t queries) { done.add(queries * base.count()); });
    });
  };
  if (queries_.exclude_self) {
    DeviceBuffer<F> keys(as_size(count), stream_);
    DeviceBuffer<std::int64_t> found(as_size(count), stream_);
    search_into(keys.data(), found.data());
    Answers answers = answers_for(plan, out, link);
    put_lists(keys.data(), found.data(), answers);
    host_data::deliver(answers.distances, answers.ids);
    return certified.deliver();  // lists of k others are exact where those of k + 1 are
  }
  Answers answers = answers_for(plan, out, link);
  search_into(answers.distances.data(), answers.ids.data());
  leave_out_beyond(answers);
  host_data::deliver(answers.distances, answers.ids);
  certified.deliver();
}

template <Element T>
auto DeviceSearch<T>::answers_for(const Plan& plan, const NeighborsView<F>& out, Link& link) const -> Answers {
  const std::int64_t k = plan.problem.k - (queries_.exclude_self ? 1 : 0);
  return {k, plan.max_distance, {out.distances, out.memory, rows() * k, link}, {out.ids, out.memory, rows() * k, link}};
}

template <Element T>
template <class Id>
void DeviceSearch<T>::put_lists(const F* keys, const Id* found, Answers& answers) const {
  F* const distances = answers.distances.data();
  std::int64_t* const ids = answers.ids.data();
  if (queries_.exclude_self) {
    graph::exclude_self(index_.metric(), keys, found, rows(), answers.k, distances, ids, stream_);
  } else if constexpr (std::is_same_v<Id, unsigned>) {
    brute::return_answer(index_.metric(), keys, found, rows() * answers.k, distances, ids, stream_);
  }
  leave_out_beyond(answers);
}

template <Element T>
void DeviceSearch<T>::leave_out_beyond(Answers& answers) const {
  if (std::isinf(answers.max_distance) && !answers.has_gaps) return;
  graph::leave_out_beyond(answers.distances.data(), answers.ids.data(), rows() * answers.k,
                          core::largest_within<F>(answers.max_distance), stream_);
}

template <Element T>
DeviceProgress DeviceSearch<T>::progress(const Plan& plan, Memory out) const {
  return {queries_.progress, queries_.stop, rows() * plan.problem.base_rows, out == Memory::host, stream_};
}

template <Element T>
auto DeviceSearch<T>::link_for(std::int64_t answer_bytes) const -> Link {
  const bool brings =
      queries_.points.memory == Memory::host && !(index_.is_base(queries_.points) && index_.store() != nullptr);
  return Link(stream_, std::max(answer_bytes, brings ? host_data::bytes_of(queries_.points) : 0));
}

#define KITH_INSTANTIATE(T) template class DeviceSearch<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
