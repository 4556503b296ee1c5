#include "problem.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include "support/random.hpp"

namespace kith::test {
namespace {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// Quiet, with a payload and a sign of its own.
template <class T>
T some_nan(Random& random) {
  const T quiet = std::numeric_limits<T>::quiet_NaN();
  const auto payload = static_cast<Bits<T>>(random.below(1000));
  const T nan = std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(quiet) | payload));
  return random.below(2) == 0 ? nan : -nan;
}

template <class T>
T special_value(Random& random) {
  switch (random.below(4)) {
    case 0: return some_nan<T>(random);
    case 1: return std::numeric_limits<T>::infinity();
    case 2: return -std::numeric_limits<T>::infinity();
    default: return static_cast<T>(random.below(7) - 3);
  }
}

template <class T>
T make_value(Values kind, unsigned column, unsigned length, Random& random) {
  using Limits = std::numeric_limits<T>;
  const auto signed_unit = static_cast<T>(2 * random.uniform() - 1);
  switch (kind) {
    case Values::random: return signed_unit;
    case Values::ascending: return static_cast<T>(column) - 5;
    case Values::descending: return static_cast<T>(length - column);
    case Values::all_equal: return T{-1.5};
    case Values::few_distinct: return static_cast<T>(random.below(5)) / 4;
    case Values::special: return special_value<T>(random);
    case Values::all_nan: return some_nan<T>(random);
    case Values::zeros: return random.below(2) == 0 ? T{0} : -T{0};
    case Values::subnormal: return static_cast<T>(random.below(2001) - 1000) * Limits::denorm_min();
    case Values::huge: return signed_unit * Limits::max();
    case Values::late: return column < length / 2 ? T{1} : static_cast<T>(length - column) / static_cast<T>(length);
    case Values::clumped: return static_cast<T>(column / 64 * 2654435761U % 1000003U) + signed_unit / 4;
  }
  return T{};
}

unsigned make_id(Ids ids, std::int64_t row, unsigned column) {
  if (ids == Ids::reversed) return 0xFFFFFFFEU - column - static_cast<unsigned>(row);
  // An odd factor maps 31 bits onto themselves.
  return (column * 2654435761U + static_cast<unsigned>(row)) & 0x7FFFFFFFU;
}

template <class T>
std::string text(const T& value, std::int64_t id) {
  std::ostringstream out;
  out.precision(std::numeric_limits<T>::max_digits10);
  out << value << " (bits " << std::hex << std::bit_cast<Bits<T>>(value) << std::dec << "), id " << id;
  return out.str();
}

// With ids of its own a matrix says no longer which zero or NaN it was.
template <class T>
bool same_value(T expected, T got, bool columns) {
  if (columns) return std::bit_cast<Bits<T>>(expected) == std::bit_cast<Bits<T>>(got);
  if (std::isnan(expected)) return std::isnan(got);
  return std::bit_cast<Bits<T>>(expected + T{0}) == std::bit_cast<Bits<T>>(got);
}

template <class T>
std::string at_rank(std::size_t rank, const Choice<T>& expected, T value, std::int64_t id) {
  return "rank " + std::to_string(rank) + ": expected " + text(expected.value, expected.id) + "; got " +
         text(value, id);
}

}  // namespace

template <class T>
RowsProblem<T> make_problem(Values kind, std::int64_t rows, unsigned length, bool largest, Ids ids, RowGaps layout,
                            std::uint64_t seed) {
  RowsProblem<T> problem{rows, length, largest, layout, {}, {}};
  const std::int64_t count = layout.offset + (rows - 1) * problem.stride() + length;
  const T winner = largest ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
  problem.values.assign(static_cast<std::size_t>(count), winner);
  if (ids != Ids::column) problem.ids.assign(problem.values.size(), 0);
  Random random(seed);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < length; ++column) {
      const auto at = static_cast<std::size_t>(layout.offset + row * problem.stride() + column);
      problem.values[at] = make_value<T>(kind, column, length, random);
      if (ids != Ids::column) problem.ids[at] = make_id(ids, row, column);
    }
  }
  return problem;
}

template <class T>
std::vector<Choice<T>> sorted_row(const RowsProblem<T>& problem, std::int64_t row) {
  std::vector<Choice<T>> all;
  for (unsigned column = 0; column < problem.length; ++column)
    all.push_back({problem.at(row, column), problem.id(row, column)});
  std::stable_sort(all.begin(), all.end(), [&](const Choice<T>& a, const Choice<T>& b) {
    if (std::isnan(a.value) != std::isnan(b.value)) return std::isnan(b.value);
    if (!std::isnan(a.value) && a.value != b.value) return problem.largest ? a.value > b.value : a.value < b.value;
    return a.id < b.id;
  });
  return all;
}

template <class T>
std::string wrong_answer(const RowsProblem<T>& problem, const std::vector<Choice<T>>& sorted, unsigned k,
                         TopkOutput form, RowAnswer<T> answer) {
  const bool columns = problem.ids.empty();
  if (form == TopkOutput::kth_only) {
    const bool same = same_value(sorted[k - 1].value, answer.values[0], columns);
    return same ? "" : at_rank(k - 1, sorted[k - 1], answer.values[0], -1);
  }
  std::vector<std::size_t> order(k);  // the places of the answer that are compared with ranks 0, 1, …
  for (std::size_t i = 0; i < k; ++i) order[i] = i;
  std::vector<Choice<T>> expected(sorted.begin(), sorted.begin() + k);
  if (form == TopkOutput::unsorted) {
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return answer.ids[a] < answer.ids[b]; });
    std::sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  }
  for (std::size_t i = 0; i < k; ++i) {
    const T value = answer.values[order[i]];
    const std::int64_t id = answer.ids == nullptr ? expected[i].id : answer.ids[order[i]];
    if (id != expected[i].id || !same_value(expected[i].value, value, columns))
      return at_rank(i, expected[i], value, answer.ids == nullptr ? -1 : id);
  }
  return "";
}

const char* to_string(Values kind) {
  switch (kind) {
    case Values::random: return "random";
    case Values::ascending: return "ascending";
    case Values::descending: return "descending";
    case Values::all_equal: return "all equal";
    case Values::few_distinct: return "few distinct";
    case Values::special: return "special";
    case Values::all_nan: return "all NaN";
    case Values::zeros: return "zeros";
    case Values::subnormal: return "subnormal";
    case Values::huge: return "huge";
    case Values::late: return "late";
    case Values::clumped: return "clumped";
  }
  return "?";
}

const char* to_string(TopkOutput form) {
  switch (form) {
    case TopkOutput::sorted: return "sorted";
    case TopkOutput::unsorted: return "unsorted";
    case TopkOutput::values_only: return "values only";
    case TopkOutput::kth_only: return "kth only";
  }
  return "?";
}

#define KITH_INSTANTIATE(T)                                                                                     \
  template RowsProblem<T> make_problem(Values, std::int64_t, unsigned, bool, Ids, RowGaps, std::uint64_t);      \
  template std::vector<Choice<T>> sorted_row(const RowsProblem<T>&, std::int64_t);                              \
  template std::string wrong_answer(const RowsProblem<T>&, const std::vector<Choice<T>>&, unsigned, TopkOutput, \
                                    RowAnswer<T>);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::test
