// hierarchical_partition.cuh: search only the groups whose minimum is among the k smallest (Tang et al., III.E).
// Bottom-up (Algorithm 4), each level holds the minima of groups of G consecutive values of the level below; the last
// group may be shorter. The size of a level follows from the one below it, not from the row as in line 5. Top-down, the
// k smallest keys (value, position) of a level name the groups of the level below that can hold one of its k smallest.
// A group's first minimum is the key that named it, so it takes that key's slot in the queue and only the rest of the
// group is searched. Positions follow columns, so ties go to the smaller column. Tang et al. add levels until one has
// at most k values; that one names every group of the level below, so the search starts there.
// Cost: one pass over the values, then at most G·k candidates per level; workspace of about length / (G − 1) values.
// For comparison with Tang et al. only: `auto` never chooses it.
#pragma once

#include "cuda/select/papers/row_list.cuh"

namespace kith::KITH_BACKEND::select {

constexpr unsigned kNoPosition = ~0U;

// The levels of all threads. A thread's values of level l start offset[l] · pitch after its values of level 1; level 0
// is the list itself.
template <class T>
struct Hierarchy {
  static constexpr int kMaxLevels = 32;

  int top = 0;  // the highest level; 0: no levels
  unsigned group_bits = 0;
  std::int64_t offset[kMaxLevels] = {};
  std::int64_t values_per_thread = 0;
  T* values = nullptr;
  std::int64_t pitch = 0;
  unsigned* positions = nullptr;  // groups to search, by their minima: [slot][thread]

  // The levels over lists of at most `length` values with groups of 2^bits, for queues of `slots`.
  static Hierarchy plan(unsigned length, unsigned bits, unsigned slots) {
    Hierarchy levels;
    levels.group_bits = bits;
    if (bits == 0) return levels;
    while (level_size(length, bits, levels.top + 1) > slots) {
      ++levels.top;
      levels.offset[levels.top] = levels.values_per_thread;
      levels.values_per_thread += std::int64_t{level_size(length, bits, levels.top + 1)} << bits;
    }
    return levels;
  }

  __host__ __device__ static unsigned level_size(unsigned length, unsigned bits, int level) {
    const unsigned shift = bits * static_cast<unsigned>(level);
    return static_cast<unsigned>((length + (1ULL << shift) - 1) >> shift);
  }

  __device__ T* level_values(std::int64_t thread, int level) const {
    return values + offset[level] * pitch + (thread << group_bits);
  }

  // Returns a level as a list whose ids are positions.
  __device__ RowList<T> level_list(const RowList<T>& list, std::int64_t thread, int level) const {
    if (level == 0) return list;
    RowList<T> above = list;
    above.values = level_values(thread, level);
    above.step = pitch << group_bits;
    above.count = level_size(list.count, group_bits, level);
    above.first_column = 0;
    above.column_step = 1U << group_bits;
    above.ids = nullptr;
    return above;
  }
};

// Writes the minima of the groups of `below`. Reads past its end repeat the last value, which leaves minima unchanged.
template <unsigned kBits, class T>
__device__ void build_level(const RowList<T>& below, T* minima, std::int64_t step) {
  constexpr unsigned kGroup = 1U << kBits;
  constexpr unsigned kGroups = 16 / kGroup;
  for (unsigned first = 0; first < below.count; first += kGroups * kGroup) {
    T values[kGroups * kGroup];
    KITH_UNROLL
    for (unsigned i = 0; i < kGroups * kGroup; ++i) {
      const unsigned at = first + i;
      values[i] = below.value(at < below.count ? at : below.count - 1);
    }
    KITH_UNROLL
    for (unsigned group = 0; group < kGroups; ++group) {
      T least = values[group * kGroup];
      KITH_UNROLL
      for (unsigned i = 1; i < kGroup; ++i) {
        const T value = values[group * kGroup + i];
        if (ordered_bits(value, below.largest) < ordered_bits(least, below.largest)) least = value;
      }
      const unsigned at = (first >> kBits) + group;
      if (first + group * kGroup < below.count) minima[(at >> kBits) * step + (at & (kGroup - 1))] = least;
    }
  }
}

// Builds the levels of a thread's list, bottom-up.
template <class T>
__device__ void build_levels(const Hierarchy<T>& levels, const RowList<T>& list, std::int64_t thread) {
  const std::int64_t step = levels.pitch << levels.group_bits;
  for (int level = 1; level <= levels.top; ++level) {
    const RowList<T> below = levels.level_list(list, thread, level - 1);
    T* const minima = levels.level_values(thread, level);
    if (levels.group_bits == 1) build_level<1>(below, minima, step);
    if (levels.group_bits == 2) build_level<2>(below, minima, step);
    if (levels.group_bits == 3) build_level<3>(below, minima, step);
  }
}

// Goes down one level: replaces each key of the queue by that of its group's first minimum in `below`.
template <class T, class Queue>
__device__ void descend(Queue& queue, const RowList<T>& below, Interleaved<unsigned> positions) {
  for (unsigned slot = 0; slot < queue.size(); ++slot) {
    const KeyOf<T> key = queue.at(slot);
    unsigned position = kNoPosition;
    if (key < last_key<KeyOf<T>>()) {
      position = id_of(key) << below.group_bits;
      while (below.order(position) != order_of(key)) ++position;
      queue.rename(slot, make_key(order_of(key), below.id(position)));
    }
    positions[slot] = position;
  }
}

// The positions of a list that are searched: all, or the groups of `positions` without their minima.
class Candidates {
 public:
  __device__ Candidates(bool all, unsigned count, unsigned group_bits, Interleaved<unsigned> positions)
      : all_(all), count_(count), group_bits_(group_bits), positions_(positions) {}

  __device__ __forceinline__ unsigned position(unsigned i) const { return all_ ? next(i) : in_group(i); }

  // Positions of the kCount steps from `first` on; kNoPosition for steps from `steps` on.
  template <unsigned kCount>
  __device__ __forceinline__ void positions_from(unsigned first, unsigned steps, unsigned (&out)[kCount]) const {
    if (all_) {
      KITH_UNROLL
      for (unsigned i = 0; i < kCount; ++i) out[i] = next(first + i);
    } else {
      KITH_UNROLL
      for (unsigned i = 0; i < kCount; ++i) out[i] = first + i < steps ? in_group(first + i) : kNoPosition;
    }
  }

 private:
  __device__ __forceinline__ unsigned next(unsigned i) const { return i < count_ ? i : kNoPosition; }

  __device__ __forceinline__ unsigned in_group(unsigned i) const {
    const unsigned minimum = positions_[i >> group_bits_];
    const unsigned mask = (1U << group_bits_) - 1;
    const unsigned at = (minimum & ~mask) | (i & mask);
    return minimum != kNoPosition && at != minimum && at < count_ ? at : kNoPosition;
  }

  bool all_;
  unsigned count_;  // of the list
  unsigned group_bits_;
  Interleaved<unsigned> positions_;
};

}  // namespace kith::KITH_BACKEND::select
