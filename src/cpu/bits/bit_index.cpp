// bit_index.cpp: packed bits as the CPU backend has them: a view, of which searches pack tiles.
#include "backend/bits.hpp"
#include "backend/registry.hpp"
#include "cpu/bits/bit_search.hpp"
#include "cpu/simd/bit_counts.hpp"
#include "plan/bits.hpp"

namespace kith::cpu {
namespace {

class CpuBitIndex final : public backend::BackendBitIndex {
 public:
  explicit CpuBitIndex(const backend::BitIndexRequest& request)
      : base_(request.base), metric_(request.metric), options_(request.options), machine_(request.machine) {}

  BitPlan plan(std::int64_t queries, std::int64_t k, bool self) const override {
    // How many threads a CPU has may differ from call to call.
    const plan::Machine now = backend::for_this_thread(machine_);
    BitPlan made = plan::plan_cpu_bits({base_.rows, queries, base_.bits, k, self, metric_}, options_,
                                       std::get<core::CpuFacts>(now), bit_cost());
    made.kernel = bit_target();
    return made;
  }

  std::int64_t search(const BitPlan& plan, const backend::BitQueries& queries,
                      const NeighborsView<float>& out) const override {
    return bit_search(base_, queries, plan, out);
  }

  std::int64_t search_radius(const BitPlan& plan, const backend::BitQueries& queries,
                             const core::RadiusQuery<float>& radii, const RadiusLists<float>& out) const override {
    return bit_radius_search(base_, queries, plan, radii, out);
  }

 private:
  BitsView base_;
  BitMetric metric_;
  const Options& options_;
  const plan::Machine& machine_;
};

}  // namespace

std::unique_ptr<backend::BackendBitIndex> make_bit_index(const backend::BitIndexRequest& request) {
  return std::make_unique<CpuBitIndex>(request);
}

}  // namespace kith::cpu
