// tree.cpp: points in few dimensions among themselves, by method tree and by the others, the index included. Bounds are
// for an H200.
#include "device/search/problem.hpp"

namespace kith::bench::device::search {
namespace {

struct TreeRow {
  const char* name;
  Problem problem;
};

constexpr std::int64_t kMillion = 1000000;

Problem of_itself(std::int64_t rows, std::int64_t dims, std::int64_t k, double bar_ms, Data data = Data::uniform) {
  return {rows, rows, dims, k, kL2, bar_ms, true, data};
}

std::vector<TreeRow> tree_rows() {
  return {{"3-D, k 10", of_itself(kMillion, 3, 10, 8)},
          {"3-D, k 30", of_itself(kMillion, 3, 30, 11)},
          {"3-D, k 100", of_itself(kMillion, 3, 100, 40)},
          {"3-D, 10M, k 10", of_itself(10 * kMillion, 3, 10, 83.3)},
          {"3-D, 10M, k 30", of_itself(10 * kMillion, 3, 30, 111)},
          {"3-D, 10M, k 100", of_itself(10 * kMillion, 3, 100, 333)},
          {"2-D, k 10", of_itself(kMillion, 2, 10, 6)},
          {"8-D, k 10", of_itself(300000, 8, 10, 30)},
          {"3-D, 100k, k 10", of_itself(100000, 3, 10, 1.2)},
          {"clusters, k 10", of_itself(kMillion, 3, 10, 16, Data::tight_shuffled)},
          {"copies, k 10", of_itself(kMillion, 3, 10, 24, Data::copies)}};
}

}  // namespace

Suite tree_suite(const Settings& settings) {
  Suite suite{"search/tree", "few dimensions: trees, landmarks and brute force", "", {}, search_ceilings, {}};
  const std::vector<Variant> variants = {forced("tree", Method::tree), forced("triangle", Method::triangle),
                                         forced("fused", Method::fused)};
  for (const TreeRow& row : tree_rows())
    suite.cases.push_back(
        search_case(row.name, row.problem, variants, {.fresh_index = true, .both_clocks = true}, settings));
  return suite;
}

}  // namespace kith::bench::device::search
