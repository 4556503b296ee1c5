#include "api/devices/workers.hpp"

#include <algorithm>

#include "api/devices/report.hpp"
#include "api/index_state.hpp"
#include "backend/host.hpp"
#include "core/instantiate.hpp"

namespace kith::api {

template <Element T>
Workers<T>::Workers(const MatrixView<T>& base, const Options& options)
    : base_(base), options_(options), workers_(make_workers({base.rows, 1, base.cols, 1, dtype_of<T>()}, options)) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Part* const part = parts_.emplace_back(std::make_unique<Part>()).get();
    // Only where somebody listens: a device waits before it reports.
    if (options.progress)
      workers_[i].options.progress = [part, i](const Progress& progress) {
        return part->call == nullptr || part->call->advance(i, part->before + progress.done);
      };
  }
  WorkerCall call(workers_, {}, 0);
  call.wait(call.start([&](std::size_t i) {
    const Stripe stripe = workers_[i].stripe;
    if (stripe.rows == 0) return;
    parts_[i]->index.emplace(OneSearch::of(base.rows_from(stripe.first, stripe.rows), workers_[i].options, nullptr));
    parts_[i]->streams = !OneSearch::is_resident(*parts_[i]->index);
  }));
}

// What an index has on a device goes where that is current.
template <Element T>
Workers<T>::~Workers() {
  if (!workers_.front().thread->is_here()) {
    for (auto& part : parts_) static_cast<void>(part.release());
    return;
  }
  for (std::size_t i = 0; i < workers_.size(); ++i)
    workers_[i].thread->run([part = parts_[i].get()] { part->index.reset(); });
  for (Worker& worker : workers_) worker.thread.reset();
}

template <Element T>
void Workers<T>::prepare() {
  with_rows_named({}, [&] {
    WorkerCall call(workers_, {}, 0);
    call.wait(call.start(
        [&](std::size_t i) { take_part(call, i, {}, [](const Index<T>& index) { OneSearch::prepare(index); }); }));
  });
}

// A worker knows rows of its stripe, and of a block of queries.
template <Element T>
void Workers<T>::with_rows_named(const MatrixView<T>& queries, const std::function<void()>& work) const {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_data) throw;
    cpu::check_base(base_, options_);
    if (queries.rows > 0) cpu::check_queries(queries, options_);
    throw;
  }
}

template <Element T>
void Workers<T>::take_part(WorkerCall& call, std::size_t worker, const Block& block,
                           const std::function<void(const Index<T>&)>& work) {
  Part& part = *parts_[worker];
  if (!part.index) return;
  part.call = &call;
  part.before = block.first * workers_[worker].stripe.rows;
  OneSearch::set_part(*part.index, &call.stop(), static_cast<std::int64_t>(workers_.size()));
  work(*part.index);
  if (call.reports()) call.advance(worker, (block.first + block.count) * workers_[worker].stripe.rows);
}

template <Element T>
Plan Workers<T>::explain(const Problem& problem) const {
  std::vector<Plan> plans;
  for (const auto& part : parts_)
    if (part->index) plans.push_back(part->index->explain(problem.queries, std::min(problem.k, part->index->rows())));
  return joined_plan(problem, workers_, plans);
}

template <Element T>
void Workers<T>::share_out(std::int64_t queries, const std::function<void(std::int64_t, std::int64_t)>& work) {
  const auto workers = static_cast<std::int64_t>(workers_.size());
  WorkerCall call(workers_, {}, 0);
  call.wait(call.start([&](std::size_t i) {
    const auto worker = static_cast<std::int64_t>(i);
    work(queries * worker / workers, queries * (worker + 1) / workers);
  }));
}

template <Element T>
void Workers<T>::join(const Problem& problem, const std::vector<SearchReport>& reports, SearchReport& report) const {
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].stripe.rows == 0) continue;
    plans.push_back(reports[i].plan);
    add_counts(report, reports[i]);
  }
  report.plan = joined_plan(problem, workers_, plans);
}

// The functions that the other files of Workers call too.
#define KITH_INSTANTIATE(T) template class Workers<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::api
