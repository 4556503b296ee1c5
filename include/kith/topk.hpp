// The k smallest or largest values of each row of a matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/export.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"

namespace kith {

enum class TopkOutput {
  sorted,       // values and ids by (value, id), the best first; NaN last
  unsorted,     // the same set in any order
  values_only,  // sorted values, no ids
  kth_only,     // the k-th value of each row alone
};

struct TopkOptions {
  bool largest = false;
  TopkOutput output = TopkOutput::sorted;
  Backend backend = Backend::automatic;
  std::string method = "auto";     // a name of select_names()
  int threads = 0;                 // as in Options
  std::int64_t memory_budget = 0;  // bytes of workspace; 0 = what k needs on all threads
  ProgressCallback progress;
};

template <class T>
struct Topk {
  std::int64_t rows = 0;
  std::int64_t k = 0;             // values per row: 1 for kth_only
  std::vector<T> values;          // rows × k, row-major
  std::vector<std::int64_t> ids;  // rows × k; empty for values_only and kth_only
};

// −0 equals +0; NaN comes last for smallest and for largest; among equal values the smaller id wins.
template <Element T>
KITH_API Topk<T> topk(MatrixView<T> matrix, std::int64_t k, const TopkOptions& options = {});

}  // namespace kith
