/* check.h: what the tests of kith.h share: checks that count what fails, made-up points, and the answers of plain
 * loops. */
#ifndef CHECK_H
#define CHECK_H

#include <kith.h>
#include <stdint.h>

/* Goes on where the condition does not hold, and has the program fail. */
#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
/* The status must be this one, and the last error hold this text; "" where the status is KITH_OK. */
#define CHECK_STATUS(call, status, text) check_status((call), (status), (text), #call, __FILE__, __LINE__)
#define CHECK_OK(call) CHECK_STATUS(call, KITH_OK, "")
#define CHECK_REFUSED(call, text) CHECK_STATUS(call, KITH_INVALID_ARGUMENT, text)

void check_that(int holds, const char* condition, const char* file, int line);
void check_status(kith_status got, kith_status wanted, const char* text, const char* call, const char* file, int line);
int failed_checks(void);

/* Whole numbers from 0 to 15, less 8 where the type has a sign: every type holds them, and sums of their products, so
   that answers are the same bits however they are added up; and many are equal. */
typedef struct points {
  kith_matrix matrix;
  double* exact; /* rows x cols */
} points;

points make_points(int64_t rows, int64_t cols, kith_dtype dtype, uint64_t seed);
void free_points(points* made);

/* Room for an answer, filled with what no answer is. */
typedef struct answer {
  kith_neighbors out;
  int64_t ids[4096];
  double distances[4096]; /* memory for either type */
} answer;

void make_answer(answer* made, kith_dtype distances);
double distance_at(const void* distances, kith_dtype dtype, int64_t at);

/* The distance of two rows by "euclidean", "sqeuclidean", "manhattan" or "inner_product", rounded as answers are. */
double plain_distance(const points* a, int64_t row, const points* b, int64_t other, const char* metric);
/* The k nearest of a query by a loop over all points: ids and distances. `self` is an id to leave out, or -1. */
void plain_search(const points* base, const points* queries, int64_t query, int64_t k, const char* metric, int64_t self,
                  int64_t* ids, double* distances);
/* Whether queries x k neighbors are those of the loop. */
int same_as_plain(const points* base, const points* queries, int64_t k, const char* metric, int is_self,
                  const kith_neighbors* out);

extern const kith_dtype all_dtypes[6];

kith_options* options_with(const char* name, const char* value);

#endif
