// index_state.hpp: what an index is made of, and how each of its calls begins: arguments are checked, the search is
// planned, a backend does it.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "api/devices/workers.hpp"
#include "api/guard.hpp"
#include "api/plan_memo.hpp"
#include "api/validate.hpp"
#include "backend/contract.hpp"
#include "backend/registry.hpp"
#include "kith/index.hpp"

namespace kith {

namespace api {

// What a call searches for.
template <Element T>
struct Asked {
  MatrixView<T> queries;
  void* stream = nullptr;
  bool exclude_self = false;                // the queries are the base
  const std::uint64_t* wanted = nullptr;    // as backend::Queries has it
  std::span<const DistanceOf<T>> limits{};  // the same
};

}  // namespace api

template <Element T>
struct Index<T>::State {
  // `others`: device where something of the only call that is to follow lies there. Throws for options that cannot be
  // met, or a backend that is not there; the values of the base are checked when `index` is prepared.
  // `parts`: what an earlier index of the same points and options had made, or null.
  State(const MatrixView<T>& base, Options options, void* stream, Memory others, const backend::Parts* parts = nullptr);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The base as its own queries.
  api::Asked<T> self(void* stream) const { return {base, stream, true}; }
  // Queries, and k neighbors of each, or of each point where queries are the base.
  void check(const api::Asked<T>& asked, std::int64_t k) const;
  // What this backend can reach.
  void check_memory(Memory memory, const char* role) const;

  // The most that the CPU may use.
  int threads() const;
  Problem problem(std::int64_t queries, std::int64_t k, bool self = false) const {
    return {base.rows, queries, base.cols, k, dtype_of<T>(), self};
  }
  // `others`: device where something of the call beside base and queries lies there.
  std::unique_ptr<backend::BackendSearch<T>> begin(const api::Asked<T>& asked, Memory others,
                                                   const ProgressCallback& progress) const;
  std::unique_ptr<backend::BackendSearch<T>> begin(const api::Asked<T>& asked, Memory others) const {
    return begin(asked, others, options.progress);
  }

  // What an index of a stripe knows of the call that it has a part in: whether that goes on, and how many workers
  // collect what they find (api/devices/). Set by the thread that searches.
  struct PartOfCall {
    const std::atomic<bool>* stop = nullptr;
    std::int64_t workers = 1;
  };

  MatrixView<T> base;
  Matrix<T> owned;  // where the base is the index's own
  Options options;
  plan::Machine machine;                            // as it was before the index took its part
  std::unique_ptr<backend::BackendIndex<T>> index;  // null where workers have one each
  std::unique_ptr<api::Workers<T>> workers;         // where the options name devices
  PartOfCall part;
  mutable api::PlanMemo plans;
};

namespace api {

inline Memory either(Memory a, Memory b) {
  return a == Memory::device ? a : b;
}

// What an index has for a search whose answers lie in this memory. No function of State: the library would export it.
template <class State, Element T>
plan::IndexFacts facts_of(const State& state, const Problem& problem, const Asked<T>& asked, Memory answers) {
  plan::IndexFacts facts = state.index->facts(problem);
  facts.brings_queries = asked.queries.memory == Memory::host;
  facts.brings_answers = answers == Memory::host;
  return facts;
}

// What a search, which has begun, will do.
template <class State, Element T>
std::shared_ptr<const Plan> plan_of(const State& state, const Problem& problem, const Asked<T>& asked, Memory answers,
                                    backend::BackendSearch<T>& search) {
  // How many threads a CPU has may differ from call to call.
  PlanMemo::Facts facts{problem, facts_of(state, problem, asked, answers), backend::threads_now(state.machine)};
  // What brute force has spent is another fact with every search; trees are so fast that planning counts.
  if (std::holds_alternative<core::CpuFacts>(state.machine) && !facts.index.has_tree)
    return std::make_shared<const Plan>(
        plan::choose(problem, state.options, backend::for_this_thread(state.machine), facts.index, search.samples()));
  if (std::shared_ptr<const Plan> known = state.plans.find(facts)) return known;
  return state.plans.make(std::move(facts), state.options, backend::for_this_thread(state.machine), search.samples());
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
auto checked_allocate(const std::function<NeighborsView<D>(std::int64_t)>& allocate, Memory memory) {
  return [&allocate, memory](std::int64_t count) {
    const NeighborsView<D> view = allocate(count);
    if (count > 0) check_outputs(view.ids, view.distances);
    if (view.memory != memory)
      throw Error(ErrorCode::invalid_argument, fmt::format("lists in {} memory for offsets in {} memory",
                                                           to_string(view.memory), to_string(memory)));
    return view;
  };
}

// Lists that grow with what they are asked to hold.
template <class D>
auto growing(std::vector<std::int64_t>& ids, std::vector<D>& distances) {
  return [&ids, &distances](std::int64_t count) {
    ids.resize(static_cast<std::size_t>(count));
    distances.resize(ids.size());
    return NeighborsView<D>{ids.data(), distances.data()};
  };
}

}  // namespace api

// An index that serves one call: it checks and makes no more than that needs.
struct OneSearch {
  template <Element T>
  static Index<T> of(const MatrixView<T>& base, const Options& options, void* stream, Memory others = Memory::host) {
    return Index<T>(state_of(base, options, stream, others));
  }
  // One that begins with what an earlier index of the same points and options had made. What is missing of that is made
  // by the first search.
  template <Element T>
  static Index<T> prepared(const MatrixView<T>& base, const Options& options, const backend::Parts& parts) {
    Index<T> index(std::make_unique<typename Index<T>::State>(base, options, nullptr, Memory::host, &parts));
    index.state().index->prepare(nullptr);
    return index;
  }
  // Checks the base and makes what searches need.
  template <Element T>
  static void prepare(const Index<T>& index) {
    const auto& state = index.state();
    if (state.workers != nullptr) return state.workers->prepare();
    if (state.options.method != Method::triangle && state.options.method != Method::tree)
      return state.index->prepare(nullptr);
    const Plan plan = index.explain(1, 1);
    state.index->prepare(&plan);
  }
  // Whether the points stay where they are searched, rather than pass through it by every search.
  template <Element T>
  static bool is_resident(const Index<T>& index) {
    return index.state().index->facts(index.state().problem(1, 1)).resident;
  }
  // Of the searches that follow, by this thread.
  template <Element T>
  static void set_part(Index<T>& index, const std::atomic<bool>* stop, std::int64_t workers) {
    index.state_->part = {stop, workers};
  }
  template <Element T>
  static backend::Parts parts_of(const Index<T>& index) {
    return index.state().index->parts();
  }
  template <Element T>
  static bool copies_rows(const Index<T>& index) {
    return index.state().index->copies_rows();
  }
  template <Element T>
  static std::shared_ptr<const backend::RowCopies<T>> copy_rows(const Index<T>& index,
                                                                std::span<const std::int64_t> rows) {
    return index.state().index->copy_rows(rows);
  }
  template <Element T>
  static bool leaves_out(const Index<T>& index, const Plan& plan) {
    return index.state().index->leaves_out(plan);
  }
  // As Index::search(): but points that are not wanted, as backend::Queries has it, may be missing.
  template <Element T>
  static Neighbors<DistanceOf<T>> search_wanted(const Index<T>& index, const MatrixView<T>& queries, std::int64_t k,
                                                const std::uint64_t* wanted);
  // As Index::search(): but points beyond a query's limit, as backend::Queries has it, may be missing.
  template <Element T>
  static Neighbors<DistanceOf<T>> search_limited(const Index<T>& index, const MatrixView<T>& queries, std::int64_t k,
                                                 std::span<const DistanceOf<T>> limits);
  // What is in it, for calls that are no function of an index.
  template <Element T>
  static auto state_of(const MatrixView<T>& base, const Options& options, void* stream, Memory others) {
    return std::make_unique<typename Index<T>::State>(base, options, stream, others);
  }
};

}  // namespace kith
