/* bits_test.c: rows of packed bits beside a count of their bits, one by one. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "pairs.h"
#include "tests.h"

enum { ROWS = 70, QUERIES = 9, BITS = 45, BYTES = 6, STRIDE = 8 };

/* Rows that begin STRIDE bytes apart; some have no bit at all. */
typedef struct bit_rows {
  uint8_t bytes[ROWS * STRIDE];
  kith_bits view;
} bit_rows;

static void make_bits(bit_rows* made, int64_t rows, uint32_t seed) {
  memset(made->bytes, 0xFF, sizeof made->bytes); /* between the rows too */
  for (int64_t row = 0; row < rows; ++row) {
    memset(made->bytes + row * STRIDE, 0, BYTES);
    for (int bit = 0; bit < BITS; ++bit) {
      seed = seed * 1664525U + 1013904223U;
      if (row % 10 != 9 && (seed >> 28) < 5)
        made->bytes[row * STRIDE + bit / 8] |= (uint8_t)(0x80U >> (unsigned)(bit % 8));
    }
  }
  made->view = (kith_bits){.data = made->bytes, .rows = rows, .bits = BITS, .stride = STRIDE};
}

typedef struct bit_pairs {
  const bit_rows* queries;
  const bit_rows* base;
  int is_jaccard;
} bit_pairs;

static double plain_bits(const void* context, int64_t query, int64_t id) {
  const bit_pairs* const of = context;
  int differ = 0;
  int either = 0;
  for (int bit = 0; bit < BITS; ++bit) {
    const int x = of->queries->bytes[query * STRIDE + bit / 8] >> (7 - bit % 8) & 1;
    const int y = of->base->bytes[id * STRIDE + bit / 8] >> (7 - bit % 8) & 1;
    differ += x != y;
    either += x | y;
  }
  if (!of->is_jaccard) return (float)((double)differ / BITS);
  return either == 0 ? 0 : (float)(1 - (double)(either - differ) / either);
}

void bits_are_searched(void) {
  static const char* const metrics[] = {NULL, "hamming", "jaccard", "Tanimoto"};
  static bit_rows base;
  static bit_rows queries;
  static answer found;
  make_bits(&base, ROWS, 1);
  make_bits(&queries, QUERIES, 2);
  for (int m = 0; m < 4; ++m) {
    const bit_pairs asked = {&queries, &base, m >= 2};
    const bit_pairs among = {&base, &base, m >= 2};
    const pairs all = {plain_bits, &asked, QUERIES, ROWS, 0};
    const pairs self = {plain_bits, &among, ROWS, ROWS, 1};
    const double radii[QUERIES] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1};
    kith_bit_index* index = NULL;
    kith_lists* lists = NULL;
    int64_t rows = 0;
    int64_t bits = 0;
    CHECK_OK(kith_bit_index_create(&base.view, metrics[m], NULL, &index));
    CHECK_OK(kith_bit_index_shape(index, &rows, &bits));
    CHECK(rows == ROWS && bits == BITS);
    CHECK_OK(kith_bit_index_shape(index, NULL, NULL));
    make_answer(&found, KITH_FLOAT32);
    CHECK_OK(kith_bit_index_search(index, &queries.view, 7, &found.out));
    CHECK(holds_nearest_pairs(&all, 7, &found.out));
    CHECK_OK(kith_bit_index_search_self(index, 5, &found.out));
    CHECK(holds_nearest_pairs(&self, 5, &found.out));
    CHECK_OK(kith_bit_index_search_radius(index, &queries.view, radii, QUERIES, 0, &lists));
    CHECK(are_pairs_within(&all, radii, QUERIES, lists));
    CHECK_OK(kith_bit_index_search_radius(index, &queries.view, radii + 4, 1, 1, &lists));
    CHECK(are_pairs_within(&all, radii + 4, 1, lists));
    CHECK_OK(kith_bit_index_search_radius_self(index, radii + 3, 1, 0, &lists));
    CHECK(are_pairs_within(&self, radii + 3, 1, lists));
    CHECK_OK(kith_bit_index_destroy(index));
  }
}

void bits_are_copied(void) {
  static bit_rows base;
  static bit_rows gone;
  static answer found;
  char text[2048];
  size_t length = 0;
  make_bits(&base, ROWS, 3);
  memcpy(gone.bytes, base.bytes, sizeof gone.bytes);
  gone.view = base.view;
  gone.view.data = gone.bytes;
  const bit_pairs among = {&base, &base, 0};
  const pairs self = {plain_bits, &among, ROWS, ROWS, 1};
  kith_bit_index* index = NULL;
  CHECK_OK(kith_bit_index_create_copy(&gone.view, "hamming", NULL, &index));
  memset(gone.bytes, 0, sizeof gone.bytes);
  make_answer(&found, KITH_FLOAT32);
  CHECK_OK(kith_bit_index_search_self(index, 5, &found.out));
  CHECK(holds_nearest_pairs(&self, 5, &found.out));
  CHECK_OK(kith_bit_index_explain(index, 3, 5, text, sizeof text, &length));
  CHECK(strlen(text) == length && strstr(text, "hamming") != NULL);
  CHECK_OK(kith_bit_index_destroy(index));

  /* Packed rows need no stride: of 8 bits, a byte each. */
  const uint8_t bytes[] = {0xF0, 0xFF, 0x00};
  const kith_bits packed = {.data = bytes, .rows = 3, .bits = 8};
  CHECK_OK(kith_bit_index_create(&packed, NULL, NULL, &index));
  CHECK_OK(kith_bit_index_search_self(index, 2, &found.out));
  CHECK(found.ids[0] == 1 && found.ids[1] == 2 && distance_at(found.distances, KITH_FLOAT32, 0) == 0.5);
  CHECK_OK(kith_bit_index_destroy(index));
}

static void refuse_bit_base(kith_bits base, const char* text) {
  kith_bit_index* index = NULL;
  CHECK_REFUSED(kith_bit_index_create(&base, NULL, NULL, &index), text);
  CHECK_REFUSED(kith_bit_index_create_copy(&base, NULL, NULL, &index), text);
  CHECK(index == NULL);
}

void bit_indexes_refuse_a_base(void) {
  static bit_rows base;
  make_bits(&base, ROWS, 4);
  kith_bits wrong = base.view;
  kith_bit_index* index = NULL;
  wrong.data = NULL;
  refuse_bit_base(wrong, "base has no data (null pointer)");
  wrong = base.view;
  wrong.bits = 0;
  refuse_bit_base(wrong, "rows of 0 bits");
  wrong.bits = INT64_MAX;
  refuse_bit_base(wrong, "1 to 1073741824 are allowed");
  wrong = base.view;
  wrong.rows = 0;
  refuse_bit_base(wrong, "at least one");
  wrong.rows = INT64_MAX;
  refuse_bit_base(wrong, "exceeds the address space");
  wrong = base.view;
  wrong.stride = -8;
  refuse_bit_base(wrong, "must not be negative");

  uint8_t past[] = {0xFF};
  const kith_bits unclean = {.data = past, .rows = 1, .bits = 7};
  CHECK_STATUS(kith_bit_index_create(&unclean, NULL, NULL, &index), KITH_BAD_DATA, "a bit set past its 7 bits");
  CHECK_STATUS(kith_bit_index_create_copy(&unclean, NULL, NULL, &index), KITH_BAD_DATA, "a bit set past its 7 bits");
  CHECK_REFUSED(kith_bit_index_create(NULL, NULL, NULL, &index), "base is null");
  CHECK_REFUSED(kith_bit_index_create_copy(NULL, NULL, NULL, &index), "base is null");
  CHECK_REFUSED(kith_bit_index_create(&base.view, NULL, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_bit_index_create_copy(&base.view, NULL, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_bit_index_create(&base.view, "euclidean", NULL, &index), "known are hamming, jaccard");
  CHECK_REFUSED(kith_bit_index_create_copy(&base.view, "euclidean", NULL, &index), "known are hamming, jaccard");
  static const char* const others[][2] = {{"metric", "hamming"}, {"method", "tree"}, {"epsilon", "0.1"}};
  for (int i = 0; i < 3; ++i) {
    kith_options* const options = options_with(others[i][0], others[i][1]);
    CHECK_REFUSED(kith_bit_index_create(&base.view, NULL, options, &index), others[i][0]);
    CHECK_OK(kith_options_destroy(options));
  }
  CHECK(index == NULL);
}

void bit_indexes_refuse(void) {
  static bit_rows base;
  static answer found;
  make_bits(&base, ROWS, 5);
  kith_bit_index* index = NULL;
  kith_lists* lists = NULL;
  char text[8];
  const double radii[3] = {0.5, -1, 0.5};
  const double not_a_number = (double)NAN;
  CHECK_OK(kith_bit_index_create(&base.view, NULL, NULL, &index));
  make_answer(&found, KITH_FLOAT32);
  kith_bits fewer = base.view;
  fewer.bits = BITS - 1;
  CHECK_REFUSED(kith_bit_index_search(index, &fewer, 2, &found.out), "rows of 45 bits but the queries of 44");
  CHECK_REFUSED(kith_bit_index_search(index, NULL, 2, &found.out), "queries is null");
  CHECK_REFUSED(kith_bit_index_search(index, &base.view, 2, NULL), "out is null");
  CHECK_REFUSED(kith_bit_index_search(index, &base.view, 0, &found.out), "k = 0");
  CHECK_REFUSED(kith_bit_index_search(index, &base.view, ROWS + 1, &found.out), "out has room for");
  CHECK_REFUSED(kith_bit_index_search_self(index, ROWS, &found.out), "out has room for");
  CHECK_REFUSED(kith_bit_index_search_self(index, 0, &found.out), "k = 0");
  CHECK_REFUSED(kith_bit_index_search_self(index, 2, NULL), "out is null");
  kith_bits one = base.view;
  one.rows = 1;
  CHECK_REFUSED(kith_bit_index_search(index, &one, ROWS + 1, &found.out), "k = 71 but");
  kith_neighbors wrong = found.out;
  wrong.capacity = 2 * ROWS - 1;
  CHECK_REFUSED(kith_bit_index_search_self(index, 2, &wrong), "out has room for 139 elements; 70 × 2");
  wrong = found.out;
  wrong.dtype = KITH_FLOAT64;
  CHECK_REFUSED(kith_bit_index_search_self(index, 2, &wrong), "out is of type float64; it must be float32");
  wrong = found.out;
  wrong.memory = KITH_DEVICE;
  CHECK_REFUSED(kith_bit_index_search(index, &base.view, 2, &wrong), "comes to host memory");
  wrong = found.out;
  wrong.ids = NULL;
  CHECK_REFUSED(kith_bit_index_search(index, &base.view, 2, &wrong), "null pointer");
  uint8_t flags[ROWS];
  wrong = found.out;
  wrong.certified = flags;
  wrong.certified_capacity = ROWS;
  CHECK_REFUSED(kith_bit_index_search(index, &base.view, 2, &wrong), "certified must be null");

  one.rows = 3;
  CHECK_REFUSED(kith_bit_index_search_radius(index, &one, radii, 3, 0, &lists), "radius = -1 of query 1");
  CHECK_REFUSED(kith_bit_index_search_radius(index, &one, radii, 2, 0, &lists), "2 radii for 3 queries");
  CHECK_REFUSED(kith_bit_index_search_radius(index, &one, &not_a_number, 1, 0, &lists), "radius = nan");
  CHECK_REFUSED(kith_bit_index_search_radius(index, &one, NULL, 1, 0, &lists), "radii of 1 elements is null");
  CHECK_REFUSED(kith_bit_index_search_radius(index, NULL, radii, 1, 0, &lists), "queries is null");
  CHECK_REFUSED(kith_bit_index_search_radius(index, &one, radii, 1, 0, NULL), "out is null");
  CHECK_REFUSED(kith_bit_index_search_radius_self(index, radii + 1, 1, 0, &lists), "radius = -1");
  CHECK_REFUSED(kith_bit_index_search_radius_self(index, radii, 1, 0, NULL), "out is null");
  CHECK_REFUSED(kith_bit_index_explain(index, 1, 0, text, sizeof text, NULL), "k = 0");
  CHECK_REFUSED(kith_bit_index_explain(index, 1, 1, NULL, 1, NULL), "buffer");
  CHECK_OK(kith_bit_index_destroy(index));
  CHECK(lists == NULL);

  CHECK_REFUSED(kith_bit_index_search(index, &base.view, 2, &found.out), "is no kith_bit_index");
  CHECK_REFUSED(kith_bit_index_search_self(index, 2, &found.out), "is no kith_bit_index");
  CHECK_REFUSED(kith_bit_index_search_radius(index, &one, radii, 1, 0, &lists), "is no kith_bit_index");
  CHECK_REFUSED(kith_bit_index_search_radius_self(index, radii, 1, 0, &lists), "is no kith_bit_index");
  CHECK_REFUSED(kith_bit_index_shape(NULL, NULL, NULL), "the kith_bit_index is null");
  CHECK_REFUSED(kith_bit_index_explain(NULL, 1, 1, text, sizeof text, NULL), "the kith_bit_index is null");
  CHECK_REFUSED(kith_bit_index_destroy(index), "is no kith_bit_index");
  CHECK_OK(kith_bit_index_destroy(NULL));
}
