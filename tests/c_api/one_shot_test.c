/* one_shot_test.c: searches, distances, selections and plans without an index. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tests.h"

void one_shot_searches_are_right(void) {
  static answer found;
  for (int i = 0; i < 6; ++i) {
    const kith_dtype dtype = all_dtypes[i];
    points base = make_points(200, 6, dtype, 121);
    points queries = make_points(13, 6, dtype, 122);
    make_answer(&found, kith_distance_dtype(dtype));
    CHECK_OK(kith_search(&base.matrix, &queries.matrix, 8, NULL, &found.out, NULL));
    CHECK(same_as_plain(&base, &queries, 8, "euclidean", 0, &found.out));
    free_points(&base);
    free_points(&queries);
  }
}

void distance_matrices_are_right(void) {
  for (int i = 0; i < 6; ++i) {
    const kith_dtype dtype = all_dtypes[i];
    const kith_dtype distances = kith_distance_dtype(dtype);
    points base = make_points(31, 7, dtype, 131);
    points queries = make_points(9, 7, dtype, 132);
    kith_options* const options = options_with("metric", "manhattan");
    double memory[31 * 9];
    const kith_array out = {.data = memory, .capacity = 31 * 9, .dtype = distances};
    CHECK_OK(kith_distances(&base.matrix, &queries.matrix, options, &out, NULL));
    int wrong = 0;
    for (int64_t query = 0; query < 9; ++query)
      for (int64_t row = 0; row < 31; ++row)
        wrong += distance_at(memory, distances, query * 31 + row) !=
                 plain_distance(&queries, query, &base, row, "manhattan");
    CHECK(wrong == 0);
    CHECK_OK(kith_options_destroy(options));
    free_points(&base);
    free_points(&queries);
  }
}

/* The k best columns of a row, by value and then by number, by repeated passes over it. */
static void plain_topk(const points* matrix, int64_t row, int64_t k, int largest, int64_t* ids) {
  const int64_t cols = matrix->matrix.cols;
  const double* const values = matrix->exact + row * cols;
  for (int64_t i = 0; i < k; ++i) {
    int64_t best = -1;
    for (int64_t c = 0; c < cols; ++c) {
      int taken = 0;
      for (int64_t j = 0; j < i; ++j) taken |= ids[j] == c;
      if (!taken && (best < 0 || (largest ? values[c] > values[best] : values[c] < values[best]))) best = c;
    }
    ids[i] = best;
  }
}

void topk_is_right(void) {
  for (int i = 0; i < 6; ++i) {
    const kith_dtype dtype = all_dtypes[i];
    const int64_t size = kith_dtype_size(dtype);
    points matrix = make_points(5, 40, dtype, 141);
    for (int largest = 0; largest < 2; ++largest) {
      double memory[36];
      int64_t ids[36];
      int64_t wanted[7];
      memset(ids, 0x7B, sizeof ids);
      const kith_array values = {.data = memory, .capacity = 35, .dtype = dtype};
      CHECK_OK(kith_topk(&matrix.matrix, 7, largest, NULL, &values, ids, NULL));
      int wrong = 0;
      for (int64_t row = 0; row < 5; ++row) {
        plain_topk(&matrix, row, 7, largest, wanted);
        for (int64_t j = 0; j < 7; ++j) {
          const char* const from = (const char*)matrix.matrix.data + (row * 40 + wanted[j]) * size;
          wrong += ids[row * 7 + j] != wanted[j];
          wrong += memcmp((const char*)memory + (row * 7 + j) * size, from, (size_t)size) != 0;
        }
      }
      CHECK(wrong == 0 && ids[35] == INT64_C(0x7B7B7B7B7B7B7B7B));
      /* Without ids the same values. */
      double again[36];
      const kith_array alone = {.data = again, .capacity = 35, .dtype = dtype};
      CHECK_OK(kith_topk(&matrix.matrix, 7, largest, NULL, &alone, NULL, NULL));
      CHECK(memcmp(again, memory, (size_t)(35 * size)) == 0);
    }
    free_points(&matrix);
  }
}

void one_shot_functions_refuse(void) {
  points base = make_points(30, 3, KITH_FLOAT32, 151);
  points queries = make_points(2, 3, KITH_FLOAT32, 152);
  points bytes = make_points(2, 3, KITH_UINT8, 153);
  static answer found;
  make_answer(&found, KITH_FLOAT32);
  CHECK_REFUSED(kith_search(NULL, &queries.matrix, 2, NULL, &found.out, NULL), "base is null");
  CHECK_REFUSED(kith_search(&base.matrix, NULL, 2, NULL, &found.out, NULL), "queries is null");
  CHECK_REFUSED(kith_search(&base.matrix, &queries.matrix, 2, NULL, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_search(&base.matrix, &bytes.matrix, 2, NULL, &found.out, NULL), "queries is of type uint8");
  CHECK_REFUSED(kith_search(&base.matrix, &queries.matrix, 31, NULL, &found.out, NULL), "k = 31 but");

  float memory[60];
  kith_array out = {.data = memory, .capacity = 60, .dtype = KITH_FLOAT32};
  CHECK_REFUSED(kith_distances(NULL, &queries.matrix, NULL, &out, NULL), "base is null");
  CHECK_REFUSED(kith_distances(&base.matrix, NULL, NULL, &out, NULL), "queries is null");
  CHECK_REFUSED(kith_distances(&base.matrix, &queries.matrix, NULL, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_distances(&base.matrix, &bytes.matrix, NULL, &out, NULL), "queries is of type uint8");
  out.capacity = 59;
  CHECK_REFUSED(kith_distances(&base.matrix, &queries.matrix, NULL, &out, NULL), "out has room for 59 elements");
  out.capacity = 60;
  out.memory = KITH_DEVICE;
  CHECK_REFUSED(kith_distances(&base.matrix, &queries.matrix, NULL, &out, NULL), "this answer comes to host memory");
  out.memory = KITH_HOST;
  out.data = NULL;
  CHECK_REFUSED(kith_distances(&base.matrix, &queries.matrix, NULL, &out, NULL), "out is null");
  out.data = memory;
  CHECK_OK(kith_distances(&base.matrix, &queries.matrix, NULL, &out, NULL));

  int64_t ids[60];
  CHECK_REFUSED(kith_topk(NULL, 2, 0, NULL, &out, ids, NULL), "matrix is null");
  CHECK_REFUSED(kith_topk(&base.matrix, 2, 0, NULL, NULL, ids, NULL), "values is null");
  CHECK_REFUSED(kith_topk(&base.matrix, 3, 0, NULL, &out, ids, NULL), "values has room for 60 elements; 30 × 3");
  CHECK_REFUSED(kith_topk(&queries.matrix, 4, 0, NULL, &out, ids, NULL), "k = 4 but");
  CHECK_REFUSED(kith_topk(&queries.matrix, 0, 0, NULL, &out, ids, NULL), "k = 0");
  CHECK_REFUSED(kith_topk(&queries.matrix, 2, 0, NULL, &out, (int64_t*)(void*)((char*)ids + 1), NULL), "not aligned");
  CHECK_REFUSED(kith_topk(&bytes.matrix, 2, 0, NULL, &out, ids, NULL), "values is of type float32; it must be uint8");
  kith_options* const options = options_with("select", "sort");
  CHECK_OK(kith_options_set(options, "backend", "cpu"));
  CHECK_OK(kith_topk(&base.matrix, 2, 0, options, &out, ids, NULL));
  CHECK_OK(kith_options_set(options, "select", "heap-queue"));
  CHECK_REFUSED(kith_topk(&base.matrix, 2, 0, options, &out, ids, NULL), "'heap-queue' is not one of backend cpu");
  CHECK_OK(kith_options_destroy(options));
  free_points(&base);
  free_points(&queries);
  free_points(&bytes);
}

void plans_are_explained(void) {
  char text[4096];
  size_t length = 0;
  kith_options* const options = options_with("backend", "cpu");
  CHECK_OK(kith_explain(100000, 100, 32, 10, KITH_FLOAT32, options, NULL, text, sizeof text, &length));
  CHECK(length < sizeof text && strlen(text) == length && strstr(text, "cpu") != NULL);
  CHECK_OK(kith_explain(100000, 100, 32, 10, KITH_FLOAT32, NULL, "a100", text, sizeof text, NULL));
  CHECK(strstr(text, "A100") != NULL);
  CHECK_REFUSED(kith_explain(100000, 100, 32, 10, KITH_FLOAT32, NULL, "abacus", text, sizeof text, NULL), "abacus");
  CHECK_REFUSED(kith_explain(0, 100, 32, 10, KITH_FLOAT32, NULL, NULL, text, sizeof text, NULL), "0 points");
  CHECK_REFUSED(kith_explain(100, 100, 32, 10, 0, NULL, NULL, text, sizeof text, NULL), "the problem has dtype 0");
  CHECK_REFUSED(kith_explain(100, 100, 32, 10, KITH_INT8, NULL, NULL, NULL, 1, NULL), "buffer of the text is null");

  points base = make_points(100, 4, KITH_FLOAT32, 161);
  kith_index* index = NULL;
  CHECK_OK(kith_index_create(&base.matrix, options, NULL, &index));
  CHECK_OK(kith_index_explain(index, 10, 3, text, sizeof text, &length));
  CHECK(strlen(text) == length && strstr(text, "100") != NULL && strstr(text, "euclidean") != NULL);
  CHECK_REFUSED(kith_index_explain(index, 10, 101, text, sizeof text, &length), "k = 101 but");
  CHECK_REFUSED(kith_index_explain(index, 10, 3, NULL, 1, &length), "buffer of the text is null");
  CHECK_OK(kith_index_destroy(index));
  CHECK_OK(kith_options_destroy(options));
  free_points(&base);
}
