#include "check.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int failures;

const kith_dtype all_dtypes[6] = {KITH_FLOAT32, KITH_FLOAT64, KITH_FLOAT16, KITH_BFLOAT16, KITH_UINT8, KITH_INT8};

void check_that(int holds, const char* condition, const char* file, int line) {
  if (holds) return;
  atomic_fetch_add(&failures, 1);
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
}

void check_status(kith_status got, kith_status wanted, const char* text, const char* call, const char* file, int line) {
  if (got == wanted && (wanted == KITH_OK || strstr(kith_last_error(), text) != NULL)) return;
  atomic_fetch_add(&failures, 1);
  fprintf(stderr, "%s:%d: %s\n  gave '%s', not '%s'; the last error is '%s', wanted '%s'\n", file, line, call,
          kith_status_name(got), kith_status_name(wanted), kith_last_error(), text);
}

int failed_checks(void) {
  return atomic_load(&failures);
}

static uint64_t next_random(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Of whole numbers with few digits, so that nothing is rounded. */
static uint16_t half_bits(float value) {
  const uint32_t bits = float_bits(value);
  if (value == 0) return 0;
  return (uint16_t)((bits >> 16 & 0x8000U) | ((bits >> 23 & 0xFFU) - 112) << 10 | (bits >> 13 & 0x3FFU));
}

static void put(void* values, kith_dtype dtype, int64_t at, double value) {
  switch (dtype) {
    case KITH_FLOAT32: ((float*)values)[at] = (float)value; break;
    case KITH_FLOAT64: ((double*)values)[at] = value; break;
    case KITH_FLOAT16: ((uint16_t*)values)[at] = half_bits((float)value); break;
    case KITH_BFLOAT16: ((uint16_t*)values)[at] = (uint16_t)(float_bits((float)value) >> 16); break;
    case KITH_UINT8: ((uint8_t*)values)[at] = (uint8_t)value; break;
    default: ((int8_t*)values)[at] = (int8_t)value; break;
  }
}

points make_points(int64_t rows, int64_t cols, kith_dtype dtype, uint64_t seed) {
  points made;
  const int64_t count = rows * cols;
  void* const values = calloc((size_t)count, (size_t)kith_dtype_size(dtype));
  made.exact = calloc((size_t)count, sizeof(double));
  uint64_t state = seed * 2654435761U + 88172645463325252U;
  for (int64_t i = 0; i < count; ++i) {
    made.exact[i] = (double)(next_random(&state) >> 20 & 15) - (dtype == KITH_UINT8 ? 0 : 8);
    put(values, dtype, i, made.exact[i]);
  }
  made.matrix = (kith_matrix){.data = values, .rows = rows, .cols = cols, .dtype = dtype};
  return made;
}

void free_points(points* made) {
  free((void*)(uintptr_t)made->matrix.data);
  free(made->exact);
}

void make_answer(answer* made, kith_dtype distances) {
  memset(made, 0x7B, sizeof *made);
  made->out = (kith_neighbors){
      .ids = made->ids, .distances = made->distances, .capacity = 4096, .dtype = distances, .memory = KITH_HOST};
}

double distance_at(const void* distances, kith_dtype dtype, int64_t at) {
  return dtype == KITH_FLOAT64 ? ((const double*)distances)[at] : (double)((const float*)distances)[at];
}

double plain_distance(const points* a, int64_t row, const points* b, int64_t other, const char* metric) {
  double sum = 0;
  for (int64_t c = 0; c < a->matrix.cols; ++c) {
    const double x = a->exact[row * a->matrix.cols + c];
    const double y = b->exact[other * b->matrix.cols + c];
    if (strcmp(metric, "inner_product") == 0) {
      sum += x * y;
    } else if (strcmp(metric, "manhattan") == 0) {
      sum += fabs(x - y);
    } else {
      sum += (x - y) * (x - y);
    }
  }
  if (strcmp(metric, "euclidean") == 0) sum = sqrt(sum);
  return kith_distance_dtype(a->matrix.dtype) == KITH_FLOAT64 ? sum : (double)(float)sum;
}

void plain_search(const points* base, const points* queries, int64_t query, int64_t k, const char* metric, int64_t self,
                  int64_t* ids, double* distances) {
  const double sign = strcmp(metric, "inner_product") == 0 ? -1 : 1;
  int64_t found = 0;
  for (int64_t id = 0; id < base->matrix.rows; ++id) {
    if (id == self) continue;
    const double distance = plain_distance(queries, query, base, id, metric);
    int64_t at = found < k ? found++ : k;
    if (at == k && !(sign * distance < sign * distances[k - 1])) continue;
    if (at == k) --at;
    for (; at > 0 && sign * distance < sign * distances[at - 1]; --at) {
      ids[at] = ids[at - 1];
      distances[at] = distances[at - 1];
    }
    ids[at] = id;
    distances[at] = distance;
  }
}

int same_as_plain(const points* base, const points* queries, int64_t k, const char* metric, int is_self,
                  const kith_neighbors* out) {
  int64_t ids[64];
  double distances[64];
  for (int64_t query = 0; query < queries->matrix.rows; ++query) {
    plain_search(base, queries, query, k, metric, is_self ? query : -1, ids, distances);
    for (int64_t i = 0; i < k; ++i) {
      const double got = distance_at(out->distances, out->dtype, query * k + i);
      if (out->ids[query * k + i] == ids[i] && got == distances[i]) continue;
      fprintf(stderr, "query %d, rank %d: %d at %g, not %d at %g\n", (int)query, (int)i, (int)out->ids[query * k + i],
              got, (int)ids[i], distances[i]);
      return 0;
    }
  }
  return 1;
}

kith_options* options_with(const char* name, const char* value) {
  kith_options* options = NULL;
  CHECK_OK(kith_options_create(&options));
  if (name != NULL) CHECK_OK(kith_options_set(options, name, value));
  return options;
}
