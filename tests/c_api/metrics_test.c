/* metrics_test.c: metrics by their definition: by name, by a formula, by a function of C. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pairs.h"
#include "tests.h"

enum { ROWS = 60, QUERIES = 8, DIMS = 4 };

static const double weights[DIMS] = {1, 0.5, 2, 4};

typedef struct custom_pairs {
  const points* queries;
  const points* base;
  const char* metric;
} custom_pairs;

/* In double, added up from left to right as the definition has it; rounded as answers are. */
static double plain_custom(const void* context, int64_t query, int64_t id) {
  const custom_pairs* const of = context;
  double above = 0;
  double below = 0;
  for (int64_t c = 0; c < DIMS; ++c) {
    const double x = of->queries->exact[query * DIMS + c];
    const double y = of->base->exact[id * DIMS + c];
    if (strcmp(of->metric, "ratio") == 0) {
      above += fabs(x - y) * (1 + (double)c);
    } else if (strcmp(of->metric, "braycurtis") == 0) {
      above += fabs(x - y);
      below += fabs(x + y);
    } else { /* minkowski with weights, p = 1 */
      above += weights[c] * fabs(x - y);
    }
  }
  const double distance = below > 0 ? above / below : above;
  return kith_distance_dtype(of->base->matrix.dtype) == KITH_FLOAT64 ? distance : (double)(float)distance;
}

/* What a callback of the tests is handed. */
typedef struct calls {
  atomic_int count;
  int stop_at; /* the call that returns `answer`; 0 for none */
  int32_t answer;
  int writes;      /* whether it writes a distance */
  int threads;     /* that may call: 1, or 0 for any number */
  pthread_t owner; /* the thread that searches */
  atomic_int elsewhere;
} calls;

static int32_t ratio(const double* query, const double* row, int64_t dims, double* distance, void* user) {
  calls* const mine = user;
  const int count = atomic_fetch_add(&mine->count, 1) + 1;
  if (!pthread_equal(pthread_self(), mine->owner)) atomic_fetch_add(&mine->elsewhere, 1);
  if (count == mine->stop_at) return mine->answer;
  double sum = 0;
  for (int64_t c = 0; c < dims; ++c) sum += fabs(query[c] - row[c]) * (1 + (double)c);
  if (mine->writes) *distance = sum;
  return KITH_CONTINUE;
}

static void start_calls(calls* made, int threads) {
  memset(made, 0, sizeof *made);
  made->writes = 1;
  made->threads = threads;
  made->owner = pthread_self();
}

/* All searches of an index beside the loop. */
static void check_custom(const kith_metric* metric, const char* name, kith_dtype dtype) {
  static answer found;
  points base = make_points(ROWS, DIMS, dtype, 71);
  points queries = make_points(QUERIES, DIMS, dtype, 72);
  const kith_dtype distances = kith_distance_dtype(dtype);
  const custom_pairs asked = {&queries, &base, name};
  const custom_pairs among = {&base, &base, name};
  const pairs all = {plain_custom, &asked, QUERIES, ROWS, 0};
  const pairs self = {plain_custom, &among, ROWS, ROWS, 1};
  const double radii[QUERIES] = {0, 0.5, 1, 3, 10, 20, 40, 80};
  kith_custom_index* index = NULL;
  kith_lists* lists = NULL;
  int64_t rows = 0;
  int64_t dims = 0;
  kith_dtype type = 0;
  CHECK_OK(kith_custom_index_create_copy(metric, &base.matrix, NULL, &index));
  memset((void*)(uintptr_t)base.matrix.data, 0, (size_t)(ROWS * DIMS * kith_dtype_size(dtype)));
  CHECK_OK(kith_custom_index_shape(index, &rows, &dims, &type));
  CHECK(rows == ROWS && dims == DIMS && type == dtype);
  CHECK_OK(kith_custom_index_shape(index, NULL, NULL, NULL));
  make_answer(&found, distances);
  CHECK_OK(kith_custom_index_search(index, &queries.matrix, 5, &found.out));
  CHECK(holds_nearest_pairs(&all, 5, &found.out));
  CHECK_OK(kith_custom_index_search_self(index, 3, &found.out));
  CHECK(holds_nearest_pairs(&self, 3, &found.out));
  CHECK_OK(kith_custom_index_search_radius(index, &queries.matrix, radii, QUERIES, 0, &lists));
  CHECK(are_pairs_within(&all, radii, QUERIES, lists));
  CHECK_OK(kith_custom_index_search_radius_self(index, radii + 3, 1, 1, &lists));
  CHECK(are_pairs_within(&self, radii + 3, 1, lists));
  double memory[ROWS * QUERIES];
  const kith_array out = {.data = memory, .capacity = ROWS * QUERIES, .dtype = distances};
  CHECK_OK(kith_custom_index_distances(index, &queries.matrix, &out));
  int wrong = 0;
  for (int64_t query = 0; query < QUERIES; ++query)
    for (int64_t id = 0; id < ROWS; ++id)
      wrong += distance_at(memory, distances, query * ROWS + id) != plain_custom(&asked, query, id);
  CHECK(wrong == 0);
  CHECK_OK(kith_custom_index_destroy(index));
  free_points(&base);
  free_points(&queries);
}

void metrics_are_searched_by(void) {
  const double one = 1;
  const kith_metric_parameter weighted[] = {{.name = "w", .values = weights, .count = DIMS},
                                            {.name = "p", .values = &one, .count = 1}};
  for (int i = 0; i < 6; ++i) {
    calls counted;
    kith_metric* metric = NULL;
    CHECK_OK(kith_metric_create("braycurtis", NULL, 0, &metric));
    if (all_dtypes[i] == KITH_UINT8) check_custom(metric, "braycurtis", all_dtypes[i]); /* no zero below */
    CHECK_OK(kith_metric_destroy(metric));
    CHECK_OK(kith_metric_create("minkowski", weighted, 2, &metric));
    check_custom(metric, "weighted", all_dtypes[i]);
    CHECK_OK(kith_metric_destroy(metric));
    CHECK_OK(kith_metric_create_formula("sum(abs(x - y) * (1 + i))", &metric));
    check_custom(metric, "ratio", all_dtypes[i]);
    CHECK_OK(kith_metric_destroy(metric));
    start_calls(&counted, 0);
    CHECK_OK(kith_metric_create_function(ratio, &counted, 0, &metric));
    check_custom(metric, "ratio", all_dtypes[i]);
    CHECK_OK(kith_metric_destroy(metric));
    CHECK(atomic_load(&counted.count) >= 2 * ROWS * QUERIES);
  }
}

void metrics_of_one_thread_stay_there(void) {
  static answer found;
  points base = make_points(200, DIMS, KITH_FLOAT64, 81);
  kith_options* const options = options_with("threads", "4");
  calls counted;
  start_calls(&counted, 1);
  kith_metric* metric = NULL;
  kith_custom_index* index = NULL;
  CHECK_OK(kith_metric_create_function(ratio, &counted, 1, &metric));
  CHECK_OK(kith_custom_index_create(metric, &base.matrix, options, &index));
  /* The index keeps its metric. */
  CHECK_OK(kith_metric_destroy(metric));
  make_answer(&found, KITH_FLOAT64);
  CHECK_OK(kith_custom_index_search_self(index, 4, &found.out));
  CHECK(atomic_load(&counted.count) >= 200 * 199 / 2 && atomic_load(&counted.elsewhere) == 0);
  CHECK_OK(kith_custom_index_destroy(index));
  CHECK_OK(kith_options_destroy(options));
  free_points(&base);
}

void metrics_end_searches(void) {
  static answer found;
  points base = make_points(ROWS, DIMS, KITH_FLOAT32, 91);
  for (int threads = 0; threads < 2; ++threads) {
    calls counted;
    start_calls(&counted, threads);
    kith_options* const options = options_with("threads", "3");
    kith_metric* metric = NULL;
    kith_custom_index* index = NULL;
    kith_lists* lists = NULL;
    const double radius = 5;
    float memory[ROWS * ROWS];
    const kith_array out = {.data = memory, .capacity = ROWS * ROWS, .dtype = KITH_FLOAT32};
    CHECK_OK(kith_metric_create_function(ratio, &counted, threads, &metric));
    CHECK_OK(kith_custom_index_create(metric, &base.matrix, options, &index));
    make_answer(&found, KITH_FLOAT32);
    const int32_t answers[2] = {KITH_CANCEL, -7};
    for (int i = 0; i < 2; ++i) {
      const char* const text = i == 0 ? "the metric's function returned 1, which ends" : "function returned -7";
      counted.answer = answers[i];
      counted.stop_at = atomic_load(&counted.count) + 100;
      CHECK_STATUS(kith_custom_index_search(index, &base.matrix, 3, &found.out), KITH_CANCELLED, text);
      counted.stop_at = atomic_load(&counted.count) + 1;
      CHECK_STATUS(kith_custom_index_search_self(index, 3, &found.out), KITH_CANCELLED, text);
      counted.stop_at = atomic_load(&counted.count) + 1;
      CHECK_STATUS(kith_custom_index_search_radius(index, &base.matrix, &radius, 1, 0, &lists), KITH_CANCELLED, text);
      counted.stop_at = atomic_load(&counted.count) + 1;
      CHECK_STATUS(kith_custom_index_distances(index, &base.matrix, &out), KITH_CANCELLED, text);
    }
    CHECK(lists == NULL);
    /* The next search is whole again; distances that are not written are NaN, and last. */
    counted.stop_at = 0;
    CHECK_OK(kith_custom_index_search(index, &base.matrix, 3, &found.out));
    CHECK(found.ids[0] >= 0 && distance_at(found.distances, KITH_FLOAT32, 0) == 0);
    counted.writes = 0;
    CHECK_OK(kith_custom_index_distances(index, &base.matrix, &out));
    CHECK(isnan(memory[0]) && isnan(memory[ROWS * ROWS - 1]));
    CHECK_OK(kith_custom_index_destroy(index));
    CHECK_OK(kith_metric_destroy(metric));
    CHECK_OK(kith_options_destroy(options));
  }
  free_points(&base);
}

void formulas_are_recognized(void) {
  static answer found;
  points base = make_points(ROWS, DIMS, KITH_FLOAT32, 95);
  kith_options* const options = options_with("method", "tree");
  kith_metric* metric = NULL;
  kith_custom_index* index = NULL;
  CHECK_OK(kith_metric_create_formula("sum(abs(x - y))", &metric));
  CHECK_OK(kith_custom_index_create(metric, &base.matrix, options, &index));
  make_answer(&found, KITH_FLOAT32);
  CHECK_OK(kith_custom_index_search_self(index, 4, &found.out));
  CHECK(same_as_plain(&base, &base, 4, "manhattan", 1, &found.out));
  CHECK_OK(kith_custom_index_destroy(index));
  CHECK_OK(kith_metric_destroy(metric));
  CHECK_OK(kith_options_destroy(options));
  free_points(&base);
}

void metrics_refuse(void) {
  kith_metric* metric = NULL;
  const double values[2] = {1, 2};
  const kith_metric_parameter numbers = {.name = "w", .values = values, .count = 2};
  kith_metric_parameter wrong = numbers;
  CHECK_REFUSED(kith_metric_create(NULL, NULL, 0, &metric), "the name of the metric is null");
  CHECK_REFUSED(kith_metric_create("braycurtis", NULL, 0, NULL), "out is null");
  CHECK_REFUSED(kith_metric_create("braycurtis", NULL, 1, &metric), "parameters of 1 elements is null");
  CHECK_REFUSED(kith_metric_create("braycurtis", NULL, -1, &metric), "parameters has -1 elements");
  CHECK_REFUSED(kith_metric_create("nearness", NULL, 0, &metric), "nearness");
  CHECK_REFUSED(kith_metric_create("braycurtis", &numbers, 1, &metric), "braycurtis");
  wrong.name = NULL;
  CHECK_REFUSED(kith_metric_create("minkowski", &wrong, 1, &metric), "the name of a parameter is null");
  wrong.name = "weights";
  CHECK_REFUSED(kith_metric_create("minkowski", &wrong, 1, &metric), "unknown parameter 'weights'; known are p, w");
  wrong.name = "p";
  CHECK_REFUSED(kith_metric_create("minkowski", &wrong, 1, &metric), "parameter p has 2 values; it is one");
  wrong = numbers;
  wrong.values = NULL;
  CHECK_REFUSED(kith_metric_create("minkowski", &wrong, 1, &metric), "w of 2 elements is null");
  wrong.count = 0;
  CHECK_REFUSED(kith_metric_create("minkowski", &wrong, 1, &metric), "parameter w has no values");
  wrong = numbers;
  wrong.text = "one";
  CHECK_REFUSED(kith_metric_create("minkowski", &wrong, 1, &metric), "parameter w takes numbers, not a text");
  wrong = numbers;
  wrong.name = "zero_vectors";
  CHECK_REFUSED(kith_metric_create("cosine", &wrong, 1, &metric), "parameter zero_vectors takes a text, not numbers");
  wrong = (kith_metric_parameter){.name = "zero_vectors"};
  CHECK_REFUSED(kith_metric_create("cosine", &wrong, 1, &metric), "the text of parameter zero_vectors is null");
  wrong.text = "two";
  CHECK_REFUSED(kith_metric_create("cosine", &wrong, 1, &metric), "two");
  const kith_metric_parameter twice[2] = {numbers, numbers};
  CHECK_REFUSED(kith_metric_create("minkowski", twice, 2, &metric), "parameter w is given twice");

  CHECK_REFUSED(kith_metric_create_formula(NULL, &metric), "the formula is null");
  CHECK_REFUSED(kith_metric_create_formula("sum(abs(x - y))", NULL), "out is null");
  CHECK_REFUSED(kith_metric_create_formula("sum(abs(x - )", &metric), "position");
  CHECK_REFUSED(kith_metric_create_formula("", &metric), "");
  CHECK_REFUSED(kith_metric_create_function(NULL, NULL, 0, &metric), "the metric's function is null");
  CHECK_REFUSED(kith_metric_create_function(ratio, NULL, -1, &metric), "threads = -1");
  CHECK_REFUSED(kith_metric_create_function(ratio, NULL, 0, NULL), "out is null");
  CHECK(metric == NULL);

  wrong.text = "one";
  CHECK_OK(kith_metric_create("cosine", &wrong, 1, &metric));
  CHECK_OK(kith_metric_destroy(metric));
  CHECK_REFUSED(kith_metric_destroy(metric), "is no kith_metric");
  CHECK_OK(kith_metric_destroy(NULL));
}

void custom_indexes_refuse(void) {
  static answer found;
  points base = make_points(ROWS, DIMS, KITH_FLOAT32, 101);
  points bytes = make_points(QUERIES, DIMS, KITH_UINT8, 102);
  kith_metric* metric = NULL;
  kith_custom_index* index = NULL;
  kith_lists* lists = NULL;
  const double radii[2] = {1, (double)NAN};
  float memory[ROWS * ROWS];
  kith_array out = {.data = memory, .capacity = ROWS * ROWS, .dtype = KITH_FLOAT32};
  CHECK_OK(kith_metric_create("haversine", NULL, 0, &metric));
  CHECK_REFUSED(kith_custom_index_create(metric, &base.matrix, NULL, &index), "haversine");
  CHECK_OK(kith_metric_destroy(metric));
  CHECK_OK(kith_metric_create("braycurtis", NULL, 0, &metric));
  CHECK_REFUSED(kith_custom_index_create(NULL, &base.matrix, NULL, &index), "the kith_metric is null");
  CHECK_REFUSED(kith_custom_index_create(metric, NULL, NULL, &index), "base is null");
  CHECK_REFUSED(kith_custom_index_create(metric, &base.matrix, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_custom_index_create_copy(metric, NULL, NULL, &index), "base is null");
  CHECK_REFUSED(kith_custom_index_create_copy(metric, &base.matrix, NULL, NULL), "out is null");
  kith_options* const options = options_with("metric", "cosine");
  CHECK_REFUSED(kith_custom_index_create(metric, &base.matrix, options, &index), "options.metric = cosine too");
  CHECK_OK(kith_options_destroy(options));
  CHECK(index == NULL);

  CHECK_OK(kith_custom_index_create(metric, &base.matrix, NULL, &index));
  make_answer(&found, KITH_FLOAT32);
  CHECK_REFUSED(kith_custom_index_search(index, &bytes.matrix, 2, &found.out), "queries is of type uint8");
  CHECK_REFUSED(kith_custom_index_search(index, NULL, 2, &found.out), "queries is null");
  CHECK_REFUSED(kith_custom_index_search(index, &base.matrix, 2, NULL), "out is null");
  CHECK_REFUSED(kith_custom_index_search(index, &base.matrix, 0, &found.out), "k = 0");
  CHECK_REFUSED(kith_custom_index_search(index, &base.matrix, ROWS + 1, &found.out), "k = 61 but");
  CHECK_REFUSED(kith_custom_index_search_self(index, ROWS, &found.out), "k = 60 but");
  CHECK_REFUSED(kith_custom_index_search_self(index, 2, NULL), "out is null");
  kith_neighbors wrong = found.out;
  wrong.capacity = 2 * ROWS - 1;
  CHECK_REFUSED(kith_custom_index_search(index, &base.matrix, 2, &wrong), "out has room for 119 elements; 60 × 2");
  wrong = found.out;
  wrong.memory = KITH_DEVICE;
  CHECK_REFUSED(kith_custom_index_search_self(index, 2, &wrong), "comes to host memory");
  CHECK_REFUSED(kith_custom_index_search_radius(index, &base.matrix, radii, 2, 0, &lists), "2 radii for 60 queries");
  CHECK_REFUSED(kith_custom_index_search_radius(index, &base.matrix, radii + 1, 1, 0, &lists), "radius = nan");
  CHECK_REFUSED(kith_custom_index_search_radius(index, NULL, radii, 1, 0, &lists), "queries is null");
  CHECK_REFUSED(kith_custom_index_search_radius(index, &base.matrix, radii, 1, 0, NULL), "out is null");
  CHECK_REFUSED(kith_custom_index_search_radius_self(index, NULL, 1, 0, &lists), "radii of 1 elements is null");
  CHECK_REFUSED(kith_custom_index_search_radius_self(index, radii, 1, 0, NULL), "out is null");
  CHECK_REFUSED(kith_custom_index_distances(index, NULL, &out), "queries is null");
  CHECK_REFUSED(kith_custom_index_distances(index, &base.matrix, NULL), "out is null");
  out.capacity -= 1;
  CHECK_REFUSED(kith_custom_index_distances(index, &base.matrix, &out), "60 × 60 are needed");
  out.capacity += 1;
  out.memory = KITH_DEVICE;
  CHECK_REFUSED(kith_custom_index_distances(index, &base.matrix, &out), "comes to host memory");
  CHECK_OK(kith_custom_index_destroy(index));
  CHECK_OK(kith_metric_destroy(metric));
  CHECK(lists == NULL);

  CHECK_REFUSED(kith_custom_index_create(metric, &base.matrix, NULL, &index), "is no kith_metric");
  CHECK_REFUSED(kith_custom_index_search(index, &base.matrix, 2, &found.out), "is no kith_custom_index");
  CHECK_REFUSED(kith_custom_index_search_self(index, 2, &found.out), "is no kith_custom_index");
  CHECK_REFUSED(kith_custom_index_search_radius(index, &base.matrix, radii, 1, 0, &lists), "is no kith_custom_index");
  CHECK_REFUSED(kith_custom_index_search_radius_self(index, radii, 1, 0, &lists), "is no kith_custom_index");
  CHECK_REFUSED(kith_custom_index_distances(index, &base.matrix, &out), "is no kith_custom_index");
  CHECK_REFUSED(kith_custom_index_shape(NULL, NULL, NULL, NULL), "the kith_custom_index is null");
  CHECK_REFUSED(kith_custom_index_destroy(index), "is no kith_custom_index");
  CHECK_OK(kith_custom_index_destroy(NULL));
  free_points(&base);
  free_points(&bytes);
}
