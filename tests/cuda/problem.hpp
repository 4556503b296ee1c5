// problem.hpp: rows to select from, and what the answer must be. Host code only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/topk.hpp"

namespace kith::test {

enum class Values {
  random,
  ascending,
  descending,
  all_equal,
  few_distinct,
  special,  // NaN, ±Inf and numbers
  all_nan,
  zeros,  // −0 and +0
  subnormal,
  huge,
  late,     // the first half alike, the winners at the end
  clumped,  // many neighbors alike
};
constexpr std::size_t kValuesCount = 12;

enum class Ids { column, reversed, scattered };
constexpr std::size_t kIdsCount = 3;

struct RowGaps {
  unsigned offset = 0;   // values before the first row
  unsigned padding = 0;  // values between rows
};

// A matrix as it lies in memory. What belongs to no row would win every selection.
template <class T>
struct RowsProblem {
  std::int64_t rows = 0;
  unsigned length = 0;
  bool largest = false;
  RowGaps layout;
  std::vector<T> values;
  std::vector<unsigned> ids;  // empty: columns

  std::int64_t stride() const { return static_cast<std::int64_t>(length) + layout.padding; }
  T at(std::int64_t row, unsigned column) const {
    return values[static_cast<std::size_t>(layout.offset + row * stride() + column)];
  }
  unsigned id(std::int64_t row, unsigned column) const {
    return ids.empty() ? column : ids[static_cast<std::size_t>(layout.offset + row * stride() + column)];
  }
};

template <class T>
RowsProblem<T> make_problem(Values kind, std::int64_t rows, unsigned length, bool largest, Ids ids, RowGaps layout,
                            std::uint64_t seed);

// A value as the matrix has it, and its id.
template <class T>
struct Choice {
  T value;
  unsigned id;
};

// All of a row in the order of the answer: by value, −0 = +0, NaN last, then by id.
template <class T>
std::vector<Choice<T>> sorted_row(const RowsProblem<T>& problem, std::int64_t row);

// What a method left for one row; ids is null where the form has none.
template <class T>
struct RowAnswer {
  const T* values;
  const std::int64_t* ids;
};

// What is wrong with an answer; empty if nothing is. `sorted` is sorted_row() or the first k of it.
template <class T>
std::string wrong_answer(const RowsProblem<T>& problem, const std::vector<Choice<T>>& sorted, unsigned k,
                         TopkOutput form, RowAnswer<T> answer);

constexpr TopkOutput kOutputs[] = {TopkOutput::sorted, TopkOutput::unsorted, TopkOutput::values_only,
                                   TopkOutput::kth_only};

const char* to_string(Values kind);
const char* to_string(TopkOutput form);

}  // namespace kith::test
