/* options_test.c: every option by its name, and what is no option or no value of one. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "tests.h"

static const char* value_of(const kith_options* options, const char* name) {
  static char text[256];
  size_t length = 0;
  CHECK_OK(kith_options_get(options, name, text, sizeof text, &length));
  CHECK(length < sizeof text);
  return text;
}

typedef struct setting {
  const char* name;
  const char* usual;
  const char* other;
} setting;

static const setting settings[] = {
    {"metric", "euclidean", "cosine"},
    {"backend", "auto", "cpu"},
    {"method", "auto", "shifted-sort"},
    {"distance", "auto", "register-tiled"},
    {"select", "auto", "threshold-filter"},
    {"max_distance", "inf", "2.5"},
    {"epsilon", "0", "0.1"},
    {"period", "", "1,0,2.5"},
    {"threads", "0", "2"},
    {"memory_budget", "0", "123456789012"},
    {"devices", "", "0,2,0"},
    {"pad_missing", "0", "1"},
    {"check_finite", "1", "0"},
    {"statistics", "0", "1"},
    {"triangle.query_landmarks", "0", "10"},
    {"triangle.base_landmarks", "0", "11"},
    {"triangle.form", "auto", "sweet-knn"},
    {"triangle.filter", "auto", "partial"},
    {"triangle.placement", "auto", "shared"},
    {"triangle.layout", "interleaved", "contiguous"},
    {"triangle.remapped", "1", "0"},
    {"triangle.threads_per_query", "0", "4"},
    {"shifted_sort.shifts", "5", "7"},
    {"shifted_sort.shift", "0", "0.25"},
    {"shifted_sort.guaranteed", "0", "1"},
    {"shifted_sort.window", "0", "33"},
    {"shifted_sort.curve", "auto", "hilbert"},
    {"shifted_sort.merge", "auto", "global-memory"},
    {"shifted_sort.positions", "auto", "sort"},
    {"shifted_sort.certify", "0", "1"},
    {"pivots.count", "0", "12"},
    {"pivots.choice", "best-bounds", "farthest-first"},
    {"pivots.symmetric", "1", "0"},
    {"pivots.triangle_inequality", "1", "0"},
    {"pivots.integer_valued", "0", "1"},
    {"pivots.relative_error", "1e-09", "0.01"},
    {"pivots.absolute_error", "0", "1.5"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

void options_keep_values(void) {
  kith_options* const options = options_with(NULL, NULL);
  for (int i = 0; i < SETTINGS; ++i) {
    const setting* const at = &settings[i];
    CHECK(strcmp(value_of(options, at->name), at->usual) == 0);
    CHECK_OK(kith_options_set(options, at->name, at->other));
    CHECK(strcmp(value_of(options, at->name), at->other) == 0);
  }
  /* All of them still, so none is kept in the place of another; and back again. */
  for (int i = 0; i < SETTINGS; ++i) {
    CHECK(strcmp(value_of(options, settings[i].name), settings[i].other) == 0);
    CHECK_OK(kith_options_set(options, settings[i].name, settings[i].usual));
  }
  for (int i = 0; i < SETTINGS; ++i) CHECK(strcmp(value_of(options, settings[i].name), settings[i].usual) == 0);

  CHECK_OK(kith_options_set_int(options, "threads", 3));
  CHECK(strcmp(value_of(options, "threads"), "3") == 0);
  CHECK_OK(kith_options_set_int(options, "memory_budget", INT64_MAX));
  CHECK(strcmp(value_of(options, "memory_budget"), "9223372036854775807") == 0);
  CHECK_OK(kith_options_set_int(options, "check_finite", 0));
  CHECK(strcmp(value_of(options, "check_finite"), "0") == 0);
  CHECK_OK(kith_options_set(options, "check_finite", "true"));
  CHECK(strcmp(value_of(options, "check_finite"), "1") == 0);
  CHECK_OK(kith_options_set_int(options, "epsilon", 1));
  CHECK(strcmp(value_of(options, "epsilon"), "1") == 0);
  CHECK_OK(kith_options_set_double(options, "max_distance", 0.1));
  CHECK(strcmp(value_of(options, "max_distance"), "0.1") == 0);
  const double period[] = {0.5, 0};
  CHECK_OK(kith_options_set_doubles(options, "period", period, 2));
  CHECK(strcmp(value_of(options, "period"), "0.5,0") == 0);
  CHECK_OK(kith_options_set_doubles(options, "period", NULL, 0));
  CHECK(strcmp(value_of(options, "period"), "") == 0);

  CHECK_OK(kith_options_set(options, "devices", "all"));
  CHECK(strcmp(value_of(options, "devices"), "all") == 0);
  CHECK_OK(kith_options_set_int(options, "devices", 3));
  CHECK(strcmp(value_of(options, "devices"), "3") == 0);

  /* Names as people type them; and p, which one metric has. */
  CHECK_OK(kith_options_set(options, "Max-Distance", "4"));
  CHECK(strcmp(value_of(options, "max_distance"), "4") == 0);
  CHECK_OK(kith_options_set(options, "metric", "minkowski"));
  CHECK(strcmp(value_of(options, "p"), "2") == 0);
  CHECK_OK(kith_options_set_double(options, "p", 3));
  CHECK(strcmp(value_of(options, "metric"), "minkowski(3)") == 0);
  CHECK_OK(kith_options_destroy(options));
}

void options_refuse(void) {
  kith_options* const options = options_with(NULL, NULL);
  char text[8];
  CHECK_REFUSED(kith_options_create(NULL), "out is null");
  CHECK_REFUSED(kith_options_set(NULL, "metric", "cosine"), "the kith_options is null");
  CHECK_REFUSED(kith_options_set(options, NULL, "cosine"), "the name of the option is null");
  CHECK_REFUSED(kith_options_set(options, "metric", NULL), "the value of the option is null");
  CHECK_REFUSED(kith_options_set(options, "colour", "red"), "unknown option 'colour'; known are metric, p, backend");
  CHECK_REFUSED(kith_options_set_int(options, "colour", 1), "shifted_sort.certify");
  CHECK_REFUSED(kith_options_set_double(options, "", 1), "unknown option ''");
  CHECK_REFUSED(kith_options_get(options, "colour", text, sizeof text, NULL), "unknown option 'colour'");
  CHECK_REFUSED(kith_options_get(NULL, "metric", text, sizeof text, NULL), "options is null");
  CHECK_REFUSED(kith_options_get(options, NULL, text, sizeof text, NULL), "the name of the option is null");
  CHECK_REFUSED(kith_options_get(options, "metric", NULL, 4, NULL), "buffer");

  CHECK_REFUSED(kith_options_set(options, "metric", "nearness"), "unknown metric 'nearness'");
  CHECK_REFUSED(kith_options_set(options, "method", ""), "unknown method ''");
  CHECK_REFUSED(kith_options_set_int(options, "metric", 1), "option metric takes text");
  CHECK_REFUSED(kith_options_set(options, "threads", "two"), "option threads takes an integer, not 'two'");
  CHECK_REFUSED(kith_options_set(options, "threads", "2 "), "an integer, not '2 '");
  CHECK_REFUSED(kith_options_set(options, "threads", ""), "an integer, not ''");
  CHECK_REFUSED(kith_options_set_double(options, "threads", 2), "option threads takes an integer");
  CHECK_REFUSED(kith_options_set_int(options, "threads", INT64_C(1) << 32), "threads = 4294967296; it must be from");
  CHECK_REFUSED(kith_options_set(options, "memory_budget", "9223372036854775808"), "an integer, not");
  CHECK_REFUSED(kith_options_set_int(options, "statistics", 2), "0, 1, false or true");
  CHECK_REFUSED(kith_options_set(options, "statistics", "yes"), "0, 1, false or true");
  CHECK_REFUSED(kith_options_set_double(options, "statistics", 1), "0, 1, false or true");
  CHECK_REFUSED(kith_options_set(options, "epsilon", "0,1"), "option epsilon takes a number, not '0,1'");
  CHECK_REFUSED(kith_options_set(options, "devices", "0,,1"), "ids with commas");
  CHECK_REFUSED(kith_options_set_int(options, "devices", -1), "ids with commas");
  CHECK_REFUSED(kith_options_set_double(options, "devices", 1), "option devices takes text");
  CHECK_REFUSED(kith_options_set(options, "period", "1,,2"), "numbers with commas");
  CHECK_REFUSED(kith_options_set(options, "period", "1,2,"), "none at the end");
  CHECK_REFUSED(kith_options_set_double(options, "period", 1), "option period takes several numbers");
  CHECK_REFUSED(kith_options_set_doubles(options, "period", NULL, 2), "values of 2 elements is null");
  const double one = 1;
  CHECK_REFUSED(kith_options_set_doubles(options, "period", &one, -1), "values has -1 elements");
  CHECK_REFUSED(kith_options_set_doubles(options, "epsilon", &one, 1), "option epsilon takes a number");
  CHECK_REFUSED(kith_options_set_double(options, "p", 3), "p is for metric minkowski, not for euclidean");
  CHECK_REFUSED(kith_options_get(options, "p", text, sizeof text, NULL), "p is for metric minkowski");
  CHECK_REFUSED(kith_options_set_progress(NULL, NULL, NULL), "the kith_options is null");

  /* What was refused changed nothing. */
  for (int i = 0; i < SETTINGS; ++i) CHECK(strcmp(value_of(options, settings[i].name), settings[i].usual) == 0);
  CHECK_OK(kith_options_destroy(options));
  CHECK_OK(kith_options_destroy(NULL));
}

void options_decide_about_searches(void) {
  static const char* const metrics[] = {"euclidean", "sqeuclidean", "manhattan", "inner_product"};
  points base = make_points(150, 4, KITH_FLOAT32, 1);
  points queries = make_points(6, 4, KITH_FLOAT32, 2);
  answer found;
  for (int i = 0; i < 4; ++i) {
    kith_options* const options = options_with("metric", metrics[i]);
    make_answer(&found, KITH_FLOAT32);
    CHECK_OK(kith_search(&base.matrix, &queries.matrix, 7, options, &found.out, NULL));
    CHECK(same_as_plain(&base, &queries, 7, metrics[i], 0, &found.out));
    CHECK_OK(kith_options_destroy(options));
  }
  /* Values that only a search finds to be wrong. */
  kith_options* const options = options_with("epsilon", "-1");
  CHECK_REFUSED(kith_search(&base.matrix, &queries.matrix, 7, options, &found.out, NULL), "epsilon = -1");
  CHECK_OK(kith_options_set(options, "epsilon", "0"));
  CHECK_OK(kith_options_set(options, "period", "1,1"));
  CHECK_REFUSED(kith_search(&base.matrix, &queries.matrix, 7, options, &found.out, NULL), "2 periods for points of 4");
  CHECK_OK(kith_options_destroy(options));
  free_points(&base);
  free_points(&queries);
}
