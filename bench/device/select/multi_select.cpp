// multi_select.cpp: the settings of Komarov et al., Fast k-NNG Construction with GPU-Based Quick Multi-Select, as far
// as they are about selection, with today's methods in the place of the ones it was compared with.
#include "device/select/select_case.hpp"

namespace kith::bench::device::select {
namespace {

std::vector<Variant> quick_multi_select() {
  SelectTuning warp;
  warp.group = SelectTuning::Group::warp;
  SelectTuning block;
  block.group = SelectTuning::Group::block;
  return {{"quick multi-select, warp", "quick-multi-select", warp},
          {"quick multi-select, block", "quick-multi-select", block}};
}

std::vector<Variant> everyone() {
  std::vector<Variant> variants = quick_multi_select();
  variants.push_back({"bits", "bits"});
  variants.push_back({"radix-select", "radix-select"});
  variants.push_back({"auto", "auto"});
  return variants;
}

SelectCase case_for(std::string figure, std::int64_t rows, unsigned length, const std::vector<unsigned>& ks,
                    const std::vector<Variant>& variants) {
  SelectCase made;
  made.figure = std::move(figure);
  made.shape = {rows, length};
  made.rounds = 3;
  for (const unsigned k : ks)
    for (const Variant& variant : variants) made.entries.push_back({variant, k});
  return made;
}

// Mean and deviation over data sets.
SelectCase table_2(unsigned length) {
  SelectCase made = case_for("Table 2", 1 << 13, length, {64, 128, 256, 512}, quick_multi_select());
  made.rounds = 50;
  made.budget_ms = 400;
  made.fresh_data = true;
  return made;
}

// Q · n = 2^product, from log2(n / Q) = first to last.
void add_constant_product(std::vector<SelectCase>& cases, const char* figure, int product, int first, int last,
                          const std::vector<unsigned>& ks) {
  for (int ratio = first; ratio <= last; ratio += 2) {
    const int log_length = (product + ratio) / 2;
    cases.push_back(case_for(figure, std::int64_t{1} << (product - log_length), 1U << log_length, ks, everyone()));
  }
}

}  // namespace

Suite multi_select_suite(const Settings& settings) {
  std::vector<SelectCase> cases;
  for (unsigned length = 1U << 13; length <= 1U << 16; length *= 2)
    cases.push_back(case_for("Figure 5", 1 << 13, length, {64, 128, 256, 512}, everyone()));
  for (unsigned length = 1U << 13; length <= 1U << 16; length *= 2) cases.push_back(table_2(length));
  for (std::int64_t rows = 1 << 13; rows <= 1 << 16; rows *= 2)
    cases.push_back(case_for("Figure 6", rows, 1U << 16, {64, 512}, everyone()));
  add_constant_product(cases, "Figure 7", 27, -3, 19, {2, 32, 128, 512});
  add_constant_product(cases, "Figure 8", 28, 2, 22, {2, 32, 256, 1024});
  for (std::int64_t rows = 8; rows <= 256; rows *= 2)
    cases.push_back(case_for("Figure 9", rows, 1U << 20, {32, 256, 1024}, everyone()));
  for (unsigned length = 1U << 16; length <= 1U << 20; length *= 2)
    cases.push_back(case_for("Figure 10", 256, length, {2, 64, 1024}, everyone()));
  return make_suite("multi-select", "Komarov et al.: quick multi-select",
                    "the distance calculation, and the programs of others it was compared with", cases, {}, settings);
}

}  // namespace kith::bench::device::select
