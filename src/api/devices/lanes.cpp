#include "api/devices/lanes.hpp"

#include <algorithm>

#include "api/devices/report.hpp"
#include "api/index_state.hpp"
#include "backend/host.hpp"
#include "core/instantiate.hpp"

namespace kith::api {

template <Element T>
Lanes<T>::Lanes(const MatrixView<T>& base, const Options& options)
    : base_(base), options_(options), lanes_(make_lanes({base.rows, 1, base.cols, 1, dtype_of<T>()}, options)) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Part* const part = parts_.emplace_back(std::make_unique<Part>()).get();
    // Only where somebody listens: a device waits before it reports.
    if (options.progress)
      lanes_[i].options.progress = [part, i](const Progress& progress) {
        return part->call == nullptr || part->call->advance(i, part->before + progress.done);
      };
  }
  LaneCall call(lanes_, {}, 0);
  call.wait(call.start([&](std::size_t i) {
    const Stripe stripe = lanes_[i].stripe;
    if (stripe.rows == 0) return;
    parts_[i]->index.emplace(OneSearch::of(base.rows_from(stripe.first, stripe.rows), lanes_[i].options, nullptr));
    parts_[i]->streams = !OneSearch::is_resident(*parts_[i]->index);
  }));
}

// What an index has on a device goes where that is current.
template <Element T>
Lanes<T>::~Lanes() {
  if (!lanes_.front().thread->is_here()) {
    for (auto& part : parts_) static_cast<void>(part.release());
    return;
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    lanes_[i].thread->run([part = parts_[i].get()] { part->index.reset(); });
  for (Lane& lane : lanes_) lane.thread.reset();
}

template <Element T>
void Lanes<T>::prepare() {
  with_rows_named({}, [&] {
    LaneCall call(lanes_, {}, 0);
    call.wait(call.start(
        [&](std::size_t i) { take_part(call, i, {}, [](const Index<T>& index) { OneSearch::prepare(index); }); }));
  });
}

// A lane knows rows of its stripe, and of a block of queries.
template <Element T>
void Lanes<T>::with_rows_named(const MatrixView<T>& queries, const std::function<void()>& work) const {
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
void Lanes<T>::take_part(LaneCall& call, std::size_t lane, const Block& block,
                         const std::function<void(const Index<T>&)>& work) {
  Part& part = *parts_[lane];
  if (!part.index) return;
  part.call = &call;
  part.before = block.first * lanes_[lane].stripe.rows;
  OneSearch::set_part(*part.index, &call.stop(), static_cast<std::int64_t>(lanes_.size()));
  work(*part.index);
  if (call.reports()) call.advance(lane, (block.first + block.count) * lanes_[lane].stripe.rows);
}

template <Element T>
Plan Lanes<T>::explain(const Problem& problem) const {
  std::vector<Plan> plans;
  for (const auto& part : parts_)
    if (part->index) plans.push_back(part->index->explain(problem.queries, std::min(problem.k, part->index->rows())));
  return joined_plan(problem, lanes_, plans);
}

template <Element T>
void Lanes<T>::share_out(std::int64_t queries, const std::function<void(std::int64_t, std::int64_t)>& work) {
  const auto lanes = static_cast<std::int64_t>(lanes_.size());
  LaneCall call(lanes_, {}, 0);
  call.wait(call.start([&](std::size_t i) {
    const auto lane = static_cast<std::int64_t>(i);
    work(queries * lane / lanes, queries * (lane + 1) / lanes);
  }));
}

template <Element T>
void Lanes<T>::join(const Problem& problem, const std::vector<SearchReport>& reports, SearchReport& report) const {
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].stripe.rows == 0) continue;
    plans.push_back(reports[i].plan);
    add_counts(report, reports[i]);
  }
  report.plan = joined_plan(problem, lanes_, plans);
}

// The functions that the other files of Lanes call too.
#define KITH_INSTANTIATE(T) template class Lanes<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::api
