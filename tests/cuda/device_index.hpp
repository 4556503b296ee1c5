// device_index.hpp: an index of the backend as the library makes it, whose searches follow plans of the tests, and the
// plan of brute force.
#pragma once

#include <memory>

#include "cuda/functions.hpp"
#include "device_test.hpp"
#include "plan/device_plans.hpp"

namespace kith::test {

inline const ProgressCallback kNoProgress;

struct IndexForm {
  bool check_finite = true;
  bool resident = true;
  bool narrow = false;  // points stay as they are stored
  bool may_widen = true;
};

template <Element T>
class DeviceIndex {
 public:
  DeviceIndex(const MatrixView<T>& base, const Metric& metric, cudaStream_t stream, const IndexForm& form = {})
      : base_(base) {
    options_.metric = metric;
    options_.check_finite = form.check_finite;
    const plan::IndexFacts facts{.resident = form.resident, .narrow = form.narrow, .may_widen = form.may_widen};
    index_ = device::make_index<T>({base, options_, facts, stream});
    index_->prepare(nullptr);
  }
  DeviceIndex(const DeviceIndex&) = delete;
  DeviceIndex& operator=(const DeviceIndex&) = delete;

  // On the stream where points lie on the device, else on one of its own.
  std::unique_ptr<backend::BackendSearch<T>> begin(const MatrixView<T>& queries, cudaStream_t stream,
                                                   const ProgressCallback& progress = kNoProgress,
                                                   bool exclude_self = false) const {
    const bool on_stream = base_.memory == Memory::device || queries.memory == Memory::device;
    return index_->begin({queries, exclude_self, progress, on_stream, stream});
  }

 private:
  MatrixView<T> base_;
  Options options_;
  std::unique_ptr<backend::BackendIndex<T>> index_;
};

// All queries and all points in one tile.
inline Plan brute_plan(const Problem& problem, const Metric& metric, const Plan::Pass& first) {
  Plan plan;
  plan.problem = problem;
  plan.metric = metric;
  plan.method = first.fused ? Method::fused : Method::two_stage;
  plan.distance = first.distance;
  plan.expanded = first.expanded;
  plan.passes = plan::fallback_chain(plan, device::device_policy());
  plan.candidates = std::min(problem.base_rows, problem.k + 6);
  plan.query_block = problem.queries;
  plan.base_tile = problem.base_rows;
  return plan;
}

}  // namespace kith::test
