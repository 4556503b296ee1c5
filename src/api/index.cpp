#include "kith/index.hpp"

#include <utility>

#include "api/index_state.hpp"
#include "backend/host.hpp"
#include "backend/registry.hpp"
#include "core/instantiate.hpp"

namespace kith {

template <Element T>
Index<T>::State::State(const MatrixView<T>& base_, Options options_, void* stream, Memory others,
                       const backend::Parts* parts)
    : base(base_), options(std::move(options_)) {
  api::guarded([&] {
    api::check_view(base, "base");
    api::check_dims(base.cols);
    api::check_period(options.period, base.cols);
    const Backend asked = options.backend;
    options.backend = api::check_options(options, api::either(base.memory, others));
    if (!options.devices.empty()) {
      workers = std::make_unique<api::Workers<T>>(base, options);
      return;
    }
    machine = backend::machine_of(options.backend, asked);
    plan::IndexFacts facts = plan::choose_index(problem(1, 1), options, machine);
    if (base.memory == Memory::device) facts.resident = facts.may_widen = true;
    const auto& table = backend::table_of(options.backend).template of<T>();
    index = table.make_index({base, options, facts, stream, &cpu::check_base<T>, threads(), parts});
  });
}

template <Element T>
int Index<T>::State::threads() const {
  const auto* const cpu = std::get_if<core::CpuFacts>(&machine);
  return options.threads > 0 ? options.threads : cpu != nullptr ? cpu->threads : 1;
}

template <Element T>
void Index<T>::State::check(const api::Asked<T>& asked, std::int64_t k) const {
  if (asked.exclude_self) {
    api::check_k(k, base.rows - 1, "the number of other points is");
    api::check_sizes(base.rows, base.rows, k + 1);
  } else {
    api::check_search(base, asked.queries, k);
    check_memory(asked.queries.memory, "queries");
  }
}

template <Element T>
void Index<T>::State::check_memory(Memory memory, const char* role) const {
  if (memory == Memory::device && options.backend == Backend::cpu)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} on a device for an index of backend cpu, which takes host memory only", role));
  if (memory == Memory::device && workers != nullptr) api::refuse_device_memory(options, role);
}

template <Element T>
std::unique_ptr<backend::BackendSearch<T>> Index<T>::State::begin(const api::Asked<T>& asked, Memory others,
                                                                  const ProgressCallback& progress) const {
  const Memory anything = api::either(base.memory, api::either(asked.queries.memory, others));
  return index->begin({asked.queries, asked.exclude_self, progress, anything == Memory::device, asked.stream,
                       asked.wanted, asked.limits, part.stop});
}

template <Element T>
Index<T>::Index(std::unique_ptr<State> state) : state_(std::move(state)) {}

template <Element T>
Index<T>::Index(MatrixView<T> base, Options options, void* stream)
    : state_(std::make_unique<State>(base, std::move(options), stream, Memory::host)) {
  api::guarded([&] { OneSearch::prepare(*this); });
}

template <Element T>
Index<T>::Index(Matrix<T>&& base, Options options) : Index(base.view(), std::move(options)) {
  state_->owned = std::move(base);  // its values stay where they are, so the view stays good
}

template <Element T>
Index<T>::Index(Index&&) noexcept = default;
template <Element T>
Index<T>& Index<T>::operator=(Index&&) noexcept = default;
template <Element T>
Index<T>::~Index() = default;

template <Element T>
auto Index<T>::state() const -> const State& {
  if (state_ == nullptr)
    throw Error(ErrorCode::invalid_argument, "this index has no points any more: it was moved from");
  return *state_;
}

template <Element T>
std::int64_t Index<T>::rows() const {
  return state().base.rows;
}

template <Element T>
std::int64_t Index<T>::dims() const {
  return state().base.cols;
}

template <Element T>
const Options& Index<T>::options() const {
  return state().options;
}

template <Element T>
Memory Index<T>::memory() const {
  return state().base.memory;
}

template <Element T>
Plan Index<T>::explain(std::int64_t queries, std::int64_t k) const {
  return api::guarded([&] {
    const Problem problem = state().problem(queries, k);
    api::check_problem(problem);
    if (state().workers != nullptr) return state().workers->explain(problem);
    return plan::choose(problem, options(), backend::for_this_thread(state().machine), state().index->facts(problem));
  });
}

// The functions of State too, which the other files of Index call.
#define KITH_INSTANTIATE(T) template class Index<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
