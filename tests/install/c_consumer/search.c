/* A user of kith.h in a project without C++: a right answer, and an error. */
#include <kith.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  if (kith_c_api_version() != KITH_C_API_VERSION) {
    printf("header %d, library %d\n", KITH_C_API_VERSION, (int)kith_c_api_version());
    return 1;
  }
  const float points[3][2] = {{0, 0}, {3, 4}, {6, 8}};
  const float place[1][2] = {{3, 3}};
  const kith_matrix base = {.data = points, .rows = 3, .cols = 2, .dtype = KITH_FLOAT32};
  const kith_matrix query = {.data = place, .rows = 1, .cols = 2, .dtype = KITH_FLOAT32};
  int64_t ids[2];
  float distances[2];
  const kith_neighbors found = {.ids = ids, .distances = distances, .capacity = 2, .dtype = KITH_FLOAT32};
  if (kith_search(&base, &query, 2, NULL, &found, NULL) != KITH_OK || ids[0] != 1 || ids[1] != 0 || distances[0] != 1) {
    printf("wrong neighbors, or: %s\n", kith_last_error());
    return 1;
  }
  if (kith_search(&base, &query, 4, NULL, &found, NULL) != KITH_INVALID_ARGUMENT ||
      strstr(kith_last_error(), "has room for 2 elements") == NULL) {
    printf("k = 4 of 3 points was not refused\n");
    return 1;
  }
  return 0;
}
