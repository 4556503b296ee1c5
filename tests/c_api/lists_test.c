/* lists_test.c: answers of radius searches, and graphs. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "tests.h"

/* A list of the loop over all points, `self` left out; how many there are. */
static int64_t plain_within(const points* base, const points* queries, int64_t query, double radius, int64_t self,
                            int64_t* ids, double* distances) {
  const int64_t rows = base->matrix.rows;
  int64_t within = 0;
  plain_search(base, queries, query, self < 0 ? rows : rows - 1, "euclidean", self, ids, distances);
  while (within < (self < 0 ? rows : rows - 1) && distances[within] <= radius) ++within;
  return within;
}

static int64_t list_of(const kith_list_arrays* lists, int64_t row, const int64_t** ids) {
  *ids = lists->ids + lists->offsets[row];
  return lists->offsets[row + 1] - lists->offsets[row];
}

static int holds_plain_lists(const points* base, const points* queries, const double* radii, int64_t radius_count,
                             int is_self, const kith_list_arrays* lists) {
  int64_t ids[64];
  double distances[64];
  if (lists->rows != queries->matrix.rows || lists->offsets[0] != 0) return 0;
  for (int64_t query = 0; query < lists->rows; ++query) {
    const double radius = radii[radius_count == 1 ? 0 : query];
    const int64_t within = plain_within(base, queries, query, radius, is_self ? query : -1, ids, distances);
    if (lists->offsets[query + 1] - lists->offsets[query] != within) return 0;
    for (int64_t i = 0; lists->ids != NULL && i < within; ++i) {
      const int64_t at = lists->offsets[query] + i;
      if (lists->ids[at] != ids[i] || distance_at(lists->distances, lists->dtype, at) != distances[i]) return 0;
    }
  }
  return lists->count == lists->offsets[lists->rows];
}

void radius_lists_are_right(void) {
  for (int i = 0; i < 6; ++i) {
    const kith_dtype dtype = all_dtypes[i];
    points base = make_points(60, 2, dtype, 71);
    points queries = make_points(6, 2, dtype, 72);
    kith_index* index = NULL;
    kith_lists* lists = NULL;
    kith_list_arrays arrays;
    const double radii[6] = {0, 1, 2, 3.5, 5, 100};
    CHECK_OK(kith_index_create(&base.matrix, NULL, NULL, &index));
    CHECK_OK(kith_index_search_radius(index, &queries.matrix, radii, 6, 0, NULL, &lists));
    CHECK_OK(kith_lists_get(lists, &arrays));
    CHECK(arrays.dtype == kith_distance_dtype(dtype) && arrays.count >= 60 && arrays.ids != NULL);
    CHECK(holds_plain_lists(&base, &queries, radii, 6, 0, &arrays));
    CHECK_OK(kith_lists_destroy(lists));

    CHECK_OK(kith_index_search_radius(index, &queries.matrix, radii + 3, 1, 1, NULL, &lists));
    CHECK_OK(kith_lists_get(lists, &arrays));
    CHECK(arrays.ids == NULL && arrays.distances == NULL);
    CHECK(holds_plain_lists(&base, &queries, radii + 3, 1, 0, &arrays));
    CHECK_OK(kith_lists_destroy(lists));

    CHECK_OK(kith_index_search_radius_self(index, radii + 2, 1, 0, NULL, &lists));
    /* Lists need neither the index nor the queries. */
    CHECK_OK(kith_index_destroy(index));
    CHECK_OK(kith_lists_get(lists, &arrays));
    CHECK(holds_plain_lists(&base, &base, radii + 2, 1, 1, &arrays));
    CHECK_OK(kith_lists_destroy(lists));
    free_points(&base);
    free_points(&queries);
  }
}

void graphs_are_right(void) {
  points base = make_points(60, 3, KITH_FLOAT64, 81);
  kith_index* index = NULL;
  CHECK_OK(kith_index_create(&base.matrix, NULL, NULL, &index));
  static const char* const kinds[] = {NULL, "none", "union", "mutual"};
  char is_neighbor[60][60];
  memset(is_neighbor, 0, sizeof is_neighbor);
  for (int64_t row = 0; row < 60; ++row) {
    int64_t ids[4];
    double distances[4];
    plain_search(&base, &base, row, 4, "euclidean", row, ids, distances);
    for (int i = 0; i < 4; ++i) is_neighbor[row][ids[i]] = 1;
  }
  for (int kind = 0; kind < 4; ++kind) {
    kith_lists* lists = NULL;
    kith_list_arrays arrays;
    CHECK_OK(kith_index_graph(index, 4, kinds[kind], NULL, &lists));
    CHECK_OK(kith_lists_get(lists, &arrays));
    CHECK(arrays.rows == 60 && arrays.dtype == KITH_FLOAT64);
    int64_t edges = 0;
    int64_t wrong = 0;
    for (int64_t row = 0; row < 60; ++row)
      for (int64_t other = 0; other < 60; ++other) {
        const int there = is_neighbor[row][other];
        const int back = is_neighbor[other][row];
        const int wanted = kind == 2 ? there || back : kind == 3 ? there && back : there;
        const int64_t* ids = NULL;
        int found = 0;
        for (int64_t i = list_of(&arrays, row, &ids) - 1; i >= 0; --i)
          if (ids[i] == other) {
            ++found;
            const int64_t at = ids + i - arrays.ids;
            wrong += ((const double*)arrays.distances)[at] != plain_distance(&base, row, &base, other, "euclidean");
          }
        wrong += found != wanted;
        edges += wanted;
      }
    CHECK(wrong == 0 && edges == arrays.count);
    CHECK_OK(kith_lists_destroy(lists));
  }
  kith_lists* none = NULL;
  CHECK_REFUSED(kith_index_graph(index, 60, NULL, NULL, &none), "k = 60 but");
  CHECK_REFUSED(kith_index_graph(index, 4, "both", NULL, &none), "'both'");
  CHECK_REFUSED(kith_index_graph(index, 4, NULL, NULL, NULL), "out is null");
  CHECK(none == NULL);
  CHECK_OK(kith_index_destroy(index));
  free_points(&base);
}

void lists_refuse(void) {
  points base = make_points(60, 2, KITH_FLOAT32, 91);
  points queries = make_points(3, 2, KITH_FLOAT32, 92);
  kith_index* index = NULL;
  kith_lists* lists = NULL;
  kith_list_arrays arrays;
  const double radii[3] = {1, -1, 1};
  const double not_a_number = (double)NAN;
  CHECK_OK(kith_index_create(&base.matrix, NULL, NULL, &index));
  CHECK_REFUSED(kith_index_search_radius(index, &queries.matrix, radii, 3, 0, NULL, &lists), "radius = -1 of query 1");
  CHECK_REFUSED(kith_index_search_radius(index, &queries.matrix, &not_a_number, 1, 0, NULL, &lists), "radius = nan");
  CHECK_REFUSED(kith_index_search_radius(index, &queries.matrix, radii, 2, 0, NULL, &lists), "2 radii for 3 queries");
  CHECK_REFUSED(kith_index_search_radius(index, &queries.matrix, radii, 0, 0, NULL, &lists), "0 radii for 3 queries");
  CHECK_REFUSED(kith_index_search_radius(index, &queries.matrix, radii, -1, 0, NULL, &lists), "radii has -1 elements");
  CHECK_REFUSED(kith_index_search_radius(index, &queries.matrix, NULL, 1, 0, NULL, &lists),
                "radii of 1 elements is null");
  CHECK_REFUSED(kith_index_search_radius(index, &queries.matrix, radii, 1, 0, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_index_search_radius_self(index, NULL, 1, 0, NULL, &lists), "radii of 1 elements is null");
  CHECK_REFUSED(kith_index_search_radius_self(index, radii, 1, 0, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_index_search_radius_self(index, radii + 1, 1, 0, NULL, &lists), "radius = -1");
  CHECK(lists == NULL);
  CHECK_REFUSED(kith_lists_get(lists, &arrays), "the kith_lists is null");
  CHECK_OK(kith_index_search_radius(index, &queries.matrix, radii, 1, 0, NULL, &lists));
  CHECK_REFUSED(kith_lists_get(lists, NULL), "out is null");
  CHECK_OK(kith_lists_destroy(lists));
  CHECK_REFUSED(kith_lists_get(lists, &arrays), "is no kith_lists");
  CHECK_REFUSED(kith_lists_destroy(lists), "is no kith_lists");
  CHECK_OK(kith_lists_destroy(NULL));
  CHECK_OK(kith_index_destroy(index));
  free_points(&base);
  free_points(&queries);
}
