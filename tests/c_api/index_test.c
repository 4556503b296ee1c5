/* index_test.c: searches of an index, of all types, and every argument that can be wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tests.h"

static kith_index* index_of(const points* base, const kith_options* options) {
  kith_index* index = NULL;
  CHECK_OK(kith_index_create(&base->matrix, options, NULL, &index));
  return index;
}

void indexes_search_all_types(void) {
  static answer found;
  for (int i = 0; i < 6; ++i) {
    const kith_dtype dtype = all_dtypes[i];
    points base = make_points(300, 5, dtype, 11);
    points queries = make_points(17, 5, dtype, 12);
    kith_index* const index = index_of(&base, NULL);

    int64_t rows = 0;
    int64_t dims = 0;
    kith_dtype type = 0;
    CHECK_OK(kith_index_shape(index, &rows, &dims, &type));
    CHECK(rows == 300 && dims == 5 && type == dtype);
    CHECK_OK(kith_index_shape(index, NULL, NULL, NULL));

    make_answer(&found, kith_distance_dtype(dtype));
    CHECK_OK(kith_index_search(index, &queries.matrix, 9, &found.out, NULL));
    CHECK(same_as_plain(&base, &queries, 9, "euclidean", 0, &found.out));
    make_answer(&found, kith_distance_dtype(dtype));
    CHECK_OK(kith_index_search_self(index, 5, &found.out, NULL));
    CHECK(same_as_plain(&base, &base, 5, "euclidean", 1, &found.out));
    CHECK_OK(kith_index_destroy(index));
    free_points(&base);
    free_points(&queries);
  }
}

void indexes_read_strides(void) {
  /* The same points with gaps between rows, and with columns one after the other. */
  points base = make_points(60, 3, KITH_FLOAT64, 21);
  points queries = make_points(4, 3, KITH_FLOAT64, 22);
  double gaps[60 * 5];
  double columns[60 * 3];
  for (int64_t row = 0; row < 60; ++row)
    for (int64_t col = 0; col < 3; ++col) gaps[row * 5 + col] = columns[col * 60 + row] = base.exact[row * 3 + col];
  const kith_matrix views[] = {
      {.data = gaps, .rows = 60, .cols = 3, .row_stride = 5, .dtype = KITH_FLOAT64},
      {.data = columns, .rows = 60, .cols = 3, .row_stride = 1, .col_stride = 60, .dtype = KITH_FLOAT64},
      {.data = base.matrix.data, .rows = 60, .cols = 3, .row_stride = 3, .col_stride = 1, .dtype = KITH_FLOAT64},
  };
  static answer found;
  for (int i = 0; i < 3; ++i)
    for (int copied = 0; copied < 2; ++copied) {
      kith_index* index = NULL;
      CHECK_OK(copied ? kith_index_create_copy(&views[i], NULL, &index)
                      : kith_index_create(&views[i], NULL, NULL, &index));
      make_answer(&found, KITH_FLOAT64);
      CHECK_OK(kith_index_search(index, &queries.matrix, 6, &found.out, NULL));
      CHECK(same_as_plain(&base, &queries, 6, "euclidean", 0, &found.out));
      CHECK_OK(kith_index_destroy(index));
    }
  free_points(&base);
  free_points(&queries);
}

void indexes_copy_points(void) {
  points base = make_points(50, 3, KITH_INT8, 31);
  points queries = make_points(3, 3, KITH_INT8, 32);
  int8_t* const values = malloc(150);
  memcpy(values, base.matrix.data, 150);
  kith_matrix matrix = base.matrix;
  matrix.data = values;
  kith_index* index = NULL;
  CHECK_OK(kith_index_create_copy(&matrix, NULL, &index));
  memset(values, 0, 150);
  free(values);
  static answer found;
  make_answer(&found, KITH_FLOAT32);
  CHECK_OK(kith_index_search(index, &queries.matrix, 4, &found.out, NULL));
  CHECK(same_as_plain(&base, &queries, 4, "euclidean", 0, &found.out));
  CHECK_OK(kith_index_destroy(index));
  matrix.data = base.matrix.data;
  matrix.memory = KITH_DEVICE;
  CHECK_REFUSED(kith_index_create_copy(&matrix, NULL, &index), "base lies on a device; it is copied from host memory");
  free_points(&base);
  free_points(&queries);
}

void indexes_limit_searches(void) {
  points base = make_points(80, 2, KITH_FLOAT32, 41);
  points queries = make_points(5, 2, KITH_FLOAT32, 42);
  kith_index* const index = index_of(&base, NULL);
  static answer found;
  make_answer(&found, KITH_FLOAT32);
  CHECK_OK(kith_index_search_limited(index, &queries.matrix, 20, 2.0, 0, &found.out, NULL));
  int64_t ids[20];
  double distances[20];
  for (int64_t query = 0; query < 5; ++query) {
    plain_search(&base, &queries, query, 20, "euclidean", -1, ids, distances);
    for (int64_t i = 0; i < 20; ++i) {
      const int64_t at = query * 20 + i;
      if (distances[i] <= 2) {
        CHECK(found.ids[at] == ids[i] && distance_at(found.distances, KITH_FLOAT32, at) == distances[i]);
      } else {
        CHECK(found.ids[at] == -1 && distance_at(found.distances, KITH_FLOAT32, at) > 1e30);
      }
    }
  }
  CHECK_REFUSED(kith_index_search_limited(index, &queries.matrix, 20, -2.0, 0, &found.out, NULL), "max_distance = -2");
  CHECK_REFUSED(kith_index_search_limited(index, &queries.matrix, 20, 2.0, -1, &found.out, NULL), "epsilon = -1");
  CHECK_OK(kith_index_destroy(index));
  free_points(&base);
  free_points(&queries);
}

void indexes_certify_rows(void) {
  points base = make_points(200, 2, KITH_FLOAT32, 51);
  points queries = make_points(10, 2, KITH_FLOAT32, 52);
  kith_options* const options = options_with("method", "shifted-sort");
  CHECK_OK(kith_options_set_int(options, "shifted_sort.certify", 1));
  CHECK_OK(kith_options_set_int(options, "shifted_sort.window", 200));
  kith_index* const index = index_of(&base, options);
  uint8_t certified[11];
  memset(certified, 7, sizeof certified);
  static answer found;
  make_answer(&found, KITH_FLOAT32);
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 3, &found.out, NULL), "certified must point to a flag");
  found.out.certified = certified;
  found.out.certified_capacity = 9;
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 3, &found.out, NULL), "certified has room for 9 elements");
  found.out.certified_capacity = 10;
  CHECK_OK(kith_index_search(index, &queries.matrix, 3, &found.out, NULL));
  /* A window that holds every point proves every row. */
  for (int i = 0; i < 10; ++i) CHECK(certified[i] == 1);
  CHECK(certified[10] == 7);
  CHECK(same_as_plain(&base, &queries, 3, "euclidean", 0, &found.out));
  CHECK_OK(kith_index_destroy(index));
  CHECK_OK(kith_options_destroy(options));
  free_points(&base);
  free_points(&queries);
}

/* Descriptions of points that are refused wherever points are taken. */
static void refuse_matrices(const kith_matrix* right, kith_status (*use)(const kith_matrix* matrix, void* context),
                            void* context) {
  CHECK_OK(use(right, context));
  CHECK_REFUSED(use(NULL, context), "is null");
  kith_matrix wrong = *right;
  wrong.data = NULL;
  CHECK_REFUSED(use(&wrong, context), "has no data (null pointer)");
  wrong = *right;
  wrong.data = (const char*)right->data + 1;
  CHECK_REFUSED(use(&wrong, context), "is not aligned to 4 bytes");
  wrong = *right;
  wrong.rows = 0;
  CHECK_REFUSED(use(&wrong, context), "is 0 × 3; at least one row");
  wrong.rows = -1;
  CHECK_REFUSED(use(&wrong, context), "is -1 × 3");
  wrong = *right;
  wrong.cols = -5;
  CHECK_REFUSED(use(&wrong, context), "× -5");
  wrong = *right;
  wrong.row_stride = -3;
  CHECK_REFUSED(use(&wrong, context), "strides -3 and 1");
  wrong = *right;
  wrong.col_stride = 2;
  CHECK_REFUSED(use(&wrong, context), "has col_stride 2 but row_stride 0, which means packed rows");
  wrong = *right;
  wrong.rows = INT64_MAX;
  CHECK_REFUSED(use(&wrong, context), "exceeds the address space");
  wrong = *right;
  wrong.dtype = 0;
  CHECK_REFUSED(use(&wrong, context), "has dtype 0; known are 1 (float32)");
  wrong.dtype = 7;
  CHECK_REFUSED(use(&wrong, context), "has dtype 7");
  wrong = *right;
  wrong.memory = 2;
  CHECK_REFUSED(use(&wrong, context), "lies in memory 2; known are 0 (host) and 1 (device)");
  float values[3] = {1, 2, 0};
  values[2] = NAN;
  const kith_matrix not_finite = {.data = values, .rows = 1, .cols = 3, .dtype = KITH_FLOAT32};
  CHECK_STATUS(use(&not_finite, context), KITH_BAD_DATA, "");
}

static kith_status use_as_base(const kith_matrix* matrix, void* context) {
  (void)context;
  kith_index* index = NULL;
  const kith_status status = kith_index_create(matrix, NULL, NULL, &index);
  CHECK((status == KITH_OK) == (index != NULL));
  CHECK_OK(kith_index_destroy(index));
  return status;
}

static kith_status use_as_copied_base(const kith_matrix* matrix, void* context) {
  (void)context;
  kith_index* index = NULL;
  const kith_status status = kith_index_create_copy(matrix, NULL, &index);
  CHECK((status == KITH_OK) == (index != NULL));
  CHECK_OK(kith_index_destroy(index));
  return status;
}

static kith_status use_as_queries(const kith_matrix* matrix, void* context) {
  static answer found;
  make_answer(&found, KITH_FLOAT32);
  return kith_index_search(context, matrix, 2, &found.out, NULL);
}

static kith_status use_for_radius(const kith_matrix* matrix, void* context) {
  const double radius = 1;
  kith_lists* lists = NULL;
  const kith_status status = kith_index_search_radius(context, matrix, &radius, 1, 0, NULL, &lists);
  CHECK((status == KITH_OK) == (lists != NULL));
  CHECK_OK(kith_lists_destroy(lists));
  return status;
}

void indexes_refuse(void) {
  points base = make_points(40, 3, KITH_FLOAT32, 61);
  points queries = make_points(4, 3, KITH_FLOAT32, 62);
  points doubles = make_points(4, 3, KITH_FLOAT64, 63);
  points narrow = make_points(4, 2, KITH_FLOAT32, 64);
  kith_index* const index = index_of(&base, NULL);
  refuse_matrices(&base.matrix, use_as_base, NULL);
  refuse_matrices(&base.matrix, use_as_copied_base, NULL);
  refuse_matrices(&queries.matrix, use_as_queries, index);
  refuse_matrices(&queries.matrix, use_for_radius, index);
  CHECK_REFUSED(kith_index_create(&base.matrix, NULL, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_index_create_copy(&base.matrix, NULL, NULL), "out is null");

  static answer found;
  make_answer(&found, KITH_FLOAT32);
  CHECK_REFUSED(kith_index_search(index, &doubles.matrix, 2, &found.out, NULL),
                "queries is of type float64; it must be float32");
  CHECK_REFUSED(kith_index_search(index, &narrow.matrix, 2, &found.out, NULL),
                "the base has 3 dimensions but the queries have 2");
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 0, &found.out, NULL), "k = 0");
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, -3, &found.out, NULL), "k = -3");
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 41, &found.out, NULL), "k = 41 but");
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, INT64_MAX, &found.out, NULL), "has room for 4096 elements");
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 2, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_index_search_self(index, 40, &found.out, NULL), "k = 40 but");
  CHECK_REFUSED(kith_index_search_self(index, 0, &found.out, NULL), "k = 0");
  CHECK_REFUSED(kith_index_search_self(index, 2, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_index_search_limited(index, &queries.matrix, 2, 1, 0, NULL, NULL), "out is null");

  kith_neighbors wrong = found.out;
  wrong.ids = NULL;
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 2, &wrong, NULL), "null pointer");
  wrong = found.out;
  wrong.distances = NULL;
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 2, &wrong, NULL), "null pointer");
  wrong = found.out;
  wrong.ids = (int64_t*)(void*)((char*)found.ids + 4);
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 2, &wrong, NULL), "ids is not aligned to 8 bytes");
  wrong = found.out;
  wrong.distances = (char*)found.distances + 2;
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 2, &wrong, NULL), "distances is not aligned to 4 bytes");
  wrong = found.out;
  wrong.capacity = 7;
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 2, &wrong, NULL),
                "out has room for 7 elements; 4 × 2 are needed");
  wrong.capacity = 0;
  CHECK_REFUSED(kith_index_search_self(index, 2, &wrong, NULL), "out has room for 0 elements; 40 × 2 are needed");
  wrong = found.out;
  wrong.dtype = KITH_FLOAT64;
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 2, &wrong, NULL),
                "out is of type float64; it must be float32");
  wrong.dtype = 0;
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 2, &wrong, NULL), "out has dtype 0");
  wrong = found.out;
  wrong.memory = -1;
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 2, &wrong, NULL), "out lies in memory -1");
  uint8_t certified[4];
  wrong = found.out;
  wrong.certified = certified;
  wrong.certified_capacity = 4;
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 2, &wrong, NULL), "certified flags were asked of method");

  /* Exactly enough room. */
  wrong = found.out;
  wrong.capacity = 8;
  CHECK_OK(kith_index_search(index, &queries.matrix, 2, &wrong, NULL));
  CHECK(found.ids[7] >= 0 && found.ids[8] == INT64_C(0x7B7B7B7B7B7B7B7B));

  float zeros[6] = {0, 0, 0, 1, 1, 1};
  const kith_matrix with_zero = {.data = zeros, .rows = 2, .cols = 3, .dtype = KITH_FLOAT32};
  kith_options* const cosine = options_with("metric", "cosine");
  kith_index* none = NULL;
  CHECK_STATUS(kith_index_create(&with_zero, cosine, NULL, &none), KITH_BAD_DATA, "");
  CHECK(none == NULL);
  CHECK_OK(kith_options_destroy(cosine));

  CHECK_OK(kith_index_destroy(index));
  CHECK_OK(kith_index_destroy(NULL));
  free_points(&base);
  free_points(&queries);
  free_points(&doubles);
  free_points(&narrow);
}
