/* reduce_test.c: what is made of neighborhoods. */
#include <string.h>

#include "check.h"
#include "tests.h"

void reductions_are_right(void) {
  static const char* const operations[] = {"mean", "sum", "min", "max", "kth-distance"};
  for (int i = 0; i < 6; ++i) {
    const kith_dtype dtype = all_dtypes[i];
    const kith_dtype distances = kith_distance_dtype(dtype);
    points base = make_points(90, 3, dtype, 101);
    points queries = make_points(8, 3, dtype, 102);
    points values = make_points(90, 2, distances, 103);
    kith_index* index = NULL;
    CHECK_OK(kith_index_create(&base.matrix, NULL, NULL, &index));
    for (int op = 0; op < 5; ++op) {
      int64_t columns = 0;
      double memory[17];
      memory[16] = 7;
      CHECK_OK(kith_reduced_columns(operations[op], 2, 3, &columns));
      CHECK(columns == (op == 4 ? 1 : 2));
      const kith_array out = {.data = memory, .capacity = 8 * columns, .dtype = distances};
      /* Four of them: a mean is exact. */
      CHECK_OK(
          kith_index_reduce(index, &queries.matrix, 4, op == 4 ? NULL : &values.matrix, operations[op], &out, NULL));
      for (int64_t query = 0; query < 8; ++query) {
        int64_t ids[4];
        double found[4];
        plain_search(&base, &queries, query, 4, "euclidean", -1, ids, found);
        for (int64_t c = 0; c < columns; ++c) {
          double wanted = op == 2 ? 1e9 : op == 3 ? -1e9 : 0;
          for (int n = 0; n < 4; ++n) {
            const double value = values.exact[ids[n] * 2 + c];
            if (op < 2) wanted += op == 0 ? value / 4 : value;
            if (op == 2 && value < wanted) wanted = value;
            if (op == 3 && value > wanted) wanted = value;
          }
          if (op == 4) wanted = found[3];
          CHECK(distance_at(memory, distances, query * columns + c) == wanted);
        }
      }
      CHECK(memory[16] == 7);
    }
    CHECK_OK(kith_index_destroy(index));
    free_points(&base);
    free_points(&queries);
    free_points(&values);
  }
}

void reductions_refuse(void) {
  points base = make_points(30, 3, KITH_FLOAT32, 111);
  points queries = make_points(2, 3, KITH_FLOAT32, 112);
  points values = make_points(30, 2, KITH_FLOAT32, 113);
  points doubles = make_points(30, 2, KITH_FLOAT64, 114);
  points few = make_points(29, 2, KITH_FLOAT32, 115);
  kith_index* index = NULL;
  CHECK_OK(kith_index_create(&base.matrix, NULL, NULL, &index));
  float memory[4];
  const kith_array out = {.data = memory, .capacity = 4, .dtype = KITH_FLOAT32};
  CHECK_OK(kith_index_reduce(index, &queries.matrix, 3, &values.matrix, "mean", &out, NULL));
  CHECK_REFUSED(kith_index_reduce(index, &queries.matrix, 3, NULL, "mean", &out, NULL), "values is null");
  CHECK_REFUSED(kith_index_reduce(index, NULL, 3, &values.matrix, "mean", &out, NULL), "queries is null");
  CHECK_REFUSED(kith_index_reduce(index, &queries.matrix, 3, &values.matrix, NULL, &out, NULL), "operation is null");
  CHECK_REFUSED(kith_index_reduce(index, &queries.matrix, 3, &values.matrix, "median", &out, NULL), "'median'");
  CHECK_REFUSED(kith_index_reduce(index, &queries.matrix, 3, &values.matrix, "mean", NULL, NULL), "out is null");
  CHECK_REFUSED(kith_index_reduce(index, &queries.matrix, 31, &values.matrix, "mean", &out, NULL), "k = 31 but");
  CHECK_REFUSED(kith_index_reduce(index, &queries.matrix, 3, &doubles.matrix, "mean", &out, NULL),
                "values is of type float64; it must be float32");
  CHECK_REFUSED(kith_index_reduce(index, &queries.matrix, 3, &few.matrix, "mean", &out, NULL),
                "29 rows of values for 30 base points");
  kith_array wrong = out;
  wrong.capacity = 3;
  CHECK_REFUSED(kith_index_reduce(index, &queries.matrix, 3, &values.matrix, "mean", &wrong, NULL),
                "out has room for 3 elements; 2 × 2 are needed");
  wrong = out;
  wrong.data = NULL;
  CHECK_REFUSED(kith_index_reduce(index, &queries.matrix, 3, &values.matrix, "mean", &wrong, NULL), "out is null");
  wrong = out;
  wrong.dtype = KITH_FLOAT64;
  CHECK_REFUSED(kith_index_reduce(index, &queries.matrix, 3, &values.matrix, "mean", &wrong, NULL), "out is of type");
  wrong = out;
  wrong.memory = 9;
  CHECK_REFUSED(kith_index_reduce(index, &queries.matrix, 3, &values.matrix, "mean", &wrong, NULL), "memory 9");

  int64_t columns = -1;
  CHECK_OK(kith_reduced_columns("covariance", 0, 3, &columns));
  CHECK(columns == 6);
  CHECK_REFUSED(kith_reduced_columns("mean", 0, 3, &columns), "values of 0 columns; mean needs at least one");
  CHECK_REFUSED(kith_reduced_columns("covariance", 0, 0, &columns), "0 dimensions");
  CHECK_REFUSED(kith_reduced_columns("covariance", 0, INT64_MAX, &columns), "dimensions; from 1 to");
  CHECK_REFUSED(kith_reduced_columns("median", 1, 3, &columns), "'median'");
  CHECK_REFUSED(kith_reduced_columns(NULL, 1, 3, &columns), "operation is null");
  CHECK_REFUSED(kith_reduced_columns("mean", 1, 3, NULL), "out is null");
  CHECK(columns == 6);
  CHECK_OK(kith_index_destroy(index));
  free_points(&base);
  free_points(&queries);
  free_points(&values);
  free_points(&doubles);
  free_points(&few);
}
