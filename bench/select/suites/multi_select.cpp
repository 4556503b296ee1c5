// multi_select.cpp: the settings of Komarov et al., Fast k-NNG Construction with GPU-Based Quick Multi-Select, as far
// as they are about selection, with today's methods in the place of the ones it was compared with.
#include "suite.hpp"

namespace kith::select_bench {
namespace {

std::vector<Contender> quick_multi_select() {
  SelectTuning warp;
  warp.group = SelectTuning::Group::warp;
  SelectTuning block;
  block.group = SelectTuning::Group::block;
  return {{"quick multi-select, warp", "quick-multi-select", warp},
          {"quick multi-select, block", "quick-multi-select", block}};
}

std::vector<Contender> everyone() {
  std::vector<Contender> contenders = quick_multi_select();
  contenders.push_back({"bits", "bits"});
  contenders.push_back({"radix-select", "radix-select"});
  contenders.push_back({"auto", "auto"});
  return contenders;
}

Heat heat_for(std::string figure, std::int64_t rows, unsigned length, const std::vector<unsigned>& ks,
              const std::vector<Contender>& contenders) {
  Heat heat;
  heat.figure = std::move(figure);
  heat.shape = {rows, length};
  heat.rounds = 3;
  for (const unsigned k : ks)
    for (const Contender& contender : contenders) heat.entries.push_back({contender, k});
  return heat;
}

// Mean and deviation over data sets.
Heat table_2(unsigned length) {
  Heat heat = heat_for("Table 2", 1 << 13, length, {64, 128, 256, 512}, quick_multi_select());
  heat.rounds = 50;
  heat.budget_ms = 400;
  heat.fresh_data = true;
  return heat;
}

// Q · n = 2^product, from log2(n / Q) = first to last.
void add_constant_product(Suite& suite, const char* figure, int product, int first, int last,
                          const std::vector<unsigned>& ks) {
  for (int ratio = first; ratio <= last; ratio += 2) {
    const int log_length = (product + ratio) / 2;
    suite.heats.push_back(
        heat_for(figure, std::int64_t{1} << (product - log_length), 1U << log_length, ks, everyone()));
  }
}

}  // namespace

Suite multi_select_suite() {
  Suite suite{"multi-select",
              "Komarov et al.: quick multi-select",
              "the distance calculation, and the programs of others it was compared with",
              {}};
  for (unsigned length = 1U << 13; length <= 1U << 16; length *= 2)
    suite.heats.push_back(heat_for("Figure 5", 1 << 13, length, {64, 128, 256, 512}, everyone()));
  for (unsigned length = 1U << 13; length <= 1U << 16; length *= 2) suite.heats.push_back(table_2(length));
  for (std::int64_t rows = 1 << 13; rows <= 1 << 16; rows *= 2)
    suite.heats.push_back(heat_for("Figure 6", rows, 1U << 16, {64, 512}, everyone()));
  add_constant_product(suite, "Figure 7", 27, -3, 19, {2, 32, 128, 512});
  add_constant_product(suite, "Figure 8", 28, 2, 22, {2, 32, 256, 1024});
  for (std::int64_t rows = 8; rows <= 256; rows *= 2)
    suite.heats.push_back(heat_for("Figure 9", rows, 1U << 20, {32, 256, 1024}, everyone()));
  for (unsigned length = 1U << 16; length <= 1U << 20; length *= 2)
    suite.heats.push_back(heat_for("Figure 10", 256, length, {2, 64, 1024}, everyone()));
  return suite;
}

}  // namespace kith::select_bench
