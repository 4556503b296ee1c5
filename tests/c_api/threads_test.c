/* threads_test.c: many threads at one handle, and searches that are told to stop. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "check.h"
#include "tests.h"

typedef struct calls {
  int64_t count;
  int64_t last;
  int64_t total;
  int32_t answer;
  int ascends;
} calls;

static int32_t on_progress(int64_t done, int64_t total, void* user) {
  calls* const seen = user;
  if (done < seen->last || done > total) seen->ascends = 0;
  seen->last = done;
  seen->total = total;
  ++seen->count;
  return seen->answer;
}

void searches_are_cancelled(void) {
  points base = make_points(3000, 20, KITH_FLOAT32, 191);
  points queries = make_points(400, 20, KITH_FLOAT32, 192);
  kith_options* const options = options_with("method", "brute");
  CHECK_OK(kith_options_set(options, "backend", "cpu"));
  calls seen = {.answer = KITH_CONTINUE, .ascends = 1};
  CHECK_OK(kith_options_set_progress(options, on_progress, &seen));
  static answer found;
  make_answer(&found, KITH_FLOAT32);
  CHECK_OK(kith_search(&base.matrix, &queries.matrix, 5, options, &found.out, NULL));
  CHECK(same_as_plain(&base, &queries, 5, "euclidean", 0, &found.out));
  CHECK(seen.count > 0 && seen.ascends && seen.last > 0 && seen.total >= seen.last);

  seen = (calls){.answer = KITH_CANCEL, .ascends = 1};
  CHECK_STATUS(kith_search(&base.matrix, &queries.matrix, 5, options, &found.out, NULL), KITH_CANCELLED, "cancelled");
  CHECK(seen.count == 1);
  seen = (calls){.answer = -5, .ascends = 1};
  CHECK_STATUS(kith_search(&base.matrix, &queries.matrix, 5, options, &found.out, NULL), KITH_CANCELLED, "cancelled");

  /* An index keeps callback and pointer; the options may go. */
  kith_index* index = NULL;
  seen = (calls){.answer = KITH_CONTINUE, .ascends = 1};
  CHECK_OK(kith_index_create(&base.matrix, options, NULL, &index));
  CHECK_OK(kith_options_set_progress(options, NULL, NULL));
  CHECK_OK(kith_search(&base.matrix, &queries.matrix, 5, options, &found.out, NULL));
  const int64_t before = seen.count;
  CHECK_OK(kith_options_destroy(options));
  CHECK_OK(kith_index_search(index, &queries.matrix, 5, &found.out, NULL));
  CHECK(seen.count > before);
  seen.answer = KITH_CANCEL;
  CHECK_STATUS(kith_index_search(index, &queries.matrix, 5, &found.out, NULL), KITH_CANCELLED, "cancelled");
  kith_lists* lists = NULL;
  const double radius = 3;
  CHECK_STATUS(kith_index_search_radius(index, &queries.matrix, &radius, 1, 0, NULL, &lists), KITH_CANCELLED,
               "cancelled");
  CHECK(lists == NULL);
  /* The next one is whole again. */
  seen.answer = KITH_CONTINUE;
  make_answer(&found, KITH_FLOAT32);
  CHECK_OK(kith_index_search(index, &queries.matrix, 5, &found.out, NULL));
  CHECK(same_as_plain(&base, &queries, 5, "euclidean", 0, &found.out));
  CHECK_OK(kith_index_destroy(index));
  free_points(&base);
  free_points(&queries);
}

enum { THREADS = 4 };

typedef struct shared {
  kith_index* index;
  kith_options* options;
  const points* base;
  const points* queries;
  atomic_int started;
  atomic_int number;
} shared;

static void run_threads(void* (*work)(void*), shared* with, pthread_t* threads) {
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, work, with) == 0);
}

static void join_threads(const pthread_t* threads) {
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
}

static void* search_and_fail(void* context) {
  shared* const with = context;
  const int number = atomic_fetch_add(&with->number, 1);
  int64_t ids[60];
  float distances[60];
  const kith_neighbors out = {.ids = ids, .distances = distances, .capacity = 60, .dtype = KITH_FLOAT32};
  char text[32];
  for (int round = 0; round < 30; ++round) {
    CHECK_OK(kith_index_search(with->index, &with->queries->matrix, 5, &out, NULL));
    CHECK(same_as_plain(with->base, with->queries, 5, "euclidean", 0, &out));
    /* Each thread has its own error. */
    const int64_t k = 1000 + number;
    memcpy(text, "elements; 12 \xC3\x97 100", 20);
    text[19] = (char)('0' + number);
    text[20] = '\0';
    CHECK_REFUSED(kith_index_search(with->index, &with->queries->matrix, k, &out, NULL), text);
  }
  return NULL;
}

void threads_share_an_index(void) {
  points base = make_points(200, 4, KITH_FLOAT32, 201);
  points queries = make_points(12, 4, KITH_FLOAT32, 202);
  shared with = {.base = &base, .queries = &queries};
  pthread_t threads[THREADS];
  CHECK_OK(kith_index_create(&base.matrix, NULL, NULL, &with.index));
  run_threads(search_and_fail, &with, threads);
  join_threads(threads);
  CHECK_OK(kith_index_destroy(with.index));
  free_points(&base);
  free_points(&queries);
}

static void* set_and_get(void* context) {
  shared* const with = context;
  char text[64];
  for (int round = 0; round < 200; ++round) {
    CHECK_OK(kith_options_set(with->options, "metric", round % 2 ? "cosine" : "manhattan"));
    CHECK_OK(kith_options_get(with->options, "metric", text, sizeof text, NULL));
    CHECK(strcmp(text, "cosine") == 0 || strcmp(text, "manhattan") == 0);
    const double period[] = {1, 2, 3};
    CHECK_OK(kith_options_set_doubles(with->options, "period", period, round % 4));
  }
  return NULL;
}

void threads_share_options(void) {
  shared with = {.options = options_with(NULL, NULL)};
  pthread_t threads[THREADS];
  run_threads(set_and_get, &with, threads);
  join_threads(threads);
  CHECK_OK(kith_options_destroy(with.options));
}

/* Searches until the index is gone: each answer before that is right, and the end is an error. */
static void* search_until_destroyed(void* context) {
  shared* const with = context;
  int64_t ids[60];
  float distances[60];
  const kith_neighbors out = {.ids = ids, .distances = distances, .capacity = 60, .dtype = KITH_FLOAT32};
  for (;;) {
    const kith_status status = kith_index_search(with->index, &with->queries->matrix, 5, &out, NULL);
    if (status != KITH_OK) {
      CHECK(status == KITH_INVALID_ARGUMENT && strstr(kith_last_error(), "is no kith_index") != NULL);
      return NULL;
    }
    CHECK(same_as_plain(with->base, with->queries, 5, "euclidean", 0, &out));
    atomic_fetch_add(&with->started, 1);
  }
}

void calls_outlive_their_handle(void) {
  points base = make_points(500, 4, KITH_FLOAT32, 211);
  points queries = make_points(12, 4, KITH_FLOAT32, 212);
  shared with = {.base = &base, .queries = &queries};
  pthread_t threads[THREADS];
  CHECK_OK(kith_index_create_copy(&base.matrix, NULL, &with.index));
  run_threads(search_until_destroyed, &with, threads);
  while (atomic_load(&with.started) < 3 * THREADS) sched_yield();
  CHECK_OK(kith_index_destroy(with.index));
  join_threads(threads);
  free_points(&base);
  free_points(&queries);
}
