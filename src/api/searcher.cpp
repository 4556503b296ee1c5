#include "api/searcher.hpp"

#include <chrono>
#include <utility>

#include "api/guard.hpp"
#include "api/radii.hpp"
#include "api/reduction.hpp"
#include "api/sample_quality.hpp"
#include "api/validate.hpp"
#include "backend/host.hpp"
#include "backend/registry.hpp"

namespace kith::api {
namespace {

Memory either(Memory a, Memory b) {
  return a == Memory::device ? a : b;
}

// Calls work(report), which sets the plan and follows it, and adds the time.
template <class Work>
SearchReport reported(Work work) {
  return guarded([&] {
    const auto start = std::chrono::steady_clock::now();
    SearchReport report;
    work(report);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  });
}

// The caller's function, whose answer is checked.
template <class D>
auto checked(const std::function<NeighborsView<D>(std::int64_t)>& allocate, Memory memory) {
  return [&allocate, memory](std::int64_t count) {
    const NeighborsView<D> view = allocate(count);
    if (count > 0) check_outputs(view.ids, view.distances);
    if (view.memory != memory)
      throw Error(ErrorCode::invalid_argument, fmt::format("lists in {} memory for offsets in {} memory; both must lie "
                                                           "in one",
                                                           to_string(view.memory), to_string(memory)));
    return view;
  };
}

}  // namespace

template <Element T>
Searcher<T>::Searcher(const MatrixView<T>& base, Options options, void* stream, Memory others)
    : base_(base), options_(std::move(options)) {
  check_view(base_, "base");
  check_dims(base_.cols);
  options_.backend = check_options(options_, either(base_.memory, others));
  guarded([&] {
    machine_ = backend::machine_of(options_.backend);
    plan::IndexFacts facts = plan::choose_index(problem(1, 1), options_, machine_);
    if (base_.memory == Memory::device) facts.resident = true;
    index_ = backend::table_of(options_.backend)
                 .template of<T>()
                 .make_index({base_, options_, facts, stream, &cpu::check_base<T>});
  });
}

template <Element T>
void Searcher<T>::prepare() {
  guarded([&] {
    if (options_.method != Method::triangle) return index_->prepare(nullptr);
    const Plan plan = plan::choose(problem(1, 1), options_, machine_, index_->facts());
    index_->prepare(&plan);
  });
}

template <Element T>
void Searcher<T>::check(const Asked<T>& asked, std::int64_t k) const {
  if (asked.exclude_self) {
    check_k(k, base_.rows - 1, "the number of other points is");
    check_sizes(base_.rows, base_.rows, k + 1);
  } else {
    check_search(base_, asked.queries, k);
    check_memory(asked.queries.memory, "queries");
  }
}

template <Element T>
void Searcher<T>::check_memory(Memory memory, const char* role) const {
  if (memory == Memory::device && options_.backend == Backend::cpu)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} on a device for an index of backend cpu, which takes host memory only", role));
}

template <Element T>
auto Searcher<T>::begin(const Asked<T>& asked, Memory others, const ProgressCallback& progress) const
    -> std::unique_ptr<Search> {
  const bool on_device = either(base_.memory, either(asked.queries.memory, others)) == Memory::device;
  return index_->begin({asked.queries, asked.exclude_self, progress, on_device, asked.stream});
}

template <Element T>
auto Searcher<T>::search(const Asked<T>& asked, std::int64_t k) const -> Neighbors<D> {
  check(asked, k);
  check_output(asked.queries.rows, k, sizeof(std::int64_t) + sizeof(D));
  return guarded([&] {
    Neighbors<D> found;
    found.queries = asked.queries.rows;
    found.k = k;
    found.ids.resize(static_cast<std::size_t>(asked.queries.rows * k));
    found.distances.resize(found.ids.size());
    found.report = search_into(asked, k, {found.ids.data(), found.distances.data()});
    return found;
  });
}

template <Element T>
SearchReport Searcher<T>::search_into(const Asked<T>& asked, std::int64_t k, const NeighborsView<D>& out) const {
  check(asked, k);
  check_memory(out.memory, "an answer");
  check_outputs(out.ids, out.distances);
  SearchReport made = reported([&](SearchReport& report) {
    const auto search = begin(asked, out.memory);
    report.plan = plan::choose(problem(asked.queries.rows, k + (asked.exclude_self ? 1 : 0)), options_, machine_,
                               index_->facts(), search->samples());
    search->search(report.plan, out, report);
  });
  if (made.plan.approximate && made.plan.statistics)
    made.quality = guarded([&] { return sample_quality(asked, made.plan); });
  return made;
}

template <Element T>
SearchQuality Searcher<T>::sample_quality(const Asked<T>& asked, const Plan& plan) const {
  const Asked<T> some{sample_of(asked.queries), asked.stream};
  const std::int64_t k = plan.problem.k;
  std::vector<std::int64_t> ids(static_cast<std::size_t>(some.queries.rows * k));
  std::vector<D> distances(ids.size());
  SearchReport ignored;
  ignored.plan = plan;
  begin(some, Memory::host, {})->search(ignored.plan, {ids.data(), distances.data()}, ignored);
  const Searcher<T> exact(base_, exact_options(options_), asked.stream, some.queries.memory);
  return judge_sample(distances.data(), exact.search(some, k));
}

template <Element T>
auto Searcher<T>::search_radius(const Asked<T>& asked, std::span<const D> radii, RadiusOutput output) const
    -> RadiusNeighbors<D> {
  if (!asked.exclude_self) check(asked, 1);
  return guarded([&] {
    RadiusNeighbors<D> found;
    found.queries = asked.queries.rows;
    found.offsets.resize(static_cast<std::size_t>(found.queries) + 1);
    RadiusLists<D> lists{found.offsets.data(), {}};
    if (output == RadiusOutput::neighbors)
      lists.allocate = [&](std::int64_t count) {
        found.ids.resize(static_cast<std::size_t>(count));
        found.distances.resize(found.ids.size());
        return NeighborsView<D>{found.ids.data(), found.distances.data()};
      };
    found.report = search_radius_into(asked, radii, lists);
    return found;
  });
}

template <Element T>
SearchReport Searcher<T>::search_radius_into(const Asked<T>& asked, std::span<const D> radii,
                                             const RadiusLists<D>& out) const {
  if (!asked.exclude_self) check(asked, 1);
  check_memory(out.memory, "an answer");
  if (out.offsets == nullptr)
    throw Error(ErrorCode::invalid_argument, "offsets must point to queries + 1 elements (null pointer)");
  return reported([&](SearchReport& report) {
    core::RadiusQuery<D> query = radius_query(radii, asked.queries.rows, options_.metric);
    query.count_only = !out.allocate;
    query.exclude_self = asked.exclude_self;
    RadiusLists<D> lists{out.offsets, {}, out.memory};
    if (out.allocate) lists.allocate = checked<D>(out.allocate, out.memory);
    const auto search = begin(asked, out.memory);
    report.plan =
        plan::choose_radius(problem(asked.queries.rows, 0), options_, machine_, index_->facts(), search->samples());
    search->search_radius(report.plan, query, lists, report);
  });
}

template <Element T>
auto Searcher<T>::graph(std::int64_t k, Symmetrize symmetrize, void* stream) const -> Graph<D> {
  check(self(stream), k);
  return guarded([&] {
    Graph<D> made;
    made.points = base_.rows;
    made.indptr.resize(static_cast<std::size_t>(made.points) + 1);
    const auto allocate = [&](std::int64_t count) {
      made.indices.resize(static_cast<std::size_t>(count));
      made.data.resize(made.indices.size());
      return NeighborsView<D>{made.indices.data(), made.data.data()};
    };
    made.report = graph_into(k, symmetrize, {made.indptr.data(), allocate}, stream);
    return made;
  });
}

template <Element T>
SearchReport Searcher<T>::graph_into(std::int64_t k, Symmetrize symmetrize, const GraphLists<D>& out,
                                     void* stream) const {
  const Asked<T> asked = self(stream);
  check(asked, k);
  check_memory(out.memory, "an answer");
  if (out.indptr == nullptr || !out.allocate)
    throw Error(ErrorCode::invalid_argument,
                "indptr must point to points + 1 elements, and allocate must be a function");
  return reported([&](SearchReport& report) {
    const auto search = begin(asked, out.memory);
    report.plan = plan::choose(problem(base_.rows, k + 1), options_, machine_, index_->facts(), search->samples());
    search->graph(report.plan, symmetrize, {out.indptr, checked<D>(out.allocate, out.memory), out.memory}, report);
  });
}

template <Element T>
auto Searcher<T>::reduce(const Asked<T>& asked, std::int64_t k, const MatrixView<D>& values, ReduceOp op) const
    -> Reduced<D> {
  check(asked, k);
  const std::int64_t columns = core::reduced_columns(make_reduction(base_, k, values, op, options_.metric));
  check_output(asked.queries.rows, columns, sizeof(D));
  return guarded([&] {
    Reduced<D> reduced;
    reduced.values = Matrix<D>(asked.queries.rows, columns);
    reduced.report = reduce_into(asked, k, values, op, {reduced.values.data()});
    return reduced;
  });
}

template <Element T>
SearchReport Searcher<T>::reduce_into(const Asked<T>& asked, std::int64_t k, const MatrixView<D>& values, ReduceOp op,
                                      const ReducedView<D>& out) const {
  check(asked, k);
  const core::Reduction reduction = make_reduction(base_, k, values, op, options_.metric);
  check_memory(out.memory, "an answer");
  if (core::has_values(op)) check_memory(values.memory, "values");
  if (out.values == nullptr)
    throw Error(ErrorCode::invalid_argument, "the output must point to a row for each query (null pointer)");
  return reported([&](SearchReport& report) {
    const Memory others = either(out.memory, core::has_values(op) ? values.memory : Memory::host);
    const auto search = begin(asked, others);
    const ReduceBatch batch = reduce_batch<D>(options_, asked.queries.rows, k);
    report.plan = plan::choose(problem(batch.queries, k), batch.options, machine_, index_->facts(), search->samples());
    search->reduce(report.plan, reduction, values, out, report);
    report.plan.problem.queries = asked.queries.rows;
  });
}

template <Element T>
Plan Searcher<T>::explain(std::int64_t queries, std::int64_t k) const {
  check_problem(problem(queries, k));
  return guarded([&] { return plan::choose(problem(queries, k), options_, machine_, index_->facts()); });
}

template class Searcher<float>;
template class Searcher<double>;
template class Searcher<std::uint8_t>;
template class Searcher<std::int8_t>;

}  // namespace kith::api
