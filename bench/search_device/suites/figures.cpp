// Hanák, chapter 5, with our kernels. The axes are the thesis's; where a figure fixes n and q, so do we. Searches are
// whole ones: scores, selection, exact keys and the proof, where the thesis adds up the times of two kernels.
#include <algorithm>

#include "search_device/suite.hpp"

namespace kith::search_bench {
namespace {

Contender two_stage(SelectMethod select) {
  return {std::string("register-tiled + ") + to_string(select), Method::two_stage, DistanceStage::register_tiled,
          select};
}

void add(Suite& suite, const std::string& figure, const Problem& shape, const std::vector<Contender>& contenders) {
  Problem problem = shape;
  problem.data = Data::uniform;
  suite.cases.push_back({problem, contenders, figure});
}

// Throughput of distances over d, for several q; n makes the work the same, as far as memory goes.
void add_distances(Suite& suite) {
  constexpr std::int64_t kWork = std::int64_t{1} << 35;
  constexpr std::int64_t kValues = std::int64_t{1} << 31;  // of a matrix, at most
  for (const std::int64_t queries : {1, 16, 128, 1024, 8192}) {
    for (std::int64_t dims = 2; dims <= 512; dims *= 2) {
      const std::int64_t points = std::min({kWork / queries / dims, kValues / queries, kValues / dims});
      suite.stage_cases.push_back({{queries, points, dims}, "5.1"});
    }
  }
}

// Fused against two kernels, over d and k.
void add_fused(Suite& suite) {
  for (const std::int64_t dims : {4, 16, 32, 64})
    for (const std::int64_t k : {1, 8, 32, 64, 128, 512, 2048})
      add(suite, "5.8", {8192, 524288, dims, k},
          {kFused, two_stage(SelectMethod::bits), two_stage(SelectMethod::automatic), kAuto});
}

// The same over q and n.
void add_fused_queries(Suite& suite) {
  constexpr std::int64_t kPairs = std::int64_t{1} << 33;
  for (const std::int64_t points : {32768, 131072, 524288, 1048576})
    for (std::int64_t queries = 128; queries <= 32768 && queries * points <= kPairs; queries *= 4)
      add(suite, "5.9", {queries, points, 16, 32},
          {kFused, two_stage(SelectMethod::bits), two_stage(SelectMethod::automatic), kAuto});
}

// Whole searches, over d and k, by the selection that ends them.
void add_final(Suite& suite) {
  const std::vector<Contender> contenders = {kFused,
                                             two_stage(SelectMethod::bits),
                                             two_stage(SelectMethod::bits_global),
                                             two_stage(SelectMethod::sample_select),
                                             two_stage(SelectMethod::automatic),
                                             kAuto};
  for (const std::int64_t dims : {4, 16, 64, 128})
    for (const std::int64_t k : {32, 128, 512, 2048, 4096, 16384})
      add(suite, "5.12", {8192, 131072, dims, k}, contenders);
}

}  // namespace

Suite figures_suite() {
  Suite suite{"figures", "figures 5.1, 5.8, 5.9 and 5.12 of Hanák", {}, false, {}, {}};
  suite.limits = {.rounds = 5, .budget_ms = 40, .slow_ms = 400, .skip_ms = 1000, .check_rows = 8};
  add_distances(suite);
  add_fused(suite);
  add_fused_queries(suite);
  add_final(suite);
  return suite;
}

}  // namespace kith::search_bench
