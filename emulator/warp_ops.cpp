// warp_ops.cpp: warp operations. The last lane of a mask to arrive computes the results and makes all lanes ready.
#include <algorithm>
#include <bit>

#include "block.hpp"

namespace emulator {

namespace {

using Word = std::uint64_t;

// Calls a function with each arrived lane of the mask.
template <class Arrivals, class Visit>
void for_each(Arrivals& arrivals, unsigned mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(arrivals[std::countr_zero(mask)]);
}

bool all_arrived(const Warp& warp, const Arrival& mine) {
  if ((mine.mask & ~warp.at_warp_op) != 0) return false;
  bool all = true;
  for_each(warp.arrivals, mine.mask, [&](const Arrival& other) { all = all && other.joins(mine); });
  return all;
}

template <class Combine>
Word reduce(const Warp& warp, const Arrival& mine, Combine combine) {
  Word total = mine.value;
  for_each(warp.arrivals, mine.mask, [&](const Arrival& other) {
    if (&other != &mine) total = combine(total, other.value);
  });
  return total;
}

bool less_signed(Word a, Word b) {
  return static_cast<int>(a) < static_cast<int>(b);
}

// The lanes of the mask that passed the value.
unsigned matches(const Warp& warp, unsigned mask, Word value) {
  unsigned found = 0;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1)
    if (warp.arrivals[std::countr_zero(rest)].value == value) found |= rest & -rest;
  return found;
}

// The result of an operation that is the same for all lanes of the mask.
Word common_result(const Warp& warp, const Arrival& mine) {
  const unsigned mask = mine.mask;
  switch (mine.op) {
    case Op::ballot: return mask & ~matches(warp, mask, 0);
    case Op::any: return matches(warp, mask, 0) != mask ? 1 : 0;
    case Op::all: return matches(warp, mask, 0) == 0 ? 1 : 0;
    case Op::match_all: return matches(warp, mask, mine.value) == mask ? mask : 0;
    case Op::reduce_add: return reduce(warp, mine, [](Word a, Word b) { return a + b; });
    case Op::reduce_min: return reduce(warp, mine, [](Word a, Word b) { return std::min(a, b); });
    case Op::reduce_max: return reduce(warp, mine, [](Word a, Word b) { return std::max(a, b); });
    case Op::reduce_min_signed: return reduce(warp, mine, [](Word a, Word b) { return less_signed(a, b) ? a : b; });
    case Op::reduce_max_signed: return reduce(warp, mine, [](Word a, Word b) { return less_signed(a, b) ? b : a; });
    case Op::reduce_and: return reduce(warp, mine, [](Word a, Word b) { return a & b; });
    case Op::reduce_or: return reduce(warp, mine, [](Word a, Word b) { return a | b; });
    case Op::reduce_xor: return reduce(warp, mine, [](Word a, Word b) { return a ^ b; });
    default: return 0;
  }
}

void hand_out_results(Warp& warp, const Arrival& mine) {
  const unsigned mask = mine.mask;
  if (mine.op >= Op::shuffle && mine.op <= Op::shuffle_xor) {
    // Reading from a lane outside the mask gives an undefined value.
    for_each(warp.arrivals, mask, [&](Arrival& arrival) {
      arrival.result = (mask >> arrival.source & 1U) != 0 ? warp.arrivals[arrival.source].value : ~Word{0};
    });
  } else if (mine.op == Op::match_any) {
    for_each(warp.arrivals, mask, [&](Arrival& arrival) { arrival.result = matches(warp, mask, arrival.value); });
  } else {
    const Word result = common_result(warp, mine);
    for_each(warp.arrivals, mask, [&](Arrival& arrival) { arrival.result = result; });
  }
}

void check_chip(Op op) {
  if (op >= Op::reduce_add && op <= Op::reduce_xor) need("redux.sync", 80);
  if (op == Op::match_any || op == Op::match_all) need("match.sync", 70);
}

}  // namespace

std::uint64_t warp_op(Op op, unsigned mask, std::uint64_t value, unsigned source, unsigned detail, Where where) {
  check_chip(op);
  Warp& warp = *block.warp;
  const unsigned lane = here.lane;
  Arrival& mine = warp.arrivals[lane];
  mine = {op, detail, mask, source, value, 0, where};
  if ((mask >> lane & 1U) == 0) fail("lane " + std::to_string(lane) + " is not in its own mask, " + describe(mine));
  warp.at_warp_op |= 1U << lane;
  if ((mask & (warp.left | ~warp.lanes)) != 0) {
    note_failure(describe_stuck(warp, lane));
    throw Failed();
  }
  if (all_arrived(warp, mine)) {
    hand_out_results(warp, mine);
    warp.at_warp_op &= ~mask;
    warp.ready |= mask;
  }
  block.yields = 0;
  switch_away();
  return mine.result;
}

}  // namespace emulator
