// batches.cpp: a search of batches: small ones go to the backend together, each other one is a search of its own.
#include "kith/batches.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "api/index_state.hpp"
#include "backend/batches.hpp"
#include "backend/registry.hpp"
#include "core/batches.hpp"
#include "core/instantiate.hpp"

namespace kith {
namespace {

// A call whose arguments were checked.
template <Element T>
struct BatchCall {
  MatrixView<T> base;
  MatrixView<T> queries;
  core::Batches batches;
  std::int64_t k;
  Options options;  // with the backend that is meant by automatic
  void* stream;
  bool exclude_self;
  Backend asked;  // that was asked for

  // Neighbors that a query of a batch can have, of any number.
  std::int64_t candidates(std::int64_t batch) const { return batches.base(batch).count - (exclude_self ? 1 : 0); }
};

void check_offsets(std::span<const std::int64_t> offsets, std::int64_t rows, const char* role) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorCode::invalid_argument, message); };
  if (offsets.empty())
    refuse(fmt::format("offsets of the {} are empty; they are one number more than there are batches", role));
  if (offsets.front() != 0)
    refuse(fmt::format("offsets of the {} begin with {}; the first must be 0", role, offsets.front()));
  const auto fall = std::is_sorted_until(offsets.begin(), offsets.end());
  if (fall != offsets.end())
    refuse(fmt::format("offsets of the {} fall from {} to {} at position {}; they must ascend", role, fall[-1], *fall,
                       fall - offsets.begin()));
  if (offsets.back() != rows)
    refuse(fmt::format("offsets of the {} end with {} but it has {} rows", role, offsets.back(), rows));
}

// Points that may be none.
template <Element T>
void check_points(const MatrixView<T>& view, const char* role) {
  if (view.rows != 0) api::check_view(view, role);
}

template <Element T>
BatchCall<T> checked(const MatrixView<T>& base, const MatrixView<T>& queries, const core::Batches& batches,
                     std::int64_t k, const Options& options, void* stream, bool exclude_self, Memory answers) {
  check_points(base, "base");
  check_points(queries, "queries");
  api::check_same_dims(base.cols, queries.cols);
  check_offsets(batches.base_offsets, base.rows, "base");
  check_offsets(batches.query_offsets, queries.rows, "queries");
  if (batches.base_offsets.size() != batches.query_offsets.size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("offsets of {} batches of the base but of {} batches of the queries", batches.count(),
                            batches.query_offsets.size() - 1));
  constexpr std::int64_t kMostNeighbors = std::int64_t{1} << 56;  // more than any address space
  api::check_k(k, kMostNeighbors, "the largest that memory can address is");
  api::check_sizes(queries.rows, base.rows, k);
  api::refuse_certify(options, "batches");
  api::refuse_devices(options, "batches");
  if (options.statistics)
    throw Error(ErrorCode::invalid_argument, "statistics are of one search; search_batches() has none");
  api::check_period(options.period, base.cols);
  BatchCall<T> call{base, queries, batches, k, options, stream, exclude_self, options.backend};
  call.options.backend = api::check_options(options, api::either(api::either(base.memory, queries.memory), answers));
  return call;
}

// Batches by how they are searched; those without queries, or points, are in no list.
struct BatchLists {
  std::vector<std::int64_t> by_brute;  // together
  std::vector<std::int64_t> by_tree;   // together
  std::vector<std::int64_t> alone;
};

template <Element T>
BatchLists sort_batches(const BatchCall<T>& call, const plan::Machine& machine) {
  BatchLists lists;
  std::optional<Problem> last;  // batches are often alike
  std::optional<Method> together;
  for (std::int64_t batch = 0; batch < call.batches.count(); ++batch) {
    const std::int64_t candidates = call.candidates(batch);
    const std::int64_t queries = call.batches.queries(batch).count;
    if (candidates < 1 || queries < 1) continue;
    const std::int64_t rows = call.batches.base(batch).count;
    const Problem problem{rows, queries, call.base.cols, std::min(call.k, candidates), dtype_of<T>()};
    if (problem != last) together = plan::choose_small_batch(problem, call.batches.count(), call.options, machine);
    last = problem;
    (!together ? lists.alone : together == Method::tree ? lists.by_tree : lists.by_brute).push_back(batch);
  }
  return lists;
}

// Marks the answers to queries that have no candidates.
template <Element T>
void mark_without_candidates(const BatchCall<T>& call, const NeighborsView<DistanceOf<T>>& out) {
  for (std::int64_t batch = 0; batch < call.batches.count(); ++batch) {
    if (call.candidates(batch) > 0) continue;
    const core::RowRange queries = call.batches.queries(batch);
    core::mark_missing(call.options.metric, out, queries.first * call.k, queries.count * call.k);
  }
}

// What was done so far, of all distances there are.
class BatchReports {
 public:
  explicit BatchReports(std::int64_t all_pairs) : all_pairs_(all_pairs) {}

  // The callback of a search of so many pairs, which comes next.
  ProgressCallback progress(const ProgressCallback& callback, std::int64_t pairs) const {
    return backend::part_of(callback, pairs_, pairs, all_pairs_, 1);
  }
  // Keeps the report of the search with the most pairs.
  void add(SearchReport report, std::int64_t pairs) {
    finalists_ += report.finalists;
    pairs_ += pairs;
    if (pairs > most_) kept_ = std::move(report);
    most_ = std::max(most_, pairs);
  }
  void give(SearchReport& report) {
    report = std::move(kept_);
    report.finalists = finalists_;
  }

 private:
  std::int64_t all_pairs_;
  std::int64_t pairs_ = 0;
  std::int64_t most_ = 0;
  std::int64_t finalists_ = 0;
  SearchReport kept_;
};

std::int64_t pairs_of(const core::Batches& batches, const std::vector<std::int64_t>& listed) {
  std::int64_t pairs = 0;
  for (const std::int64_t batch : listed) pairs += batches.pairs(batch);
  return pairs;
}

template <Element T>
plan::SmallBatches describe(const BatchCall<T>& call, const std::vector<std::int64_t>& listed, Method method) {
  plan::SmallBatches small;
  small.method = method;
  small.count = static_cast<std::int64_t>(listed.size());
  for (const std::int64_t batch : listed) {
    const std::int64_t rows = call.batches.base(batch).count;
    const std::int64_t queries = call.batches.queries(batch).count;
    small.base_rows += rows;
    small.queries += queries;
    small.most_base_rows = std::max(small.most_base_rows, rows);
    small.most_queries = std::max(small.most_queries, queries);
  }
  const std::int64_t k = std::min(call.k + (call.exclude_self ? 1 : 0), small.most_base_rows);
  small.all = {call.base.rows, call.queries.rows, call.base.cols, k, dtype_of<T>(), call.exclude_self};
  return small;
}

// Batches that the backend takes at once. All rows of the call are checked.
template <Element T>
void search_together(BatchCall<T>& call, const std::vector<std::int64_t>& listed, Method method,
                     const NeighborsView<DistanceOf<T>>& out, BatchReports& reports) {
  if (listed.empty()) return;
  const std::int64_t pairs = pairs_of(call.batches, listed);
  const ProgressCallback progress = reports.progress(call.options.progress, pairs);
  const auto state = OneSearch::state_of(call.base, call.options, call.stream, call.queries.memory);
  const auto search = state->begin({call.queries, call.stream, call.exclude_self}, Memory::host, progress);
  const plan::SmallBatches small = describe(call, listed, method);
  SearchReport report;
  report.plan = plan::choose_batches(small, state->options, backend::for_this_thread(state->machine),
                                     state->index->facts(small.all), search->samples());
  search->search_batches(report.plan, call.batches, listed, call.k, out, report);
  reports.add(std::move(report), pairs);
  call.options.check_finite = false;  // what follows need not look again
}

// A search of one batch, which tells of it what it tells of a base.
template <Element T>
void search_alone(const BatchCall<T>& call, std::int64_t batch, const NeighborsView<DistanceOf<T>>& out,
                  BatchReports& reports) {
  const core::RowRange rows = call.batches.base(batch);
  const core::RowRange queries = call.batches.queries(batch);
  const std::int64_t pairs = call.batches.pairs(batch);
  const std::int64_t k = std::min(call.k, call.candidates(batch));
  const NeighborsView<DistanceOf<T>> mine{out.ids + queries.first * call.k, out.distances + queries.first * call.k};
  Options options = call.options;
  options.progress = reports.progress(call.options.progress, pairs);
  try {
    const Index<T> index =
        OneSearch::of(call.base.rows_from(rows.first, rows.count), options, call.stream, call.queries.memory);
    const MatrixView<T> asked = call.queries.rows_from(queries.first, queries.count);
    reports.add(call.exclude_self ? index.search_self_into(k, mine, call.stream)
                                  : index.search_into(asked, k, mine, call.stream),
                pairs);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_data && error.code() != ErrorCode::out_of_memory) throw;
    throw Error(error.code(), fmt::format("batch {}: {}", batch, error.what()));
  }
  core::spread_answer(options.metric, k, queries.count, rows.first, call.k, mine);
}

template <Element T>
void search_on_host(BatchCall<T> call, const NeighborsView<DistanceOf<T>>& out, SearchReport& report) {
  const plan::Machine machine = backend::machine_of(call.options.backend, call.asked);
  const BatchLists lists = sort_batches(call, backend::for_this_thread(machine));
  BatchReports reports(pairs_of(call.batches, lists.by_brute) + pairs_of(call.batches, lists.by_tree) +
                       pairs_of(call.batches, lists.alone));
  mark_without_candidates(call, out);
  search_together(call, lists.by_brute, Method::brute, out, reports);
  search_together(call, lists.by_tree, Method::tree, out, reports);
  for (const std::int64_t batch : lists.alone) search_alone(call, batch, out, reports);
  reports.give(report);
  if (const auto* cpu = std::get_if<core::CpuFacts>(&machine)) plan::note_obstacle(report.plan, cpu->device_obstacle);
}

template <Element T>
SearchReport answer_into(const MatrixView<T>& base, const MatrixView<T>& queries, const core::Batches& batches,
                         std::int64_t k, const NeighborsView<DistanceOf<T>>& out, const Options& options, void* stream,
                         bool exclude_self) {
  using D = DistanceOf<T>;
  return api::reported([&](SearchReport& report) {
    const BatchCall<T> call = checked(base, queries, batches, k, options, stream, exclude_self, out.memory);
    const std::int64_t places = queries.rows * k;
    api::check_certified(options, out.certified);
    if (places == 0) return;
    api::check_outputs(out.ids, out.distances);
    if (out.memory == Memory::host) return search_on_host(call, out, report);
    api::check_output(queries.rows, k, sizeof(std::int64_t) + sizeof(D));
    std::vector<std::int64_t> ids;
    std::vector<D> distances;
    const NeighborsView<D> answer = api::growing(ids, distances)(places);
    search_on_host(call, answer, report);
    backend::table_of(call.options.backend).template of<T>().bring_answer(answer, places, out, stream);
  });
}

template <Element T>
Neighbors<DistanceOf<T>> answer(const MatrixView<T>& base, const MatrixView<T>& queries, const core::Batches& batches,
                                std::int64_t k, const Options& options, void* stream, bool exclude_self) {
  using D = DistanceOf<T>;
  return api::guarded([&] {
    checked(base, queries, batches, k, options, stream, exclude_self, Memory::host);
    api::check_output(queries.rows, k, sizeof(std::int64_t) + sizeof(D));
    Neighbors<D> found;
    found.queries = queries.rows;
    found.k = k;
    const NeighborsView<D> out = api::growing(found.ids, found.distances)(found.queries * k);
    found.report = answer_into(base, queries, batches, k, out, options, stream, exclude_self);
    return found;
  });
}

}  // namespace

template <Element T>
Neighbors<DistanceOf<T>> search_batches(MatrixView<T> base, std::span<const std::int64_t> base_offsets,
                                        MatrixView<T> queries, std::span<const std::int64_t> query_offsets,
                                        std::int64_t k, const Options& options, void* stream) {
  return answer(base, queries, {base_offsets, query_offsets}, k, options, stream, false);
}

template <Element T>
SearchReport search_batches_into(MatrixView<T> base, std::span<const std::int64_t> base_offsets, MatrixView<T> queries,
                                 std::span<const std::int64_t> query_offsets, std::int64_t k,
                                 NeighborsView<DistanceOf<T>> out, const Options& options, void* stream) {
  return answer_into(base, queries, {base_offsets, query_offsets}, k, out, options, stream, false);
}

template <Element T>
Neighbors<DistanceOf<T>> search_batches_self(MatrixView<T> base, std::span<const std::int64_t> offsets, std::int64_t k,
                                             const Options& options, void* stream) {
  return answer(base, base, {offsets, offsets}, k, options, stream, true);
}

template <Element T>
SearchReport search_batches_self_into(MatrixView<T> base, std::span<const std::int64_t> offsets, std::int64_t k,
                                      NeighborsView<DistanceOf<T>> out, const Options& options, void* stream) {
  return answer_into(base, base, {offsets, offsets}, k, out, options, stream, true);
}

#define KITH_INSTANTIATE(T)                                                                                           \
  template KITH_API Neighbors<DistanceOf<T>> search_batches(MatrixView<T>, std::span<const std::int64_t>,             \
                                                            MatrixView<T>, std::span<const std::int64_t>,             \
                                                            std::int64_t, const Options&, void*);                     \
  template KITH_API SearchReport search_batches_into(MatrixView<T>, std::span<const std::int64_t>, MatrixView<T>,     \
                                                     std::span<const std::int64_t>, std::int64_t,                     \
                                                     NeighborsView<DistanceOf<T>>, const Options&, void*);            \
  template KITH_API Neighbors<DistanceOf<T>> search_batches_self(MatrixView<T>, std::span<const std::int64_t>,        \
                                                                 std::int64_t, const Options&, void*);                \
  template KITH_API SearchReport search_batches_self_into(MatrixView<T>, std::span<const std::int64_t>, std::int64_t, \
                                                          NeighborsView<DistanceOf<T>>, const Options&, void*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
