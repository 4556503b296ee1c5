/* batches_test.c: batches beside a search of each. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "tests.h"

enum { BATCHES = 5, ROWS = 90, QUERIES = 14, DIMS = 3, K = 6 };

/* A batch without queries, one with fewer points than K, one without points. */
static const int64_t base_offsets[BATCHES + 1] = {0, 40, 60, 64, 64, ROWS};
static const int64_t query_offsets[BATCHES + 1] = {0, 5, 5, 8, 10, QUERIES};

static points rows_of(const points* all, const int64_t* offsets, int batch) {
  points some = *all;
  some.matrix.data = (const char*)all->matrix.data + offsets[batch] * DIMS * kith_dtype_size(all->matrix.dtype);
  some.matrix.rows = offsets[batch + 1] - offsets[batch];
  some.exact = all->exact + offsets[batch] * DIMS;
  return some;
}

/* Whether the rows of every batch are those of a loop over its points. */
static int same_as_each(const points* base, const points* queries, const int64_t* asked, int is_self,
                        const answer* found) {
  int wrong = 0;
  for (int batch = 0; batch < BATCHES; ++batch) {
    const points mine = rows_of(base, base_offsets, batch);
    const points places = rows_of(queries, asked, batch);
    const int64_t others = mine.matrix.rows - (is_self && mine.matrix.rows > 0 ? 1 : 0);
    const int64_t count = others < K ? others : K;
    for (int64_t query = 0; query < places.matrix.rows; ++query) {
      int64_t ids[K];
      double distances[K];
      plain_search(&mine, &places, query, count, "euclidean", is_self ? query : -1, ids, distances);
      for (int64_t i = 0; i < K; ++i) {
        const int64_t at = (asked[batch] + query) * K + i;
        const double distance = distance_at(found->distances, found->out.dtype, at);
        wrong += found->ids[at] != (i < count ? base_offsets[batch] + ids[i] : -1);
        wrong += distance != (i < count ? distances[i] : (double)INFINITY);
      }
    }
  }
  return wrong == 0;
}

void batches_are_searched(void) {
  static answer found;
  for (int i = 0; i < 6; ++i) {
    const kith_dtype dtype = all_dtypes[i];
    points base = make_points(ROWS, DIMS, dtype, 51);
    points queries = make_points(QUERIES, DIMS, dtype, 52);
    make_answer(&found, kith_distance_dtype(dtype));
    CHECK_OK(kith_search_batches(&base.matrix, base_offsets, &queries.matrix, query_offsets, BATCHES, K, NULL,
                                 &found.out, NULL));
    CHECK(same_as_each(&base, &queries, query_offsets, 0, &found));
    make_answer(&found, kith_distance_dtype(dtype));
    CHECK_OK(kith_search_batches_self(&base.matrix, base_offsets, BATCHES, K, NULL, &found.out, NULL));
    CHECK(same_as_each(&base, &base, base_offsets, 1, &found));
    free_points(&base);
    free_points(&queries);
  }
  /* Nothing at all, and no batch, have an answer too. */
  const int64_t nothing[3] = {0, 0, 0};
  const kith_matrix none = {.cols = DIMS, .dtype = KITH_FLOAT32};
  make_answer(&found, KITH_FLOAT32);
  CHECK_OK(kith_search_batches(&none, nothing, &none, nothing, 2, K, NULL, &found.out, NULL));
  CHECK_OK(kith_search_batches_self(&none, nothing, 0, K, NULL, &found.out, NULL));
}

void batches_refuse(void) {
  static answer found;
  points base = make_points(ROWS, DIMS, KITH_FLOAT32, 61);
  points queries = make_points(QUERIES, DIMS, KITH_FLOAT32, 62);
  points doubles = make_points(QUERIES, DIMS, KITH_FLOAT64, 63);
  const kith_matrix* const points_ = &base.matrix;
  const kith_matrix* const asked = &queries.matrix;
  const int64_t falls[3] = {0, 50, 40};
  const int64_t late[2] = {1, ROWS};
  const int64_t early[2] = {0, ROWS - 1};
  make_answer(&found, KITH_FLOAT32);
  kith_neighbors* const out = &found.out;
  const int64_t* const b = base_offsets;
  const int64_t* const q = query_offsets;
  CHECK_REFUSED(kith_search_batches(NULL, b, asked, q, BATCHES, K, NULL, out, NULL), "base is null");
  CHECK_REFUSED(kith_search_batches(points_, b, NULL, q, BATCHES, K, NULL, out, NULL), "queries is null");
  CHECK_REFUSED(kith_search_batches(points_, NULL, asked, q, BATCHES, K, NULL, out, NULL),
                "base_offsets of 6 elements is null");
  CHECK_REFUSED(kith_search_batches(points_, b, asked, NULL, BATCHES, K, NULL, out, NULL),
                "query_offsets of 6 elements is null");
  CHECK_REFUSED(kith_search_batches(points_, b, asked, q, BATCHES, K, NULL, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_search_batches(points_, b, asked, q, -1, K, NULL, out, NULL), "-1 batches");
  CHECK_REFUSED(kith_search_batches(points_, b, asked, q, INT64_MAX, K, NULL, out, NULL), "batches");
  CHECK_REFUSED(kith_search_batches(points_, b, asked, q, BATCHES, 0, NULL, out, NULL), "k = 0");
  CHECK_REFUSED(kith_search_batches(points_, b, &doubles.matrix, q, BATCHES, K, NULL, out, NULL),
                "queries is of type float64");
  CHECK_REFUSED(kith_search_batches_self(points_, falls, 2, K, NULL, out, NULL), "fall from 50 to 40 at position 2");
  CHECK_REFUSED(kith_search_batches_self(points_, late, 1, K, NULL, out, NULL), "begin with 1");
  CHECK_REFUSED(kith_search_batches_self(points_, early, 1, K, NULL, out, NULL), "end with 89 but it has 90 rows");
  CHECK_REFUSED(kith_search_batches_self(NULL, b, BATCHES, K, NULL, out, NULL), "base is null");
  CHECK_REFUSED(kith_search_batches_self(points_, NULL, BATCHES, K, NULL, out, NULL), "offsets of 6 elements is null");
  CHECK_REFUSED(kith_search_batches_self(points_, b, BATCHES, K, NULL, NULL, NULL), "out is null");
  kith_neighbors small = *out;
  small.capacity = ROWS * K - 1;
  CHECK_REFUSED(kith_search_batches_self(points_, b, BATCHES, K, NULL, &small, NULL), "90 × 6 are needed");
  kith_matrix negative = base.matrix;
  negative.rows = -1;
  CHECK_REFUSED(kith_search_batches_self(&negative, b, BATCHES, K, NULL, out, NULL), "base is -1 × 3");
  kith_options* const options = options_with("statistics", "1");
  CHECK_REFUSED(kith_search_batches_self(points_, b, BATCHES, K, options, out, NULL), "statistics");
  CHECK_OK(kith_options_destroy(options));
  free_points(&base);
  free_points(&queries);
  free_points(&doubles);
}
