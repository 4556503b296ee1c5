// figures.cpp: Hanák, chapter 5, with our kernels. The axes are the thesis's; where a figure fixes n and q, so do we.
// Searches are whole ones: scores, selection, exact keys and the proof, where the thesis adds up the times of two
// kernels.
#include <algorithm>

#include "device/search/problem.hpp"

namespace kith::bench::device::search {
namespace {

Variant two_stage(SelectMethod select) {
  return forced(std::string("register-tiled + ") + to_string(select), Method::two_stage, DistanceStage::register_tiled,
                select);
}

void add(Suite& suite, const std::string& figure, Problem problem, const std::vector<Variant>& variants,
         const Settings& settings) {
  problem.data = Data::uniform;
  suite.cases.push_back(search_case(figure, problem, variants, {}, settings));
}

// Throughput of distances over d, for several q; n makes the work the same, as far as memory goes.
void add_distances(Suite& suite, const Settings& settings) {
  constexpr std::int64_t kWork = std::int64_t{1} << 35;
  constexpr std::int64_t kValues = std::int64_t{1} << 31;  // of a matrix, at most
  for (const std::int64_t queries : {1, 16, 128, 1024, 8192}) {
    for (std::int64_t dims = 2; dims <= 512; dims *= 2) {
      const std::int64_t points = std::min({kWork / queries / dims, kValues / queries, kValues / dims});
      suite.cases.push_back(stage_case("5.1", queries, points, dims, settings));
    }
  }
}

// Fused against two kernels, over d and k.
void add_fused(Suite& suite, const Settings& settings) {
  for (const std::int64_t dims : {4, 16, 32, 64})
    for (const std::int64_t k : {1, 8, 32, 64, 128, 512, 2048})
      add(suite, "5.8", {8192, 524288, dims, k},
          {forced("fused", Method::fused), two_stage(SelectMethod::bits), two_stage(SelectMethod::automatic), {}},
          settings);
}

// The same over q and n.
void add_fused_queries(Suite& suite, const Settings& settings) {
  constexpr std::int64_t kPairs = std::int64_t{1} << 33;
  for (const std::int64_t points : {32768, 131072, 524288, 1048576})
    for (std::int64_t queries = 128; queries <= 32768 && queries * points <= kPairs; queries *= 4)
      add(suite, "5.9", {queries, points, 16, 32},
          {forced("fused", Method::fused), two_stage(SelectMethod::bits), two_stage(SelectMethod::automatic), {}},
          settings);
}

// Whole searches, over d and k, by the selection that ends them.
void add_final(Suite& suite, const Settings& settings) {
  const std::vector<Variant> variants = {forced("fused", Method::fused),       two_stage(SelectMethod::bits),
                                         two_stage(SelectMethod::bits_global), two_stage(SelectMethod::sample_select),
                                         two_stage(SelectMethod::automatic),   {}};
  for (const std::int64_t dims : {4, 16, 64, 128})
    for (const std::int64_t k : {32, 128, 512, 2048, 4096, 16384})
      add(suite, "5.12", {8192, 131072, dims, k}, variants, settings);
}

}  // namespace

Suite figures_suite(const Settings& settings) {
  Suite suite{"search/figures", "figures 5.1, 5.8, 5.9 and 5.12 of Hanák", "", {}, search_ceilings, {}};
  suite.limits = {.rounds = 5, .budget_ms = 40, .slow_ms = 400, .skip_ms = 1000, .samples = 8};
  add_distances(suite, settings);
  add_fused(suite, settings);
  add_fused_queries(suite, settings);
  add_final(suite, settings);
  return suite;
}

}  // namespace kith::bench::device::search
