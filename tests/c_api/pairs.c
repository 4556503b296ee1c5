#include "pairs.h"

#include <stdio.h>

#include "check.h"

enum { MOST_ROWS = 256 };

typedef struct pair {
  int64_t id;
  double distance;
} pair;

/* All pairs of a query, sorted by distance and id; how many there are. */
static int64_t sorted_pairs(const pairs* all, int64_t query, pair* sorted) {
  int64_t count = 0;
  for (int64_t id = 0; id < all->rows; ++id) {
    if (all->is_self && id == query) continue;
    const double distance = all->distance(all->context, query, id);
    int64_t at = count++;
    for (; at > 0 && distance < sorted[at - 1].distance; --at) sorted[at] = sorted[at - 1];
    sorted[at] = (pair){.id = id, .distance = distance};
  }
  return count;
}

static int is_pair(int64_t id, double distance, const pair* wanted, int64_t query) {
  if (id == wanted->id && distance == wanted->distance) return 1;
  fprintf(stderr, "query %d: %d at %.17g, not %d at %.17g\n", (int)query, (int)id, distance, (int)wanted->id,
          wanted->distance);
  return 0;
}

int holds_nearest_pairs(const pairs* all, int64_t k, const kith_neighbors* out) {
  pair sorted[MOST_ROWS];
  for (int64_t query = 0; query < all->queries; ++query) {
    if (sorted_pairs(all, query, sorted) < k) return 0;
    for (int64_t i = 0; i < k; ++i) {
      const int64_t at = query * k + i;
      if (!is_pair(out->ids[at], distance_at(out->distances, out->dtype, at), &sorted[i], query)) return 0;
    }
  }
  return 1;
}

int holds_pairs_within(const pairs* all, const double* radii, int64_t radius_count, const kith_list_arrays* lists) {
  pair sorted[MOST_ROWS];
  if (lists->rows != all->queries || lists->offsets[0] != 0) return 0;
  for (int64_t query = 0; query < all->queries; ++query) {
    const int64_t count = sorted_pairs(all, query, sorted);
    const double given = radii[radius_count == 1 ? 0 : query];
    const double radius = lists->dtype == KITH_FLOAT64 ? given : (double)(float)given;
    int64_t within = 0;
    while (within < count && sorted[within].distance <= radius) ++within;
    if (lists->offsets[query + 1] - lists->offsets[query] != within) return 0;
    for (int64_t i = 0; lists->ids != NULL && i < within; ++i) {
      const int64_t at = lists->offsets[query] + i;
      if (!is_pair(lists->ids[at], distance_at(lists->distances, lists->dtype, at), &sorted[i], query)) return 0;
    }
  }
  return lists->count == lists->offsets[lists->rows];
}

int are_pairs_within(const pairs* all, const double* radii, int64_t radius_count, kith_lists* lists) {
  kith_list_arrays arrays;
  CHECK_OK(kith_lists_get(lists, &arrays));
  const int holds = holds_pairs_within(all, radii, radius_count, &arrays);
  CHECK_OK(kith_lists_destroy(lists));
  return holds;
}
