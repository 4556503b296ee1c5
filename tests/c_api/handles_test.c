/* handles_test.c: handles that are none, and memory of devices. */
#include <string.h>

#include "check.h"
#include "tests.h"

/* Every function that takes an index, with what is none. */
static void refuse_index(kith_index* index, const char* text) {
  points queries = make_points(2, 3, KITH_FLOAT32, 171);
  static answer found;
  make_answer(&found, KITH_FLOAT32);
  const double radius = 1;
  float memory[6];
  char plan[64];
  const kith_array out = {.data = memory, .capacity = 6, .dtype = KITH_FLOAT32};
  kith_lists* lists = NULL;
  CHECK_REFUSED(kith_index_shape(index, NULL, NULL, NULL), text);
  CHECK_REFUSED(kith_index_search(index, &queries.matrix, 1, &found.out, NULL), text);
  CHECK_REFUSED(kith_index_search_limited(index, &queries.matrix, 1, 1, 0, &found.out, NULL), text);
  CHECK_REFUSED(kith_index_search_self(index, 1, &found.out, NULL), text);
  CHECK_REFUSED(kith_index_search_radius(index, &queries.matrix, &radius, 1, 0, NULL, &lists), text);
  CHECK_REFUSED(kith_index_search_radius_self(index, &radius, 1, 0, NULL, &lists), text);
  CHECK_REFUSED(kith_index_graph(index, 1, NULL, NULL, &lists), text);
  CHECK_REFUSED(kith_index_reduce(index, &queries.matrix, 1, NULL, "kth-distance", &out, NULL), text);
  CHECK_REFUSED(kith_index_explain(index, 1, 1, plan, sizeof plan, NULL), text);
  CHECK(lists == NULL);
  free_points(&queries);
}

void handles_are_found_out(void) {
  points base = make_points(30, 3, KITH_FLOAT32, 172);
  kith_options* const options = options_with(NULL, NULL);
  kith_index* index = NULL;
  CHECK_OK(kith_index_create(&base.matrix, options, NULL, &index));
  CHECK(kith_live_handles() == 2);

  /* Of another kind, in both directions. */
  refuse_index((kith_index*)(void*)options, "is no kith_index");
  CHECK_REFUSED(kith_index_destroy((kith_index*)(void*)options), "is no kith_index");
  CHECK_REFUSED(kith_options_set((kith_options*)(void*)index, "metric", "cosine"), "is no kith_options");
  CHECK_REFUSED(kith_options_destroy((kith_options*)(void*)index), "is no kith_options");
  CHECK_REFUSED(kith_lists_destroy((kith_lists*)(void*)index), "is no kith_lists");
  /* The address of a handle in its place. */
  refuse_index((kith_index*)(void*)&index, "is no kith_index");

  CHECK_OK(kith_options_destroy(options));
  CHECK(kith_live_handles() == 1);
  CHECK_REFUSED(kith_options_set(options, "metric", "cosine"), "it was destroyed, or is a handle of another kind");
  kith_index* none = NULL;
  CHECK_REFUSED(kith_index_create(&base.matrix, options, NULL, &none), "is no kith_options");
  CHECK(none == NULL);

  CHECK_OK(kith_index_destroy(index));
  refuse_index(index, "is no kith_index");
  CHECK_REFUSED(kith_index_destroy(index), "is no kith_index");
  refuse_index(NULL, "the kith_index is null");

  /* What is made afterwards is never taken for it. */
  for (int i = 0; i < 100; ++i) {
    kith_index* other = NULL;
    CHECK_OK(kith_index_create(&base.matrix, NULL, NULL, &other));
    CHECK(other != index);
    CHECK_REFUSED(kith_index_destroy(index), "is no kith_index");
    CHECK_OK(kith_index_destroy(other));
  }
  free_points(&base);
}

void devices_are_refused_by_the_cpu(void) {
  points base = make_points(30, 3, KITH_FLOAT32, 181);
  kith_options* const options = options_with("backend", "cpu");
  kith_matrix there = base.matrix;
  there.memory = KITH_DEVICE;
  kith_index* index = NULL;
  static answer found;
  make_answer(&found, KITH_FLOAT32);
  CHECK_REFUSED(kith_index_create(&there, options, NULL, &index), "backend cpu for values on a device");
  CHECK_REFUSED(kith_search(&there, &base.matrix, 2, options, &found.out, NULL), "backend cpu for values on a device");
  CHECK_REFUSED(kith_search(&base.matrix, &there, 2, options, &found.out, NULL), "backend cpu for values on a device");

  CHECK_OK(kith_index_create(&base.matrix, options, NULL, &index));
  CHECK_REFUSED(kith_index_search(index, &there, 2, &found.out, NULL),
                "queries on a device for an index of backend cpu");
  found.out.memory = KITH_DEVICE;
  CHECK_REFUSED(kith_index_search(index, &base.matrix, 2, &found.out, NULL), "an answer on a device for an index");
  CHECK_REFUSED(kith_index_search_self(index, 2, &found.out, NULL), "an answer on a device for an index");
  float memory[60];
  kith_array out = {.data = memory, .capacity = 60, .dtype = KITH_FLOAT32, .memory = KITH_DEVICE};
  CHECK_REFUSED(kith_index_reduce(index, &base.matrix, 2, NULL, "kth-distance", &out, NULL),
                "values or an answer on a device");
  CHECK_REFUSED(kith_topk(&base.matrix, 2, 0, options, &out, NULL, NULL), "backend cpu for values on a device");
  out.memory = KITH_HOST;
  CHECK_REFUSED(kith_topk(&there, 2, 0, options, &out, NULL, NULL), "backend cpu for values on a device");
  CHECK_REFUSED(kith_distances(&there, &base.matrix, options, &out, NULL), "out has room for 60 elements");
  CHECK_OK(kith_index_destroy(index));

  char backends[64];
  CHECK_OK(kith_available_backends(backends, sizeof backends, NULL));
  if (strstr(backends, "cuda") == NULL) {
    index = NULL;
    CHECK_STATUS(kith_index_create(&there, NULL, NULL, &index), KITH_NO_DEVICE, "this build and machine have");
    CHECK(index == NULL);
  }
  CHECK_OK(kith_options_destroy(options));
  free_points(&base);
}
