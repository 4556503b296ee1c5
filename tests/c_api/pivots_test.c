/* pivots_test.c: objects that Kith knows by their numbers alone, beside a loop over all of them. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "check.h"
#include "pairs.h"
#include "tests.h"

enum { OBJECTS = 240, QUERIES = 12 };

/* Objects are places in the plane, and what is handed to the callbacks. */
typedef struct places {
  double x[OBJECTS];
  double y[OBJECTS];
  const struct places* base; /* that queries are compared with */
  atomic_int count;
  int stop_at; /* the call that returns -3; 0 for none */
  int breaks;  /* 1: writes nothing, 2: breaks the triangle inequality */
  pthread_t owner;
  atomic_int elsewhere;
} places;

static void make_places(places* made, int64_t count, const places* base, uint32_t seed) {
  memset(made, 0, sizeof *made);
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    made->x[i] = (double)(seed >> 20);
    seed = seed * 1664525U + 1013904223U;
    made->y[i] = (double)(seed >> 20);
  }
  made->base = base == NULL ? made : base;
  made->owner = pthread_self();
}

static double plain_place(const void* context, int64_t query, int64_t id) {
  const places* const of = context;
  return fabs(of->x[query] - of->base->x[id]) + fabs(of->y[query] - of->base->y[id]);
}

static int32_t place_distance(int64_t query, int64_t object, double bound, double* distance, void* user) {
  places* const of = user;
  const int count = atomic_fetch_add(&of->count, 1) + 1;
  if (!pthread_equal(pthread_self(), of->owner)) atomic_fetch_add(&of->elsewhere, 1);
  if (count == of->stop_at) return -3;
  if (of->breaks == 1) return KITH_CONTINUE;
  const double there = plain_place(of, query, object);
  *distance = there > bound ? (double)INFINITY : of->breaks == 2 ? there * there : there;
  return KITH_CONTINUE;
}

static int32_t place_bounds(int64_t query, int64_t first, int64_t count, double* bounds, void* user) {
  places* const of = user;
  if (of->stop_at < 0) return KITH_CANCEL;
  for (int64_t i = 0; i < count; ++i) bounds[i] = fabs(of->x[query] - of->base->x[first + i]);
  return KITH_CONTINUE;
}

static kith_objects objects_of(places* of, int64_t count, int has_bounds) {
  return (kith_objects){
      .count = count, .distance = place_distance, .lower_bounds = has_bounds ? place_bounds : NULL, .user = of};
}

static int is_consistent(const kith_pivot_report* report, int64_t queries, int64_t pairs_, int calls) {
  return report->objects == OBJECTS && report->queries == queries && report->pairs == pairs_ &&
         report->evaluations == calls && report->pivot_evaluations <= report->evaluations && report->threads >= 1 &&
         report->seconds >= 0;
}

void pivots_find_the_nearest(void) {
  static const char* const choices[] = {"best-bounds", "farthest-first"};
  static places base;
  static places asked;
  static answer found;
  make_places(&base, OBJECTS, NULL, 1);
  make_places(&asked, QUERIES, &base, 2);
  const pairs all = {plain_place, &asked, QUERIES, OBJECTS, 0};
  const pairs self = {plain_place, &base, OBJECTS, OBJECTS, 1};
  const double radii[QUERIES] = {0, 10, 100, 200, 300, 400, 500, 600, 700, 800, 900, 5000};
  for (int i = 0; i < 8; ++i) {
    const int has_bounds = i / 2 % 2;
    kith_options* const options = options_with("pivots.choice", choices[i % 2]);
    CHECK_OK(kith_options_set(options, "pivots.integer_valued", i < 4 ? "1" : "0"));
    CHECK_OK(kith_options_set(options, "pivots.count", "9"));
    const kith_objects objects = objects_of(&base, OBJECTS, has_bounds);
    const kith_objects queries = objects_of(&asked, QUERIES, has_bounds);
    kith_pivot_index* index = NULL;
    kith_pivot_report report;
    kith_lists* lists = NULL;
    int64_t count = 0;
    int64_t pivots = 0;
    int64_t built = 0;
    atomic_store(&base.count, 0);
    atomic_store(&asked.count, 0);
    CHECK_OK(kith_pivot_index_create(&objects, options, &index));
    CHECK_OK(kith_pivot_index_shape(index, &count, &pivots, &built));
    CHECK(count == OBJECTS && pivots == 9 && built == atomic_load(&base.count));
    CHECK_OK(kith_pivot_index_shape(index, NULL, NULL, NULL));

    make_answer(&found, KITH_FLOAT64);
    CHECK_OK(kith_pivot_index_search(index, &queries, 5, &found.out, &report));
    CHECK(holds_nearest_pairs(&all, 5, &found.out));
    const int calls = atomic_load(&asked.count);
    CHECK(is_consistent(&report, QUERIES, QUERIES * OBJECTS, calls) && report.pivots == 9);
    CHECK(report.build_evaluations == built && (report.lower_bounds > 0) == has_bounds);
    CHECK(calls < QUERIES * OBJECTS / 2); /* most were passed over */
    atomic_store(&base.count, 0);
    CHECK_OK(kith_pivot_index_search_self(index, 4, &found.out, &report));
    CHECK(holds_nearest_pairs(&self, 4, &found.out));
    CHECK(is_consistent(&report, OBJECTS, OBJECTS * (OBJECTS - 1), atomic_load(&base.count)));

    CHECK_OK(kith_pivot_index_search_radius(index, &queries, radii, QUERIES, &lists, &report));
    CHECK(report.queries == QUERIES && are_pairs_within(&all, radii, QUERIES, lists));
    CHECK_OK(kith_pivot_index_search_radius_self(index, radii + 3, 1, &lists, &report));
    CHECK(report.queries == OBJECTS && are_pairs_within(&self, radii + 3, 1, lists));
    /* Nobody need be told. */
    CHECK_OK(kith_pivot_index_search(index, &queries, 5, &found.out, NULL));
    CHECK_OK(kith_pivot_index_search_radius(index, &queries, radii, 1, &lists, NULL));
    CHECK_OK(kith_lists_destroy(lists));
    CHECK_OK(kith_pivot_index_destroy(index));
    CHECK_OK(kith_options_destroy(options));
  }
}

void pivots_need_their_promises(void) {
  static places base;
  static answer found;
  make_places(&base, OBJECTS, NULL, 3);
  const kith_objects objects = objects_of(&base, OBJECTS, 0);
  kith_pivot_index* index = NULL;
  kith_pivot_report report;
  base.breaks = 1;
  CHECK_STATUS(kith_pivot_index_create(&objects, NULL, &index), KITH_BAD_DATA, "is nan");
  base.breaks = 2;
  CHECK_STATUS(kith_pivot_index_create(&objects, NULL, &index), KITH_BAD_DATA, "triangle inequality was promised");
  CHECK(index == NULL);
  /* Without the promise there are no pivots, and nothing is passed over. */
  kith_options* const options = options_with("pivots.triangle_inequality", "0");
  atomic_store(&base.count, 0);
  CHECK_OK(kith_pivot_index_create(&objects, options, &index));
  CHECK(atomic_load(&base.count) == 0);
  make_answer(&found, KITH_FLOAT64);
  CHECK_OK(kith_pivot_index_search_self(index, 4, &found.out, &report));
  CHECK(report.pivots == 0 && report.evaluations == OBJECTS * (OBJECTS - 1));
  CHECK_OK(kith_pivot_index_destroy(index));
  CHECK_OK(kith_options_set(options, "pivots.count", "4"));
  index = NULL;
  CHECK_REFUSED(kith_pivot_index_create(&objects, options, &index), "no triangle inequality");
  CHECK_OK(kith_options_set(options, "pivots.triangle_inequality", "1"));
  CHECK_OK(kith_options_set(options, "pivots.relative_error", "1"));
  CHECK_REFUSED(kith_pivot_index_create(&objects, options, &index), "relative_error = 1");
  CHECK_OK(kith_options_set(options, "pivots.relative_error", "0"));
  CHECK_OK(kith_options_set(options, "pivots.count", "241"));
  CHECK_REFUSED(kith_pivot_index_create(&objects, options, &index), "pivots = 241");
  CHECK(index == NULL);
  CHECK_OK(kith_options_destroy(options));
}

void pivots_of_one_thread_stay_there(void) {
  static places base;
  static answer found;
  make_places(&base, OBJECTS, NULL, 4);
  const kith_objects objects = objects_of(&base, OBJECTS, 0);
  kith_options* const options = options_with("threads", "1");
  kith_pivot_index* index = NULL;
  CHECK_OK(kith_pivot_index_create(&objects, options, &index));
  make_answer(&found, KITH_FLOAT64);
  CHECK_OK(kith_pivot_index_search_self(index, 4, &found.out, NULL));
  CHECK(atomic_load(&base.elsewhere) == 0);
  CHECK_OK(kith_pivot_index_destroy(index));
  CHECK_OK(kith_options_destroy(options));
}

static int32_t never_go_on(int64_t done, int64_t total, void* user) {
  (void)done;
  (void)total;
  (void)user;
  return KITH_CANCEL;
}

void pivots_are_cancelled(void) {
  static places base;
  static places asked;
  static answer found;
  make_places(&base, OBJECTS, NULL, 5);
  make_places(&asked, QUERIES, &base, 6);
  const double radius = 100;
  for (int threads = 1; threads < 4; threads += 2) {
    const kith_objects objects = objects_of(&base, OBJECTS, 1);
    const kith_objects queries = objects_of(&asked, QUERIES, 1);
    kith_options* const options = options_with(NULL, NULL);
    kith_pivot_index* index = NULL;
    kith_lists* lists = NULL;
    CHECK_OK(kith_options_set_int(options, "threads", threads));
    base.stop_at = atomic_load(&base.count) + 50;
    CHECK_STATUS(kith_pivot_index_create(&objects, options, &index), KITH_CANCELLED,
                 "the distance of objects returned -3, which ends the call");
    CHECK(index == NULL);
    base.stop_at = 0;
    CHECK_OK(kith_options_set_progress(options, never_go_on, NULL));
    CHECK_STATUS(kith_pivot_index_create(&objects, options, &index), KITH_CANCELLED, "cancelled");
    CHECK(index == NULL);
    CHECK_OK(kith_options_set_progress(options, NULL, NULL));
    CHECK_OK(kith_pivot_index_create(&objects, options, &index));
    make_answer(&found, KITH_FLOAT64);
    asked.stop_at = atomic_load(&asked.count) + 1;
    CHECK_STATUS(kith_pivot_index_search(index, &queries, 3, &found.out, NULL), KITH_CANCELLED, "returned -3");
    base.stop_at = atomic_load(&base.count) + 1;
    CHECK_STATUS(kith_pivot_index_search_self(index, 3, &found.out, NULL), KITH_CANCELLED, "returned -3");
    asked.stop_at = -1; /* the bounds */
    CHECK_STATUS(kith_pivot_index_search_radius(index, &queries, &radius, 1, &lists, NULL), KITH_CANCELLED,
                 "the lower bounds of objects returned 1, which ends the call");
    base.stop_at = -1;
    CHECK_STATUS(kith_pivot_index_search_radius_self(index, &radius, 1, &lists, NULL), KITH_CANCELLED, "lower bounds");
    CHECK(lists == NULL);
    base.stop_at = 0;
    asked.stop_at = 0;
    const pairs all = {plain_place, &asked, QUERIES, OBJECTS, 0};
    CHECK_OK(kith_pivot_index_search(index, &queries, 3, &found.out, NULL));
    CHECK(holds_nearest_pairs(&all, 3, &found.out));
    CHECK_OK(kith_pivot_index_destroy(index));
    CHECK_OK(kith_options_destroy(options));
  }
}

void pivot_indexes_refuse(void) {
  static places base;
  static answer found;
  make_places(&base, OBJECTS, NULL, 7);
  const kith_objects objects = objects_of(&base, OBJECTS, 0);
  kith_objects wrong = objects;
  kith_pivot_index* index = NULL;
  kith_lists* lists = NULL;
  const double radii[2] = {1, -1};
  wrong.distance = NULL;
  CHECK_REFUSED(kith_pivot_index_create(&wrong, NULL, &index), "the distance of base is null");
  CHECK_REFUSED(kith_pivot_index_create(NULL, NULL, &index), "base is null");
  CHECK_REFUSED(kith_pivot_index_create(&objects, NULL, NULL), "out is null");
  wrong = objects;
  wrong.count = 0;
  CHECK_REFUSED(kith_pivot_index_create(&wrong, NULL, &index), "an index of 0 objects");
  CHECK(index == NULL);

  CHECK_OK(kith_pivot_index_create(&objects, NULL, &index));
  make_answer(&found, KITH_FLOAT64);
  wrong = objects;
  wrong.count = -1;
  CHECK_REFUSED(kith_pivot_index_search(index, &wrong, 2, &found.out, NULL), "-1 queries");
  CHECK_REFUSED(kith_pivot_index_search_radius(index, &wrong, radii, 1, &lists, NULL), "-1 queries");
  wrong = objects;
  wrong.distance = NULL;
  CHECK_REFUSED(kith_pivot_index_search(index, &wrong, 2, &found.out, NULL), "the distance of queries is null");
  CHECK_REFUSED(kith_pivot_index_search_radius(index, &wrong, radii, 1, &lists, NULL), "distance of queries is null");
  CHECK_REFUSED(kith_pivot_index_search(index, NULL, 2, &found.out, NULL), "queries is null");
  CHECK_REFUSED(kith_pivot_index_search(index, &objects, 2, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_pivot_index_search(index, &objects, 0, &found.out, NULL), "k = 0");
  wrong = objects;
  wrong.count = 1;
  CHECK_REFUSED(kith_pivot_index_search(index, &wrong, OBJECTS + 1, &found.out, NULL), "k = 241 but");
  CHECK_REFUSED(kith_pivot_index_search_self(index, 2, NULL, NULL), "out is null");
  kith_neighbors bad = found.out;
  bad.dtype = KITH_FLOAT32;
  CHECK_REFUSED(kith_pivot_index_search(index, &objects, 2, &bad, NULL), "out is of type float32; it must be float64");
  bad = found.out;
  bad.capacity = 2 * OBJECTS - 1;
  CHECK_REFUSED(kith_pivot_index_search_self(index, 2, &bad, NULL), "240 × 2 are needed");
  bad = found.out;
  bad.memory = KITH_DEVICE;
  CHECK_REFUSED(kith_pivot_index_search_self(index, 2, &bad, NULL), "comes to host memory");
  CHECK_REFUSED(kith_pivot_index_search_radius(index, &objects, radii, 2, &lists, NULL), "2 radii for 240 queries");
  CHECK_REFUSED(kith_pivot_index_search_radius(index, &objects, radii + 1, 1, &lists, NULL), "radius 0 is -1");
  CHECK_REFUSED(kith_pivot_index_search_radius(index, &objects, radii, 1, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_pivot_index_search_radius_self(index, NULL, 1, &lists, NULL), "radii of 1 elements is null");
  CHECK_REFUSED(kith_pivot_index_search_radius_self(index, radii, 1, NULL, NULL), "out is null");
  CHECK(lists == NULL);
  CHECK_OK(kith_pivot_index_destroy(index));

  CHECK_REFUSED(kith_pivot_index_search(index, &objects, 2, &found.out, NULL), "is no kith_pivot_index");
  CHECK_REFUSED(kith_pivot_index_search_self(index, 2, &found.out, NULL), "is no kith_pivot_index");
  CHECK_REFUSED(kith_pivot_index_search_radius(index, &objects, radii, 1, &lists, NULL), "is no kith_pivot_index");
  CHECK_REFUSED(kith_pivot_index_search_radius_self(index, radii, 1, &lists, NULL), "is no kith_pivot_index");
  CHECK_REFUSED(kith_pivot_index_shape(NULL, NULL, NULL, NULL), "the kith_pivot_index is null");
  CHECK_REFUSED(kith_pivot_index_destroy(index), "is no kith_pivot_index");
  CHECK_OK(kith_pivot_index_destroy(NULL));
}
