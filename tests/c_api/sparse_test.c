/* sparse_test.c: sparse rows beside the same rows as dense ones. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "pairs.h"
#include "tests.h"

enum { ROWS = 50, QUERIES = 7, DIMS = 12, MOST_ENTRIES = ROWS * DIMS };

/* The points of make_points() without those of their coordinates that are 3 or less, which become 0. */
typedef struct sparse_rows {
  points dense;
  int64_t indptr[ROWS + 1];
  int32_t narrow[MOST_ENTRIES];
  int64_t wide[MOST_ENTRIES];
  float singles[MOST_ENTRIES];
  double doubles[MOST_ENTRIES];
  kith_csr view;
} sparse_rows;

static void make_sparse(sparse_rows* made, int64_t rows, kith_dtype dtype, int32_t index_bytes, uint64_t seed) {
  int64_t entries = 0;
  made->dense = make_points(rows, DIMS, dtype, seed);
  made->indptr[0] = 0;
  for (int64_t row = 0; row < rows; ++row) {
    for (int32_t c = 0; c < DIMS; ++c) {
      double* const value = &made->dense.exact[row * DIMS + c];
      if (*value <= 3 && c > 0) *value = 0;
      if (*value == 0) continue;
      made->narrow[entries] = c;
      made->wide[entries] = c;
      made->singles[entries] = (float)*value;
      made->doubles[entries++] = *value;
    }
    made->indptr[row + 1] = entries;
  }
  made->view = (kith_csr){.rows = rows,
                          .cols = DIMS,
                          .entries = entries,
                          .indptr = made->indptr,
                          .index_bytes = index_bytes,
                          .dtype = dtype};
  made->view.indices = index_bytes == 4 ? (const void*)made->narrow : made->wide;
  made->view.values = dtype == KITH_FLOAT32 ? (const void*)made->singles : made->doubles;
}

typedef struct sparse_pairs {
  const sparse_rows* queries;
  const sparse_rows* base;
  const char* metric;
} sparse_pairs;

static double plain_sparse(const void* context, int64_t query, int64_t id) {
  const sparse_pairs* const of = context;
  if (strcmp(of->metric, "jaccard") != 0)
    return plain_distance(&of->queries->dense, query, &of->base->dense, id, of->metric);
  int both = 0;
  int either = 0;
  for (int64_t c = 0; c < DIMS; ++c) {
    const int x = of->queries->dense.exact[query * DIMS + c] != 0;
    const int y = of->base->dense.exact[id * DIMS + c] != 0;
    both += x & y;
    either += x | y;
  }
  const double distance = either == 0 ? 0 : (double)(either - both) / either;
  return of->base->view.dtype == KITH_FLOAT64 ? distance : (double)(float)distance;
}

void sparse_rows_are_searched(void) {
  static const char* const metrics[] = {"euclidean", "sqeuclidean", "manhattan", "jaccard"};
  static sparse_rows base;
  static sparse_rows queries;
  static answer found;
  for (int i = 0; i < 16; ++i) {
    const kith_dtype dtype = i % 2 == 0 ? KITH_FLOAT32 : KITH_FLOAT64;
    const int32_t index_bytes = i / 2 % 2 == 0 ? 4 : 8;
    const char* const metric = metrics[i / 4];
    make_sparse(&base, ROWS, dtype, index_bytes, 11);
    make_sparse(&queries, QUERIES, dtype, 12 - index_bytes, 12);
    const sparse_pairs asked = {&queries, &base, metric};
    const sparse_pairs among = {&base, &base, metric};
    const pairs all = {plain_sparse, &asked, QUERIES, ROWS, 0};
    const pairs self = {plain_sparse, &among, ROWS, ROWS, 1};
    const double radii[QUERIES] = {0, 0.5, 2, 7, 15, 40, 100};
    kith_sparse_index* index = NULL;
    kith_lists* lists = NULL;
    int64_t rows = 0;
    int64_t dims = 0;
    kith_dtype type = 0;
    CHECK_OK(kith_sparse_index_create(&base.view, i / 4 == 0 ? NULL : metric, NULL, &index));
    CHECK_OK(kith_sparse_index_shape(index, &rows, &dims, &type));
    CHECK(rows == ROWS && dims == DIMS && type == dtype);
    CHECK_OK(kith_sparse_index_shape(index, NULL, NULL, NULL));
    make_answer(&found, dtype);
    CHECK_OK(kith_sparse_index_search(index, &queries.view, 6, &found.out));
    CHECK(holds_nearest_pairs(&all, 6, &found.out));
    CHECK_OK(kith_sparse_index_search_self(index, 4, &found.out));
    CHECK(holds_nearest_pairs(&self, 4, &found.out));
    CHECK_OK(kith_sparse_index_search_radius(index, &queries.view, radii, QUERIES, 0, &lists));
    CHECK(are_pairs_within(&all, radii, QUERIES, lists));
    CHECK_OK(kith_sparse_index_search_radius(index, &queries.view, radii + 3, 1, 1, &lists));
    CHECK(are_pairs_within(&all, radii + 3, 1, lists));
    CHECK_OK(kith_sparse_index_search_radius_self(index, radii + 2, 1, 0, &lists));
    CHECK(are_pairs_within(&self, radii + 2, 1, lists));
    CHECK_OK(kith_sparse_index_destroy(index));
    free_points(&base.dense);
    free_points(&queries.dense);
  }
}

void sparse_rows_are_copied(void) {
  static sparse_rows base;
  static answer found;
  for (int32_t index_bytes = 4; index_bytes <= 8; index_bytes += 4) {
    make_sparse(&base, ROWS, KITH_FLOAT64, index_bytes, 21);
    const sparse_pairs among = {&base, &base, "euclidean"};
    const pairs self = {plain_sparse, &among, ROWS, ROWS, 1};
    kith_sparse_index* index = NULL;
    kith_lists* lists = NULL;
    kith_list_arrays arrays;
    CHECK_OK(kith_sparse_index_create_copy(&base.view, NULL, NULL, &index));
    memset(base.indptr, 0x7B, sizeof base.indptr);
    memset(base.narrow, 0x7B, sizeof base.narrow);
    memset(base.wide, 0x7B, sizeof base.wide);
    memset(base.doubles, 0x7B, sizeof base.doubles);
    make_answer(&found, KITH_FLOAT64);
    CHECK_OK(kith_sparse_index_search_self(index, 4, &found.out));
    CHECK(holds_nearest_pairs(&self, 4, &found.out));

    /* A graph has the same edges. */
    CHECK_OK(kith_sparse_index_graph(index, 4, NULL, &lists));
    CHECK_OK(kith_lists_get(lists, &arrays));
    CHECK(arrays.rows == ROWS && arrays.count == 4 * ROWS && arrays.dtype == KITH_FLOAT64);
    double sum = 0;
    double wanted = 0;
    for (int64_t at = 0; at < 4 * ROWS; ++at) {
      sum += (double)arrays.ids[at] * (double)(1 + at / 4);
      wanted += (double)found.ids[at] * (double)(1 + at / 4);
    }
    CHECK(sum == wanted);
    CHECK_OK(kith_lists_destroy(lists));
    CHECK_REFUSED(kith_sparse_index_graph(index, 4, "both", &lists), "'both'");
    CHECK_REFUSED(kith_sparse_index_graph(index, ROWS, NULL, &lists), "k = 50 but");
    CHECK_REFUSED(kith_sparse_index_graph(index, 4, NULL, NULL), "out is null");
    CHECK_OK(kith_sparse_index_destroy(index));
    CHECK_REFUSED(kith_sparse_index_graph(index, 4, NULL, &lists), "is no kith_sparse_index");
    free_points(&base.dense);
  }
}

static void refuse_sparse_base(kith_csr base, const char* text) {
  kith_sparse_index* index = NULL;
  CHECK_REFUSED(kith_sparse_index_create(&base, NULL, NULL, &index), text);
  CHECK_REFUSED(kith_sparse_index_create_copy(&base, NULL, NULL, &index), text);
  CHECK(index == NULL);
}

void sparse_indexes_refuse_a_base(void) {
  static sparse_rows base;
  make_sparse(&base, ROWS, KITH_FLOAT32, 4, 31);
  kith_sparse_index* index = NULL;
  kith_csr wrong = base.view;
  wrong.dtype = KITH_UINT8;
  refuse_sparse_base(wrong, "base is of type uint8; sparse rows are float32 or float64");
  wrong.dtype = 0;
  refuse_sparse_base(wrong, "base has dtype 0");
  wrong = base.view;
  wrong.index_bytes = 0;
  refuse_sparse_base(wrong, "column numbers of 0 bytes; they have 4 or 8");
  wrong = base.view;
  wrong.indptr = NULL;
  refuse_sparse_base(wrong, "indptr");
  wrong = base.view;
  wrong.indices = NULL;
  refuse_sparse_base(wrong, "indices");
  wrong = base.view;
  wrong.values = NULL;
  refuse_sparse_base(wrong, "values");
  wrong = base.view;
  wrong.values = (const char*)wrong.values + 1;
  refuse_sparse_base(wrong, "base is not aligned to 4 bytes");
  wrong = base.view;
  wrong.rows = 0;
  refuse_sparse_base(wrong, "at least one");
  wrong = base.view;
  wrong.entries -= 1;
  refuse_sparse_base(wrong, "at its end but");
  wrong = base.view;
  wrong.entries = -1;
  refuse_sparse_base(wrong, "-1");
  wrong = base.view;
  wrong.cols = 3;
  refuse_sparse_base(wrong, "columns are 0 to 2");
  CHECK_REFUSED(kith_sparse_index_create(NULL, NULL, NULL, &index), "base is null");
  CHECK_REFUSED(kith_sparse_index_create_copy(NULL, NULL, NULL, &index), "base is null");
  CHECK_REFUSED(kith_sparse_index_create(&base.view, NULL, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_sparse_index_create_copy(&base.view, NULL, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_sparse_index_create(&base.view, "canberra", NULL, &index), "metric of sparse points 'canberra'");
  static const char* const others[][2] = {{"metric", "cosine"}, {"method", "tree"},    {"distance", "direct"},
                                          {"select", "sort"},   {"epsilon", "0.1"},    {"period", "1"},
                                          {"pad_missing", "1"}, {"statistics", "1"},   {"backend", "cuda"},
                                          {"threads", "-1"},    {"max_distance", "-1"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    kith_options* const options = options_with(others[i][0], others[i][1]);
    CHECK(kith_sparse_index_create(&base.view, NULL, options, &index) == KITH_INVALID_ARGUMENT);
    CHECK_OK(kith_options_destroy(options));
  }
  base.singles[0] = (float)NAN;
  CHECK_STATUS(kith_sparse_index_create(&base.view, NULL, NULL, &index), KITH_BAD_DATA, "nan");
  CHECK(index == NULL);
  free_points(&base.dense);
}

void sparse_indexes_refuse(void) {
  static sparse_rows base;
  static sparse_rows doubles;
  static answer found;
  make_sparse(&base, ROWS, KITH_FLOAT32, 4, 41);
  make_sparse(&doubles, QUERIES, KITH_FLOAT64, 4, 42);
  kith_sparse_index* index = NULL;
  kith_lists* lists = NULL;
  const double radii[2] = {1, -1};
  CHECK_OK(kith_sparse_index_create(&base.view, "manhattan", NULL, &index));
  make_answer(&found, KITH_FLOAT32);
  CHECK_REFUSED(kith_sparse_index_search(index, &doubles.view, 2, &found.out), "queries is of type float64");
  CHECK_REFUSED(kith_sparse_index_search(index, NULL, 2, &found.out), "queries is null");
  CHECK_REFUSED(kith_sparse_index_search(index, &base.view, 2, NULL), "out is null");
  CHECK_REFUSED(kith_sparse_index_search(index, &base.view, 0, &found.out), "k = 0");
  CHECK_REFUSED(kith_sparse_index_search(index, &base.view, ROWS + 1, &found.out), "k = 51 but");
  CHECK_REFUSED(kith_sparse_index_search_self(index, ROWS, &found.out), "k = 50 but");
  CHECK_REFUSED(kith_sparse_index_search_self(index, 2, NULL), "out is null");
  kith_csr fewer = base.view;
  fewer.cols = DIMS + 1;
  CHECK_REFUSED(kith_sparse_index_search(index, &fewer, 2, &found.out), "13");
  kith_neighbors wrong = found.out;
  wrong.capacity = 2 * ROWS - 1;
  CHECK_REFUSED(kith_sparse_index_search(index, &base.view, 2, &wrong), "out has room for 99 elements; 50 × 2");
  wrong = found.out;
  wrong.dtype = KITH_FLOAT64;
  CHECK_REFUSED(kith_sparse_index_search(index, &base.view, 2, &wrong), "out is of type float64; it must be float32");
  wrong = found.out;
  wrong.memory = KITH_DEVICE;
  CHECK_REFUSED(kith_sparse_index_search_self(index, 2, &wrong), "comes to host memory");
  wrong = found.out;
  wrong.distances = NULL;
  CHECK_REFUSED(kith_sparse_index_search_self(index, 2, &wrong), "null pointer");
  CHECK_REFUSED(kith_sparse_index_search_radius(index, &base.view, radii, 2, 0, &lists), "2 radii for 50 queries");
  CHECK_REFUSED(kith_sparse_index_search_radius(index, &base.view, radii + 1, 1, 0, &lists), "radius = -1");
  CHECK_REFUSED(kith_sparse_index_search_radius(index, NULL, radii, 1, 0, &lists), "queries is null");
  CHECK_REFUSED(kith_sparse_index_search_radius(index, &base.view, radii, 1, 0, NULL), "out is null");
  CHECK_REFUSED(kith_sparse_index_search_radius_self(index, NULL, 1, 0, &lists), "radii of 1 elements is null");
  CHECK_REFUSED(kith_sparse_index_search_radius_self(index, radii, 1, 0, NULL), "out is null");
  CHECK(lists == NULL);
  CHECK_OK(kith_sparse_index_destroy(index));

  CHECK_REFUSED(kith_sparse_index_search(index, &base.view, 2, &found.out), "is no kith_sparse_index");
  CHECK_REFUSED(kith_sparse_index_search_self(index, 2, &found.out), "is no kith_sparse_index");
  CHECK_REFUSED(kith_sparse_index_search_radius(index, &base.view, radii, 1, 0, &lists), "is no kith_sparse_index");
  CHECK_REFUSED(kith_sparse_index_search_radius_self(index, radii, 1, 0, &lists), "is no kith_sparse_index");
  CHECK_REFUSED(kith_sparse_index_shape(NULL, NULL, NULL, NULL), "the kith_sparse_index is null");
  CHECK_REFUSED(kith_sparse_index_destroy(index), "is no kith_sparse_index");
  CHECK_OK(kith_sparse_index_destroy(NULL));
  free_points(&base.dense);
  free_points(&doubles.dense);
}
