/* The points of a 100 x 100 grid nearest to two places on it. */
#include <kith.h>
#include <stdio.h>

int main(void) {
  static float grid[10000][2];
  for (int i = 0; i < 10000; ++i) {
    grid[i][0] = (float)(i % 100);
    grid[i][1] = (float)(i / 100);
  }
  const float places[2][2] = {{3.2F, 7.9F}, {41.0F, 58.6F}};
  const kith_matrix base = {.data = grid, .rows = 10000, .cols = 2, .dtype = KITH_FLOAT32};
  const kith_matrix queries = {.data = places, .rows = 2, .cols = 2, .dtype = KITH_FLOAT32};
  int64_t ids[2][3];
  float distances[2][3];
  const kith_neighbors found = {.ids = ids[0], .distances = distances[0], .capacity = 6, .dtype = KITH_FLOAT32};

  kith_options* options = NULL;
  kith_index* index = NULL;
  kith_status status = kith_options_create(&options);
  if (status == KITH_OK) status = kith_options_set(options, "metric", "euclidean");
  if (status == KITH_OK) status = kith_index_create(&base, options, NULL, &index);
  if (status == KITH_OK) status = kith_index_search(index, &queries, 3, &found, NULL);
  if (status != KITH_OK) fprintf(stderr, "%s: %s\n", kith_status_name(status), kith_last_error());
  for (int query = 0; status == KITH_OK && query < 2; ++query) {
    printf("query %d:", query);
    for (int i = 0; i < 3; ++i) printf("  %d at %.3f", (int)ids[query][i], distances[query][i]);
    printf("\n");
  }
  kith_index_destroy(index);
  kith_options_destroy(options);
  return status != KITH_OK;
}
