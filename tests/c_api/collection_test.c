/* collection_test.c: points with ids that come and go, filters, files. The answers are those of loops over what is
 * there. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tests.h"

enum { ROWS = 80, DIMS = 3, K = 6 };

/* Ids that do not ascend, and tags from 0 to 3. */
typedef struct labelled {
  points made;
  int64_t ids[ROWS];
  int64_t tags[ROWS];
  char there[ROWS];
} labelled;

static labelled make_labelled(kith_dtype dtype, uint64_t seed) {
  labelled all;
  all.made = make_points(ROWS, DIMS, dtype, seed);
  for (int i = 0; i < ROWS; ++i) {
    all.ids[i] = (i * 37 + 11) % ROWS * 5 - 100;
    all.tags[i] = i % 4;
    all.there[i] = 1;
  }
  return all;
}

/* Rows from `first` on, as a matrix and labels. */
static kith_matrix rows_of(const labelled* all, int64_t first, int64_t count) {
  kith_matrix matrix = all->made.matrix;
  matrix.data = (const char*)matrix.data + first * DIMS * kith_dtype_size(matrix.dtype);
  matrix.rows = count;
  return matrix;
}

static kith_labels labels_of(const labelled* all, int64_t first, int64_t count) {
  return (kith_labels){.ids = all->ids + first, .tags = all->tags + first, .count = count};
}

static kith_collection* collection_of(const labelled* all) {
  kith_collection* collection = NULL;
  const kith_labels labels = labels_of(all, 0, ROWS);
  CHECK_OK(kith_collection_create_from(&all->made.matrix, &labels, NULL, &collection));
  return collection;
}

/* Whether a row holds the k nearest of what is there and, where `tag` is not -1, has the tag; `self` is an id to leave
   out, or -1, which no point has. */
static int holds_nearest(const labelled* all, const points* queries, int64_t query, int64_t tag, int64_t self,
                         const kith_neighbors* out, int64_t row) {
  int64_t last_id = INT64_MIN;
  double last = -1;
  char seen[ROWS];
  memset(seen, 0, sizeof seen);
  for (int64_t i = 0; i <= K; ++i) {
    int best = -1;
    double nearest = HUGE_VAL;
    for (int p = 0; p < ROWS; ++p) {
      if (!all->there[p] || seen[p] || all->ids[p] == self || (tag >= 0 && all->tags[p] != tag)) continue;
      const double distance = plain_distance(queries, query, &all->made, p, "euclidean");
      if (distance < nearest || (distance == nearest && best >= 0 && all->ids[p] < all->ids[best])) {
        nearest = distance;
        best = p;
      }
    }
    if (i == K) return 1;
    const int64_t got = out->ids[row * K + i];
    const double distance = distance_at(out->distances, out->dtype, row * K + i);
    if (best < 0) {
      if (got != -1 || !isinf(distance)) return 0;
      continue;
    }
    seen[best] = 1;
    if (got != all->ids[best] || distance != nearest) return 0;
    if (distance < last || (distance == last && got <= last_id)) return 0;
    last = distance;
    last_id = got;
  }
  return 0;
}

static int all_nearest(const kith_collection* collection, const labelled* all, const points* queries, int64_t tag) {
  static answer found;
  const kith_id_lists tags = {.values = &tag, .count = 1};
  const kith_filter filter = {.tags = &tags};
  make_answer(&found, kith_distance_dtype(queries->matrix.dtype));
  CHECK_OK(kith_collection_search(collection, &queries->matrix, K, tag < 0 ? NULL : &filter, &found.out));
  for (int64_t query = 0; query < queries->matrix.rows; ++query)
    if (!holds_nearest(all, queries, query, tag, -1, &found.out, query)) return 0;
  return 1;
}

void collections_search_all_types(void) {
  for (int i = 0; i < 6; ++i) {
    labelled all = make_labelled(all_dtypes[i], 301);
    points queries = make_points(7, DIMS, all_dtypes[i], 302);
    kith_collection* const collection = collection_of(&all);
    int64_t rows = 0;
    int64_t dims = 0;
    kith_dtype dtype = 0;
    CHECK_OK(kith_collection_shape(collection, &rows, &dims, &dtype));
    CHECK(rows == ROWS && dims == DIMS && dtype == all_dtypes[i]);
    CHECK_OK(kith_collection_shape(collection, NULL, NULL, NULL));
    CHECK(all_nearest(collection, &all, &queries, -1));
    CHECK(all_nearest(collection, &all, &queries, 2));

    /* Each point's others, in the order of ids. */
    static answer found;
    make_answer(&found, kith_distance_dtype(dtype));
    CHECK_OK(kith_collection_search_self(collection, K, NULL, &found.out));
    int64_t ids[ROWS];
    int64_t count = 0;
    CHECK_OK(kith_collection_ids(collection, NULL, ids, ROWS, &count));
    CHECK(count == ROWS);
    int wrong = 0;
    for (int64_t row = 0; row < ROWS; ++row) {
      int64_t at = 0;
      while (all.ids[at] != ids[row]) ++at;
      wrong += row > 0 && ids[row] <= ids[row - 1];
      wrong += !holds_nearest(&all, &all.made, at, -1, ids[row], &found.out, row);
    }
    CHECK(wrong == 0);

    /* Points come back as they were given. */
    double memory[2 * DIMS];
    const kith_array out = {.data = memory, .capacity = 2 * DIMS, .dtype = dtype};
    const int64_t two[2] = {all.ids[41], all.ids[7]};
    CHECK_OK(kith_collection_points(collection, two, 2, &out));
    const kith_matrix first = rows_of(&all, 41, 1);
    const kith_matrix second = rows_of(&all, 7, 1);
    const size_t bytes = (size_t)(DIMS * kith_dtype_size(dtype));
    CHECK(memcmp(memory, first.data, bytes) == 0 && memcmp((char*)memory + bytes, second.data, bytes) == 0);
    CHECK_OK(kith_collection_destroy(collection));
    free_points(&all.made);
    free_points(&queries);
  }
}

void collections_change(void) {
  labelled all = make_labelled(KITH_FLOAT32, 311);
  points queries = make_points(5, DIMS, KITH_FLOAT32, 312);
  kith_collection* collection = NULL;
  kith_change change;
  CHECK_OK(kith_collection_create(DIMS, KITH_FLOAT32, NULL, &collection));
  memset(all.there, 0, sizeof all.there);

  /* In parts, in any order. */
  static const int parts[4][2] = {{40, 20}, {0, 10}, {60, 20}, {10, 30}};
  for (int part = 0; part < 4; ++part) {
    const kith_matrix matrix = rows_of(&all, parts[part][0], parts[part][1]);
    const kith_labels labels = labels_of(&all, parts[part][0], parts[part][1]);
    CHECK_OK(kith_collection_add(collection, &matrix, &labels, &change));
    CHECK(change.points == parts[part][1] && change.segments >= 1 && change.seconds >= 0);
    memset(all.there + parts[part][0], 1, (size_t)parts[part][1]);
    CHECK(all_nearest(collection, &all, &queries, -1));
  }
  int32_t is_there = 5;
  CHECK_OK(kith_collection_contains(collection, all.ids[33], &is_there));
  CHECK(is_there == 1);

  int64_t gone[30];
  for (int i = 0; i < 30; ++i) {
    gone[i] = all.ids[i * 2 + 1];
    all.there[i * 2 + 1] = 0;
  }
  CHECK_OK(kith_collection_remove(collection, gone, 30, &change));
  CHECK(change.points == 30);
  CHECK_OK(kith_collection_contains(collection, all.ids[33], &is_there));
  CHECK(is_there == 0);
  CHECK(all_nearest(collection, &all, &queries, -1));
  CHECK(all_nearest(collection, &all, &queries, 0));
  CHECK(all_nearest(collection, &all, &queries, 1));

  /* Other points for the ids of those that are left of the first ten, whose tags stay. */
  points others = make_points(5, DIMS, KITH_FLOAT32, 313);
  int64_t kept[5];
  for (int i = 0; i < 5; ++i) {
    kept[i] = all.ids[2 * i];
    memcpy(all.made.exact + 2 * i * DIMS, others.exact + i * DIMS, DIMS * sizeof(double));
  }
  const kith_labels labels = {.ids = kept, .count = 5};
  CHECK_OK(kith_collection_update(collection, &others.matrix, &labels, &change));
  CHECK(change.points == 5);
  CHECK(all_nearest(collection, &all, &queries, -1));
  CHECK(all_nearest(collection, &all, &queries, 2));

  CHECK_OK(kith_collection_compact(collection, &change));
  CHECK(change.segments == 1);
  CHECK(all_nearest(collection, &all, &queries, -1));
  CHECK(all_nearest(collection, &all, &queries, 3));
  char plan[4096];
  size_t length = 0;
  CHECK_OK(kith_collection_explain(collection, 5, K, plan, sizeof plan, &length));
  CHECK(length == strlen(plan) && strstr(plan, "euclidean") != NULL);
  CHECK_OK(kith_collection_destroy(collection));
  free_points(&all.made);
  free_points(&queries);
  free_points(&others);
}

static int same_answers(const kith_collection* collection, const points* queries, const kith_filter* a,
                        const kith_filter* b) {
  static answer first;
  static answer second;
  make_answer(&first, KITH_FLOAT32);
  make_answer(&second, KITH_FLOAT32);
  CHECK_OK(kith_collection_search(collection, &queries->matrix, K, a, &first.out));
  CHECK_OK(kith_collection_search(collection, &queries->matrix, K, b, &second.out));
  return memcmp(first.ids, second.ids, sizeof first.ids) == 0 &&
         memcmp(first.distances, second.distances, sizeof first.distances) == 0;
}

void collections_filter(void) {
  labelled all = make_labelled(KITH_FLOAT32, 321);
  points queries = make_points(4, DIMS, KITH_FLOAT32, 322);
  kith_collection* const collection = collection_of(&all);
  int64_t sorted[ROWS];
  int64_t count = 0;
  CHECK_OK(kith_collection_ids(collection, NULL, sorted, ROWS, &count));

  /* Tag 1, said in five ways. */
  const int64_t one = 1;
  int64_t allowed[ROWS];
  int64_t excluded[ROWS];
  uint8_t bytes[ROWS];
  uint64_t words[2] = {0, 0};
  int64_t allowed_count = 0;
  int64_t excluded_count = 0;
  memset(bytes, 0, sizeof bytes);
  for (int i = 0; i < ROWS; ++i)
    for (int row = 0; row < ROWS; ++row) {
      if (sorted[row] != all.ids[i]) continue;
      if (all.tags[i] == 1) {
        allowed[allowed_count++] = all.ids[i];
        bytes[row] = 1;
        words[row / 64] |= UINT64_C(1) << row % 64;
      } else {
        excluded[excluded_count++] = all.ids[i];
      }
    }
  const kith_id_lists tags = {.values = &one, .count = 1};
  const kith_id_lists ids = {.values = allowed, .count = allowed_count};
  const kith_id_lists others = {.values = excluded, .count = excluded_count};
  const kith_filter by_tag = {.tags = &tags};
  const kith_filter by_ids = {.allowed = &ids};
  const kith_filter by_exclusion = {.excluded = &others};
  const kith_filter by_bytes = {.mask_bytes = bytes, .mask_byte_count = ROWS};
  const kith_filter by_words = {.mask_words = words, .mask_word_count = 2};
  CHECK(all_nearest(collection, &all, &queries, 1));
  CHECK(same_answers(collection, &queries, &by_tag, &by_ids));
  CHECK(same_answers(collection, &queries, &by_tag, &by_exclusion));
  CHECK(same_answers(collection, &queries, &by_tag, &by_bytes));
  CHECK(same_answers(collection, &queries, &by_tag, &by_words));
  CHECK(!same_answers(collection, &queries, &by_tag, NULL));
  CHECK_OK(kith_collection_ids(collection, &by_tag, NULL, 0, &count));
  CHECK(count == ROWS / 4);

  /* One for each query: lists of tags, and rows of flags. */
  const int64_t offsets[5] = {0, 1, 1, 3, 4};
  const int64_t listed[4] = {1, 0, 3, 2};
  const kith_id_lists each = {.values = listed, .count = 4, .offsets = offsets, .offset_count = 5};
  const kith_filter by_each = {.tags = &each};
  static answer found;
  make_answer(&found, KITH_FLOAT32);
  CHECK_OK(kith_collection_search(collection, &queries.matrix, K, &by_each, &found.out));
  CHECK(holds_nearest(&all, &queries, 0, 1, -1, &found.out, 0));
  CHECK(holds_nearest(&all, &queries, 3, 2, -1, &found.out, 3));
  for (int i = 0; i < K; ++i) CHECK(found.ids[K + i] == -1 && isinf(distance_at(found.distances, KITH_FLOAT32, K + i)));
  uint8_t rows[4 * ROWS];
  memset(rows, 0, sizeof rows);
  for (int query = 0; query < 4; ++query) memcpy(rows + query * ROWS, bytes, query == 2 ? 0 : ROWS);
  const kith_filter by_rows = {.mask_bytes = rows, .mask_byte_count = 4 * ROWS, .mask_each = 1};
  CHECK_OK(kith_collection_search(collection, &queries.matrix, K, &by_rows, &found.out));
  CHECK(holds_nearest(&all, &queries, 3, 1, -1, &found.out, 3));
  CHECK(found.ids[2 * K] == -1 && found.ids[2 * K + K - 1] == -1);

  /* No list is not an empty one. */
  const kith_id_lists empty = {.values = NULL, .count = 0};
  const kith_filter none = {.allowed = &empty};
  CHECK_OK(kith_collection_ids(collection, &none, NULL, 0, &count));
  CHECK(count == 0);
  const kith_filter anything = {.excluded = &empty};
  CHECK(same_answers(collection, &queries, &anything, NULL));

  kith_filter wrong = by_bytes;
  wrong.mask_byte_count = ROWS - 1;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, &wrong, &found.out), "filter.mask has 79 bytes");
  wrong = by_bytes;
  wrong.mask_bytes = NULL;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, &wrong, &found.out),
                "mask_bytes of the filter of 80");
  wrong = by_bytes;
  wrong.mask_words = words;
  wrong.mask_word_count = 2;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, &wrong, &found.out), "not both");
  wrong = by_bytes;
  wrong.mask_each = 2;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, &wrong, &found.out),
                "mask_each of the filter is 2");
  kith_id_lists wrong_lists = each;
  wrong.mask_each = 0;
  const kith_filter with_wrong = {.tags = &wrong_lists};
  wrong_lists.offset_count = 4;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, &with_wrong, &found.out),
                "filter.tags has 4 offsets");
  wrong_lists.offset_count = 0;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, &with_wrong, &found.out), "has offsets, but 0");
  wrong_lists = each;
  wrong_lists.offsets = NULL;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, &with_wrong, &found.out),
                "5 offsets, which are null");
  wrong_lists = each;
  wrong_lists.values = NULL;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, &with_wrong, &found.out),
                "of 4 elements is null");
  wrong_lists = each;
  wrong_lists.count = -1;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, &with_wrong, &found.out), "has -1 elements");
  wrong_lists = each;
  CHECK_REFUSED(kith_collection_search_self(collection, K, &with_wrong, &found.out), "a filter for each query");
  CHECK_OK(kith_collection_destroy(collection));
  free_points(&all.made);
  free_points(&queries);
}

void collections_answer_with_lists(void) {
  labelled all = make_labelled(KITH_FLOAT64, 331);
  points queries = make_points(4, DIMS, KITH_FLOAT64, 332);
  kith_collection* const collection = collection_of(&all);
  const int64_t one = 1;
  const kith_id_lists tags = {.values = &one, .count = 1};
  const kith_filter filter = {.tags = &tags};
  const double radius = 7;
  for (int filtered = 0; filtered < 2; ++filtered) {
    kith_lists* lists = NULL;
    kith_list_arrays arrays;
    CHECK_OK(
        kith_collection_search_radius(collection, &queries.matrix, &radius, 1, 0, filtered ? &filter : NULL, &lists));
    CHECK_OK(kith_lists_get(lists, &arrays));
    CHECK(arrays.rows == 4 && arrays.dtype == KITH_FLOAT64 && arrays.count > 0);
    int wrong = 0;
    for (int64_t query = 0; query < 4; ++query) {
      int64_t within = 0;
      for (int p = 0; p < ROWS; ++p) {
        const double distance = plain_distance(&queries, query, &all.made, p, "euclidean");
        if (distance > radius || (filtered && all.tags[p] != 1)) continue;
        ++within;
        int found = 0;
        for (int64_t at = arrays.offsets[query]; at < arrays.offsets[query + 1]; ++at)
          found += arrays.ids[at] == all.ids[p] && ((const double*)arrays.distances)[at] == distance;
        wrong += found != 1;
      }
      wrong += within != arrays.offsets[query + 1] - arrays.offsets[query];
    }
    CHECK(wrong == 0);
    const int64_t count = arrays.count;
    CHECK_OK(kith_lists_destroy(lists));
    CHECK_OK(
        kith_collection_search_radius(collection, &queries.matrix, &radius, 1, 1, filtered ? &filter : NULL, &lists));
    CHECK_OK(kith_lists_get(lists, &arrays));
    CHECK(arrays.count == count && arrays.ids == NULL);
    CHECK_OK(kith_lists_destroy(lists));

    /* Pairs within the radius come twice, once from either end. */
    CHECK_OK(kith_collection_search_radius_self(collection, &radius, 1, 1, filtered ? &filter : NULL, &lists));
    CHECK_OK(kith_lists_get(lists, &arrays));
    int64_t pairs = 0;
    for (int p = 0; p < ROWS; ++p)
      for (int other = 0; other < ROWS; ++other)
        pairs += p != other && (!filtered || (all.tags[p] == 1 && all.tags[other] == 1)) &&
                 plain_distance(&all.made, p, &all.made, other, "euclidean") <= radius;
    CHECK(arrays.rows == (filtered ? ROWS / 4 : ROWS) && arrays.count == pairs);
    CHECK_OK(kith_lists_destroy(lists));

    CHECK_OK(kith_collection_graph(collection, 3, "none", filtered ? &filter : NULL, &lists));
    CHECK_OK(kith_lists_get(lists, &arrays));
    CHECK(arrays.count == 3 * arrays.rows && arrays.rows == (filtered ? ROWS / 4 : ROWS));
    static answer found;
    make_answer(&found, KITH_FLOAT64);
    int64_t sorted[ROWS];
    int64_t rows = 0;
    CHECK_OK(kith_collection_search_self(collection, 3, filtered ? &filter : NULL, &found.out));
    CHECK_OK(kith_collection_ids(collection, filtered ? &filter : NULL, sorted, ROWS, &rows));
    wrong = rows != arrays.rows;
    for (int64_t i = 0; i < arrays.count; ++i)
      wrong += arrays.ids[i] < 0 || arrays.ids[i] >= rows || sorted[arrays.ids[i]] != found.ids[i];
    CHECK(wrong == 0);
    CHECK_OK(kith_lists_destroy(lists));
  }

  /* The largest of a value that is each point's id, of the nearest: values are in the order of ids. */
  double ascending[ROWS];
  int64_t sorted[ROWS];
  int64_t count = 0;
  CHECK_OK(kith_collection_ids(collection, NULL, sorted, ROWS, &count));
  for (int row = 0; row < ROWS; ++row) ascending[row] = (double)sorted[row];
  const kith_matrix values = {.data = ascending, .rows = ROWS, .cols = 1, .dtype = KITH_FLOAT64};
  double largest[4];
  const kith_array out = {.data = largest, .capacity = 4, .dtype = KITH_FLOAT64};
  static answer found;
  make_answer(&found, KITH_FLOAT64);
  CHECK_OK(kith_collection_search(collection, &queries.matrix, K, &filter, &found.out));
  CHECK_OK(kith_collection_reduce(collection, &queries.matrix, K, &values, "max", &filter, &out));
  for (int query = 0; query < 4; ++query) {
    int64_t wanted = INT64_MIN;
    for (int i = 0; i < K; ++i)
      if (found.ids[query * K + i] > wanted) wanted = found.ids[query * K + i];
    CHECK(largest[query] == (double)wanted);
  }
  CHECK_OK(kith_collection_destroy(collection));
  free_points(&all.made);
  free_points(&queries);
}

void collections_are_kept_in_files(void) {
  char path[64];
  for (int i = 0; i < 6; ++i) {
    labelled all = make_labelled(all_dtypes[i], 341);
    points queries = make_points(4, DIMS, all_dtypes[i], 342);
    kith_collection* const collection = collection_of(&all);
    snprintf(path, sizeof path, "c_api_collection_%d.kith", i);
    CHECK_OK(kith_collection_save(collection, path));
    CHECK_OK(kith_collection_destroy(collection));
    kith_collection* loaded = NULL;
    CHECK_OK(kith_collection_load(path, NULL, i % 2, &loaded));
    kith_dtype dtype = 0;
    int64_t rows = 0;
    CHECK_OK(kith_collection_shape(loaded, &rows, NULL, &dtype));
    CHECK(rows == ROWS && dtype == all_dtypes[i]);
    CHECK(all_nearest(loaded, &all, &queries, -1));
    CHECK(all_nearest(loaded, &all, &queries, 3));
    /* It changes like any other. */
    CHECK_OK(kith_collection_remove(loaded, all.ids, 40, NULL));
    memset(all.there, 0, 40);
    CHECK(all_nearest(loaded, &all, &queries, -1));
    CHECK_OK(kith_collection_destroy(loaded));

    char info[1024];
    size_t length = 0;
    CHECK_OK(kith_collection_file_info(path, info, sizeof info, &length));
    CHECK(length < sizeof info && strstr(info, "\"rows\": 80") != NULL &&
          strstr(info, "\"metric\": \"euclidean\"") != NULL);
    CHECK(strstr(info, "\"has_ids\": true") != NULL && strstr(info, "\"has_tags\": true") != NULL);
    free_points(&all.made);
    free_points(&queries);
    if (i < 5) CHECK(remove(path) == 0);
  }

  /* A byte less, then none at all. */
  FILE* file = fopen(path, "rb");
  static char bytes[1 << 20];
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  CHECK(size > 100 && size < sizeof bytes);
  kith_collection* none = NULL;
  file = fopen(path, "wb");
  CHECK(fwrite(bytes, 1, size - 1, file) == size - 1);
  fclose(file);
  CHECK_STATUS(kith_collection_load(path, NULL, 0, &none), KITH_BAD_DATA, "it was cut off or added to");
  CHECK_STATUS(kith_collection_file_info(path, NULL, 0, &(size_t){0}), KITH_BAD_DATA, "it was cut off");
  CHECK(remove(path) == 0);
  CHECK_STATUS(kith_collection_load(path, NULL, 0, &none), KITH_BAD_DATA, "cannot open it");
  CHECK_REFUSED(kith_collection_load(NULL, NULL, 0, &none), "the path is null");
  CHECK_REFUSED(kith_collection_load(path, NULL, 0, NULL), "out is null");
  CHECK_REFUSED(kith_collection_file_info(NULL, NULL, 0, NULL), "the path is null");
  CHECK(none == NULL);
  kith_collection* collection = NULL;
  CHECK_OK(kith_collection_create(2, KITH_INT8, NULL, &collection));
  CHECK_STATUS(kith_collection_save(collection, "no/such/folder/x.kith"), KITH_CANNOT_WRITE, "no/such/folder");
  CHECK_REFUSED(kith_collection_save(collection, NULL), "the path is null");
  CHECK_OK(kith_collection_destroy(collection));
}

/* Every function that takes a collection, with what is none. */
static void refuse_collection(kith_collection* collection, const char* text) {
  points made = make_points(2, DIMS, KITH_FLOAT32, 351);
  static answer found;
  make_answer(&found, KITH_FLOAT32);
  const int64_t id = 1;
  const double radius = 1;
  int64_t count = 0;
  int32_t is_there = 0;
  char plan[16];
  double memory[8];
  const kith_array out = {.data = memory, .capacity = 8, .dtype = KITH_FLOAT32};
  kith_lists* lists = NULL;
  CHECK_REFUSED(kith_collection_shape(collection, NULL, NULL, NULL), text);
  CHECK_REFUSED(kith_collection_contains(collection, 1, &is_there), text);
  CHECK_REFUSED(kith_collection_ids(collection, NULL, NULL, 0, &count), text);
  CHECK_REFUSED(kith_collection_points(collection, &id, 1, &out), text);
  CHECK_REFUSED(kith_collection_add(collection, &made.matrix, NULL, NULL), text);
  CHECK_REFUSED(kith_collection_remove(collection, &id, 1, NULL), text);
  CHECK_REFUSED(kith_collection_update(collection, &made.matrix, NULL, NULL), text);
  CHECK_REFUSED(kith_collection_compact(collection, NULL), text);
  CHECK_REFUSED(kith_collection_search(collection, &made.matrix, 1, NULL, &found.out), text);
  CHECK_REFUSED(kith_collection_search_self(collection, 1, NULL, &found.out), text);
  CHECK_REFUSED(kith_collection_search_radius(collection, &made.matrix, &radius, 1, 0, NULL, &lists), text);
  CHECK_REFUSED(kith_collection_search_radius_self(collection, &radius, 1, 0, NULL, &lists), text);
  CHECK_REFUSED(kith_collection_graph(collection, 1, NULL, NULL, &lists), text);
  CHECK_REFUSED(kith_collection_reduce(collection, &made.matrix, 1, NULL, "kth-distance", NULL, &out), text);
  CHECK_REFUSED(kith_collection_explain(collection, 1, 1, plan, sizeof plan, NULL), text);
  CHECK_REFUSED(kith_collection_save(collection, "never.kith"), text);
  free_points(&made);
}

void collections_refuse(void) {
  labelled all = make_labelled(KITH_FLOAT32, 361);
  points queries = make_points(3, DIMS, KITH_FLOAT32, 362);
  points bytes = make_points(3, DIMS, KITH_UINT8, 363);
  kith_collection* collection = collection_of(&all);
  kith_collection* none = NULL;
  kith_lists* lists = NULL;
  CHECK_REFUSED(kith_collection_create(0, KITH_FLOAT32, NULL, &none), "0 dimensions");
  CHECK_REFUSED(kith_collection_create(3, 0, NULL, &none), "the collection has dtype 0");
  CHECK_REFUSED(kith_collection_create(3, KITH_FLOAT32, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_collection_create_from(NULL, NULL, NULL, &none), "points is null");
  CHECK_REFUSED(kith_collection_create_from(&all.made.matrix, NULL, NULL, NULL), "out is null");
  kith_labels labels = labels_of(&all, 0, ROWS - 1);
  CHECK_REFUSED(kith_collection_create_from(&all.made.matrix, &labels, NULL, &none), "79 labels for 80 points");
  int64_t twice[ROWS];
  for (int i = 0; i < ROWS; ++i) twice[i] = i / 2;
  labels = (kith_labels){.ids = twice, .count = ROWS};
  CHECK_REFUSED(kith_collection_create_from(&all.made.matrix, &labels, NULL, &none), "is there twice");
  CHECK(none == NULL);

  static answer found;
  make_answer(&found, KITH_FLOAT32);
  CHECK_REFUSED(kith_collection_search(collection, NULL, K, NULL, &found.out), "queries is null");
  CHECK_REFUSED(kith_collection_search(collection, &bytes.matrix, K, NULL, &found.out), "queries is of type uint8");
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, 0, NULL, &found.out), "k = 0");
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, 81, NULL, &found.out), "k = 81");
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, NULL, NULL), "out is null");
  kith_neighbors wrong = found.out;
  wrong.capacity = 17;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, NULL, &wrong),
                "out has room for 17 elements; 3 × 6");
  wrong.capacity = 479;
  CHECK_REFUSED(kith_collection_search_self(collection, K, NULL, &wrong), "out has room for 479 elements; 80 × 6");
  wrong = found.out;
  wrong.ids = NULL;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, NULL, &wrong), "null pointer");
  CHECK_REFUSED(kith_collection_search_self(collection, K, NULL, &wrong), "null pointer");
  wrong = found.out;
  wrong.memory = KITH_DEVICE;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, NULL, &wrong), "comes to host memory");
  uint8_t certified[3];
  wrong = found.out;
  wrong.certified = certified;
  wrong.certified_capacity = 3;
  CHECK_REFUSED(kith_collection_search(collection, &queries.matrix, K, NULL, &wrong), "certified must be null");
  kith_matrix there = queries.matrix;
  there.memory = KITH_DEVICE;
  CHECK_REFUSED(kith_collection_search(collection, &there, K, NULL, &found.out), "on a device for a collection");
  CHECK_REFUSED(kith_collection_add(collection, &there, NULL, NULL), "on a device for a collection");

  const double radius = 1;
  CHECK_REFUSED(kith_collection_search_radius(collection, &queries.matrix, NULL, 1, 0, NULL, &lists),
                "radii of 1 elements");
  CHECK_REFUSED(kith_collection_search_radius(collection, &queries.matrix, &radius, 1, 0, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_collection_search_radius_self(collection, &radius, 1, 0, NULL, NULL), "out is null");
  CHECK_REFUSED(kith_collection_graph(collection, K, "both", NULL, &lists), "'both'");
  CHECK_REFUSED(kith_collection_graph(collection, K, NULL, NULL, NULL), "out is null");
  CHECK(lists == NULL);
  float memory[ROWS];
  kith_array out = {.data = memory, .capacity = ROWS, .dtype = KITH_FLOAT32};
  CHECK_REFUSED(kith_collection_reduce(collection, &queries.matrix, K, NULL, "mean", NULL, &out), "values is null");
  CHECK_REFUSED(kith_collection_reduce(collection, &queries.matrix, K, NULL, "kth-distance", NULL, NULL),
                "out is null");
  CHECK_REFUSED(kith_collection_points(collection, all.ids, 27, &out), "out has room for 80 elements; 27 × 3");
  CHECK_REFUSED(kith_collection_points(collection, NULL, 1, &out), "ids of 1 elements is null");
  const int64_t unknown = 123456;
  CHECK_REFUSED(kith_collection_points(collection, &unknown, 1, &out), "no point has id 123456");
  CHECK_REFUSED(kith_collection_contains(collection, 1, NULL), "out is null");
  int64_t count = 0;
  int64_t ids[2] = {7, 7};
  CHECK_REFUSED(kith_collection_ids(collection, NULL, ids, 2, &count), "ids has room for 2 elements; 80 × 1");
  CHECK(count == ROWS && ids[0] == 7);
  CHECK_REFUSED(kith_collection_ids(collection, NULL, ids, 2, NULL), "count is null");

  /* Changes that fail leave everything as it was. */
  kith_change change = {.points = -5};
  const kith_matrix some = rows_of(&all, 0, 3);
  labels = labels_of(&all, 0, 3);
  CHECK_REFUSED(kith_collection_add(collection, &some, &labels, &change), "update() replaces points");
  CHECK_REFUSED(kith_collection_add(collection, &bytes.matrix, NULL, &change), "points is of type uint8");
  CHECK_REFUSED(kith_collection_update(collection, &some, NULL, &change), "needs the ids");
  const int64_t with_unknown[2] = {all.ids[0], unknown};
  CHECK_REFUSED(kith_collection_remove(collection, with_unknown, 2, &change), "no point has id 123456");
  CHECK_REFUSED(kith_collection_remove(collection, NULL, 2, &change), "ids of 2 elements is null");
  CHECK(change.points == -5);
  CHECK(all_nearest(collection, &all, &queries, -1));

  kith_options* const options = options_with(NULL, NULL);
  refuse_collection((kith_collection*)(void*)options, "is no kith_collection");
  refuse_collection(NULL, "the kith_collection is null");
  CHECK_OK(kith_options_destroy(options));
  CHECK_OK(kith_collection_destroy(collection));
  refuse_collection(collection, "is no kith_collection");
  CHECK_REFUSED(kith_collection_destroy(collection), "is no kith_collection");
  CHECK_OK(kith_collection_destroy(NULL));
  free_points(&all.made);
  free_points(&queries);
  free_points(&bytes);
}

typedef struct searcher {
  const kith_collection* collection;
  const points* queries;
} searcher;

/* Answers while points come and go: whole rows of what there can be. */
static void* search_meanwhile(void* context) {
  const searcher* const with = context;
  int64_t ids[5 * K];
  float distances[5 * K];
  const kith_neighbors out = {.ids = ids, .distances = distances, .capacity = 5 * K, .dtype = KITH_FLOAT32};
  for (int round = 0; round < 40; ++round) {
    CHECK_OK(kith_collection_search(with->collection, &with->queries->matrix, K, NULL, &out));
    int wrong = 0;
    for (int i = 0; i < 5 * K; ++i) wrong += ids[i] == -1 || (i % K > 0 && distances[i] < distances[i - 1]);
    CHECK(wrong == 0);
  }
  return NULL;
}

void threads_share_a_collection(void) {
  labelled all = make_labelled(KITH_FLOAT32, 371);
  points queries = make_points(5, DIMS, KITH_FLOAT32, 372);
  kith_collection* const collection = collection_of(&all);
  const searcher with = {collection, &queries};
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) CHECK(pthread_create(&threads[i], NULL, search_meanwhile, (void*)(uintptr_t)&with) == 0);
  for (int round = 0; round < 30; ++round) {
    const kith_matrix matrix = rows_of(&all, round, 30);
    const kith_labels labels = labels_of(&all, round, 30);
    CHECK_OK(kith_collection_remove(collection, labels.ids, 30, NULL));
    CHECK_OK(kith_collection_add(collection, &matrix, &labels, NULL));
  }
  for (int i = 0; i < 3; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(all_nearest(collection, &all, &queries, -1));
  CHECK_OK(kith_collection_destroy(collection));
  free_points(&all.made);
  free_points(&queries);
}
