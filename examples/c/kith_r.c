/* Kith for R's .C(), which passes pointers to the values of vectors. Matrices of R have one point a row, and columns
   one after the other. */
#include <kith.h>
#include <stdlib.h>

void kith_r_search(const double* base, const int* rows, const int* cols, const double* queries, const int* query_rows,
                   const int* k, double* ids, double* distances, char** error) {
  const kith_matrix points = {
      .data = base, .rows = *rows, .cols = *cols, .row_stride = 1, .col_stride = *rows, .dtype = KITH_FLOAT64};
  const kith_matrix places = {.data = queries,
                              .rows = *query_rows,
                              .cols = *cols,
                              .row_stride = 1,
                              .col_stride = *query_rows,
                              .dtype = KITH_FLOAT64};
  const int64_t count = (int64_t)*query_rows * *k;
  int64_t* const found = malloc((size_t)count * sizeof *found);
  const kith_neighbors out = {.ids = found, .distances = distances, .capacity = count, .dtype = KITH_FLOAT64};
  if (kith_search(&points, &places, *k, NULL, &out, NULL) != KITH_OK) *error = (char*)(uintptr_t)kith_last_error();
  for (int64_t i = 0; **error == '\0' && i < count; ++i) ids[i] = (double)found[i] + 1; /* rows are counted from 1 */
  free(found);
}
