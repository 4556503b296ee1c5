/* kith.h: Kith for C, and for all languages that can call C. The same searches with the same answers as those of the
   C++ headers in kith/, whose comments say more about each; docs/c.md has examples.

   What holds for all functions:
   - A kith_status is KITH_OK or says what went wrong; kith_last_error() then has a sentence. Nothing is thrown, and no
     wrong argument that can be recognized as such ends the process: a null pointer, a number that stands for nothing, a
     buffer that its description calls too small, a handle that was destroyed or is of another kind.
   - Handles (kith_options, kith_index, kith_lists and others) are numbers in the shape of pointers: never follow or
     copy what they seem to point to. Each is given back once, by the function of its kind whose name ends in _destroy,
     at any time: calls that are under way keep what they work on. The null handle may be destroyed, which does
     nothing.
   - A handle may be used by several threads at once.
   - Results come last, through pointers. A handle or a number is written only where the status is KITH_OK; arrays that
     the caller provides have unspecified contents after an error.
   - Structures never change. What is new comes as a new function or as the name of an option, and raises
     KITH_C_API_VERSION; what there is stays. */
#ifndef KITH_H
#define KITH_H

#include <stddef.h>
#include <stdint.h>

#define KITH_C_API_VERSION 1

/* Inside: exported, never throws, and a status is not to be passed over. */
#if defined(__GNUC__)
#define KITH_C_API __attribute__((visibility("default")))
#define KITH_C_CHECKED KITH_C_API __attribute__((warn_unused_result))
#else
#define KITH_C_API
#define KITH_C_CHECKED
#endif
#ifdef __cplusplus
#define KITH_C_NOEXCEPT noexcept
extern "C" {
#else
#define KITH_C_NOEXCEPT
#endif

/* ---- Numbers that stand for something: of a fixed size, so that every language knows how to pass them ---- */

typedef int32_t kith_status;
enum {
  KITH_OK = 0,
  KITH_INVALID_ARGUMENT = 1, /* a parameter out of its range, an unknown name, shapes that do not fit */
  KITH_BAD_DATA = 2,         /* NaN or Inf, a zero vector under cosine, a malformed or missing file */
  KITH_OUT_OF_MEMORY = 3,    /* the budget or the machine's memory cannot hold the work */
  KITH_NO_DEVICE = 4,        /* the backend asked for does not exist here */
  KITH_CANNOT_WRITE = 5,     /* an output could not be written whole; nothing of it is left behind */
  KITH_CANCELLED = 6,        /* a callback asked to stop */
  KITH_INTERNAL = 7          /* a defect of the library */
};

/* Types of elements. None is 0, so that one that was forgotten is an error. */
typedef int32_t kith_dtype;
enum {
  KITH_FLOAT32 = 1,
  KITH_FLOAT64 = 2,
  KITH_FLOAT16 = 3,  /* IEEE's half precision: _Float16, __half, or its bits as uint16_t */
  KITH_BFLOAT16 = 4, /* the upper half of a float */
  KITH_UINT8 = 5,
  KITH_INT8 = 6
};

/* Where values lie. The backend of the CPU takes host memory only. */
typedef int32_t kith_memory;
enum { KITH_HOST = 0, KITH_DEVICE = 1 };

/* What callbacks return. */
enum { KITH_CONTINUE = 0, KITH_CANCEL = 1 };

/* ---- Descriptions of the caller's memory ---- */

/* Points as rows. Strides count elements from one row, or one column, to the next. row_stride 0 means packed rows,
   `cols` elements each, and col_stride 0 means 1; a column-major matrix has row_stride 1 and col_stride `rows`.
   Elements are aligned as their type is. */
typedef struct kith_matrix {
  const void* data;
  int64_t rows;
  int64_t cols;
  int64_t row_stride;
  int64_t col_stride;
  kith_dtype dtype;
  kith_memory memory; /* KITH_DEVICE: `data` is a pointer of the current CUDA device */
} kith_matrix;

/* Where an answer of numbers goes: room for `capacity` elements. A dtype that is not that of the answer is an error. */
typedef struct kith_array {
  void* data;
  int64_t capacity;
  kith_dtype dtype;
  kith_memory memory;
} kith_array;

/* Where k neighbors of each query go, the best first: row q of `ids` and of `distances` begins at q * k. */
typedef struct kith_neighbors {
  int64_t* ids;
  void* distances;            /* of type `dtype` */
  int64_t capacity;           /* elements that `ids` and `distances` have room for, each: at least queries * k */
  uint8_t* certified;         /* a flag for each query where option shifted_sort.certify asks for it, else null */
  int64_t certified_capacity; /* at least queries; 0 where `certified` is null */
  kith_dtype dtype;           /* kith_distance_dtype() of the points */
  kith_memory memory;
} kith_neighbors;

/* ---- The library ---- */

/* "major.minor.patch" of the library that runs. */
KITH_C_API const char* kith_version(void) KITH_C_NOEXCEPT;

/* KITH_C_API_VERSION of the library that runs: at least that of the header, or functions may be missing. */
KITH_C_API int32_t kith_c_api_version(void) KITH_C_NOEXCEPT;

/* What the last call in this thread that failed has to say, in UTF-8; "" before any did. Never null. The text stays
   until the next call in this thread fails. */
KITH_C_API const char* kith_last_error(void) KITH_C_NOEXCEPT;

/* "ok", "invalid argument", ...; "unknown status" for other numbers. */
KITH_C_API const char* kith_status_name(kith_status status) KITH_C_NOEXCEPT;

/* The type of distances between points of a type: KITH_FLOAT64 of KITH_FLOAT64, KITH_FLOAT32 of all others. 0 for
   numbers that stand for no type. */
KITH_C_API kith_dtype kith_distance_dtype(kith_dtype dtype) KITH_C_NOEXCEPT;

/* Bytes of an element; 0 for numbers that stand for no type. */
KITH_C_API int64_t kith_dtype_size(kith_dtype dtype) KITH_C_NOEXCEPT;

/* Functions that give a text write it into a buffer of `size` bytes, as snprintf does: its first size - 1 bytes at the
   most, and a 0 behind them. *length, where `length` is not null, is how long the whole text is without the 0; where
   that is not less than `size`, call again with a larger buffer. `buffer` may be null where `size` is 0. */

/* The names of the backends that this build has and this machine can run, the fastest first: "cuda,cpu". */
KITH_C_CHECKED kith_status kith_available_backends(char* buffer, size_t size, size_t* length) KITH_C_NOEXCEPT;

/* A JSON object: version, c_api_version, backends, simd, threads, memory_bytes, devices, and the names of metrics (of
   points, and as bit_metrics, sparse_metrics and defined_metrics), methods, reductions and options. */
KITH_C_CHECKED kith_status kith_info(char* buffer, size_t size, size_t* length) KITH_C_NOEXCEPT;

/* Handles that were not destroyed yet, of all kinds: for tests that want none to be lost. */
KITH_C_API int64_t kith_live_handles(void) KITH_C_NOEXCEPT;

/* ---- Options ---- */

typedef struct kith_options kith_options;

/* All at their defaults, which are right for most uses. Where a function takes options, null stands for these. */
KITH_C_CHECKED kith_status kith_options_create(kith_options** out) KITH_C_NOEXCEPT;
KITH_C_API kith_status kith_options_destroy(kith_options* options) KITH_C_NOEXCEPT;

/* Sets an option by its name, from text: "metric" to "cosine", "k" being no option. Numbers may be text too, flags are
   "0", "1", "false" or "true", and lists have commas. An unknown name is an error that lists the known ones. The names,
   which are those of kith/options.hpp:
   - text: metric, backend, method, distance, select, triangle.form, triangle.filter, triangle.placement,
     triangle.layout, shifted_sort.curve, shifted_sort.merge, shifted_sort.positions;
   - integers: threads, memory_budget, triangle.query_landmarks, triangle.base_landmarks, triangle.threads_per_query,
     shifted_sort.shifts, shifted_sort.window;
   - flags: pad_missing, check_finite, statistics, triangle.remapped, shifted_sort.guaranteed, shifted_sort.certify;
   - doubles: p (of metric minkowski, which must be set before), max_distance, epsilon, shifted_sort.shift;
   - several doubles: period;
   - devices: their ids, as "0,1,2", an integer for one, or "all"; empty for the one that is current.
   Those of kith_pivot_index, which kith/pivots.hpp explains:
   - text: pivots.choice, which is best-bounds or farthest-first;
   - integers: pivots.count, where 0 means as many as are usual;
   - flags that promise something of the distance: pivots.symmetric and pivots.triangle_inequality, both set unless they
     are cleared, and pivots.integer_valued;
   - doubles that say what it may be off by: pivots.relative_error, pivots.absolute_error. */
KITH_C_CHECKED kith_status kith_options_set(kith_options* options, const char* name, const char* value) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_options_set_int(kith_options* options, const char* name, int64_t value) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_options_set_double(kith_options* options, const char* name,
                                                   double value) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_options_set_doubles(kith_options* options, const char* name, const double* values,
                                                    int64_t count) KITH_C_NOEXCEPT;

/* The value of an option as text that kith_options_set() takes. */
KITH_C_CHECKED kith_status kith_options_get(const kith_options* options, const char* name, char* buffer, size_t size,
                                            size_t* length) KITH_C_NOEXCEPT;

/* Called on the thread that searches, between tiles of the work, with the distances computed so far and in all. What it
   returns other than KITH_CONTINUE ends the search with KITH_CANCELLED. It must return: no longjmp, no exception. */
typedef int32_t (*kith_progress)(int64_t done, int64_t total, void* user);

/* `user` is handed to the callback, which is null for none. What is made with the options keeps both. */
KITH_C_CHECKED kith_status kith_options_set_progress(kith_options* options, kith_progress callback,
                                                     void* user) KITH_C_NOEXCEPT;

/* ---- An index: base points, prepared for many searches ---- */

/* `stream`, here and below, is a cudaStream_t or null; it is ignored where nothing lies on a device. kith/index.hpp
   says what is enqueued on it, and when such calls return. */

typedef struct kith_index kith_index;

/* The base stays where it is: it must outlive the index, and not change. The options are copied. */
KITH_C_CHECKED kith_status kith_index_create(const kith_matrix* base, const kith_options* options, void* stream,
                                             kith_index** out) KITH_C_NOEXCEPT;
/* Copies the base, which lies in host memory. */
KITH_C_CHECKED kith_status kith_index_create_copy(const kith_matrix* base, const kith_options* options,
                                                  kith_index** out) KITH_C_NOEXCEPT;
KITH_C_API kith_status kith_index_destroy(kith_index* index) KITH_C_NOEXCEPT;

/* Any of the last three may be null. */
KITH_C_CHECKED kith_status kith_index_shape(const kith_index* index, int64_t* rows, int64_t* dims,
                                            kith_dtype* dtype) KITH_C_NOEXCEPT;

/* The k nearest base points of each query, whose dtype and cols are the base's: 1 <= k <= rows. Rows are sorted by
   (distance, id); ids are numbers of rows, from 0. */
KITH_C_CHECKED kith_status kith_index_search(const kith_index* index, const kith_matrix* queries, int64_t k,
                                             const kith_neighbors* out, void* stream) KITH_C_NOEXCEPT;
/* The same with a max_distance and an epsilon of this search's own, in the place of the options'. */
KITH_C_CHECKED kith_status kith_index_search_limited(const kith_index* index, const kith_matrix* queries, int64_t k,
                                                     double max_distance, double epsilon, const kith_neighbors* out,
                                                     void* stream) KITH_C_NOEXCEPT;
/* The k nearest others of each base point, itself left out by its id: k <= rows - 1. */
KITH_C_CHECKED kith_status kith_index_search_self(const kith_index* index, int64_t k, const kith_neighbors* out,
                                                  void* stream) KITH_C_NOEXCEPT;

/* Lists whose lengths only the search finds out: of neighbors within a radius, of edges of a graph. */
typedef struct kith_lists kith_lists;

/* All base points within the radii: one for all queries, or one for each, in `radius_count` doubles that are rounded to
   the type of distances. Under inner_product those whose product is at least the radius. With `count_only`, which is
   faster, there are offsets alone. */
KITH_C_CHECKED kith_status kith_index_search_radius(const kith_index* index, const kith_matrix* queries,
                                                    const double* radii, int64_t radius_count, int32_t count_only,
                                                    void* stream, kith_lists** out) KITH_C_NOEXCEPT;
/* The same of each base point, itself left out by its id. */
KITH_C_CHECKED kith_status kith_index_search_radius_self(const kith_index* index, const double* radii,
                                                         int64_t radius_count, int32_t count_only, void* stream,
                                                         kith_lists** out) KITH_C_NOEXCEPT;
/* The graph of each point's k nearest others: `symmetrize` is "none", "union" or "mutual", null for none. */
KITH_C_CHECKED kith_status kith_index_graph(const kith_index* index, int64_t k, const char* symmetrize, void* stream,
                                            kith_lists** out) KITH_C_NOEXCEPT;

/* What is made of the k nearest of each query, kith_reduced_columns() numbers of the distances' type a query:
   `operation` is "mean", "weighted-mean", "sum", "min", "max", "kth-distance", "density" or "covariance". The first
   five are of `values`, a row of the distances' type for each base point; for the others it may be null. */
KITH_C_CHECKED kith_status kith_index_reduce(const kith_index* index, const kith_matrix* queries, int64_t k,
                                             const kith_matrix* values, const char* operation, const kith_array* out,
                                             void* stream) KITH_C_NOEXCEPT;

/* The plan of a search of so many queries, several lines for people. */
KITH_C_CHECKED kith_status kith_index_explain(const kith_index* index, int64_t queries, int64_t k, char* buffer,
                                              size_t size, size_t* length) KITH_C_NOEXCEPT;

/* ---- Lists ---- */

/* List r has ids[offsets[r]] ... ids[offsets[r + 1] - 1] with their distances. All is host memory of the handle: it
   stays until that is destroyed. */
typedef struct kith_list_arrays {
  int64_t rows;           /* lists */
  int64_t count;          /* of all together: offsets[rows] */
  const int64_t* offsets; /* rows + 1 */
  const int64_t* ids;     /* null where only counts were asked for, and may be where count is 0 */
  const void* distances;  /* likewise */
  kith_dtype dtype;       /* of the distances */
} kith_list_arrays;

KITH_C_CHECKED kith_status kith_lists_get(const kith_lists* lists, kith_list_arrays* out) KITH_C_NOEXCEPT;
KITH_C_API kith_status kith_lists_destroy(kith_lists* lists) KITH_C_NOEXCEPT;

/* ---- Without an index ---- */

KITH_C_CHECKED kith_status kith_search(const kith_matrix* base, const kith_matrix* queries, int64_t k,
                                       const kith_options* options, const kith_neighbors* out,
                                       void* stream) KITH_C_NOEXCEPT;

/* All distances, a row of base rows for each query. `out` is host memory. Of the options metric, p, backend, threads,
   check_finite and the callback matter. */
KITH_C_CHECKED kith_status kith_distances(const kith_matrix* base, const kith_matrix* queries,
                                          const kith_options* options, const kith_array* out,
                                          void* stream) KITH_C_NOEXCEPT;

/* The k smallest values of each row, or the largest where `largest` is not 0, the best first; among equal ones the
   smaller id. `values` has the matrix's dtype; `ids` has room for as many, or is null. NaN comes last. Of the options
   backend, select, threads, memory_budget and the callback matter. */
KITH_C_CHECKED kith_status kith_topk(const kith_matrix* matrix, int64_t k, int32_t largest, const kith_options* options,
                                     const kith_array* values, int64_t* ids, void* stream) KITH_C_NOEXCEPT;

/* Columns of kith_index_reduce(), of values with `value_columns` of them and points with so many dimensions. */
KITH_C_CHECKED kith_status kith_reduced_columns(const char* operation, int64_t value_columns, int64_t dims,
                                                int64_t* out) KITH_C_NOEXCEPT;

/* The plan of a search that need not be there; on a device that is not here where `device` is its name ("a100"), else
   null. */
KITH_C_CHECKED kith_status kith_explain(int64_t base_rows, int64_t queries, int64_t dims, int64_t k, kith_dtype dtype,
                                        const kith_options* options, const char* device, char* buffer, size_t size,
                                        size_t* length) KITH_C_NOEXCEPT;

/* ---- Collections: points with ids of their own that come and go, are searched in part, and are kept in files ---- */

/* Everything is host memory. Searches see the points as they were when the call began; changes come one after the
   other, and one that fails leaves everything as it was. kith/collection.hpp says more about each function. */

typedef struct kith_collection kith_collection;

/* What comes with points, one of each for every point. Ids are any but -1, no two alike; where they are null, points
   are numbered from 0 or from the largest id on. Tags are for filters; where they are null all are 0, or, in an update,
   stay. */
typedef struct kith_labels {
  const int64_t* ids;
  const int64_t* tags;
  int64_t count; /* as many as points */
} kith_labels;

/* Lists of ids or of tags: one for all queries, or one for each. */
typedef struct kith_id_lists {
  const int64_t* values;
  int64_t count;
  const int64_t* offsets; /* null: one list. Else query q has values[offsets[q]] ... values[offsets[q + 1] - 1] */
  int64_t offset_count;   /* queries + 1, or 0 */
} kith_id_lists;

/* Which points a search may find: those for which all holds that is not null. Where fewer than k points are left, the
   last places of a row have id -1 and an infinite distance (inner_product: -infinity). */
typedef struct kith_filter {
  /* A flag for each point, in the order of ascending ids: bytes, or words, of which point i has bit i % 64 of word
     i / 64. */
  const uint8_t* mask_bytes;
  int64_t mask_byte_count;
  const uint64_t* mask_words;
  int64_t mask_word_count;
  int64_t mask_each; /* 0: one row of flags for all queries; 1: one for each */
  const kith_id_lists* allowed;
  const kith_id_lists* excluded;
  const kith_id_lists* tags; /* of points that are allowed */
} kith_filter;

/* What a change took. */
typedef struct kith_change {
  int64_t points;   /* that were added, removed or replaced */
  int64_t copied;   /* rows that were copied */
  int64_t segments; /* that there are now */
  double seconds;
} kith_change;

/* Without points. */
KITH_C_CHECKED kith_status kith_collection_create(int64_t dims, kith_dtype dtype, const kith_options* options,
                                                  kith_collection** out) KITH_C_NOEXCEPT;
/* Copies the points. `labels` may be null. */
KITH_C_CHECKED kith_status kith_collection_create_from(const kith_matrix* points, const kith_labels* labels,
                                                       const kith_options* options,
                                                       kith_collection** out) KITH_C_NOEXCEPT;
KITH_C_API kith_status kith_collection_destroy(kith_collection* collection) KITH_C_NOEXCEPT;

/* Any of the last three may be null. */
KITH_C_CHECKED kith_status kith_collection_shape(const kith_collection* collection, int64_t* rows, int64_t* dims,
                                                 kith_dtype* dtype) KITH_C_NOEXCEPT;
/* *out becomes 1 where a point has the id, else 0. */
KITH_C_CHECKED kith_status kith_collection_contains(const kith_collection* collection, int64_t id,
                                                    int32_t* out) KITH_C_NOEXCEPT;
/* The ids of the points that a filter, which may be null, leaves, ascending; *count becomes their number. `ids` is null
   to ask for that alone; else room for too few is an error, and nothing is written but *count. */
KITH_C_CHECKED kith_status kith_collection_ids(const kith_collection* collection, const kith_filter* filter,
                                               int64_t* ids, int64_t capacity, int64_t* count) KITH_C_NOEXCEPT;
/* The points of these ids, packed rows in their order, of the collection's dtype. */
KITH_C_CHECKED kith_status kith_collection_points(const kith_collection* collection, const int64_t* ids, int64_t count,
                                                  const kith_array* out) KITH_C_NOEXCEPT;

/* Adds points whose ids are new. `labels` and `change`, here and below, may be null. */
KITH_C_CHECKED kith_status kith_collection_add(kith_collection* collection, const kith_matrix* points,
                                               const kith_labels* labels, kith_change* change) KITH_C_NOEXCEPT;
/* Removes the points of these ids, all of which must be there, each named once. */
KITH_C_CHECKED kith_status kith_collection_remove(kith_collection* collection, const int64_t* ids, int64_t count,
                                                  kith_change* change) KITH_C_NOEXCEPT;
/* Puts other points in the place of those with the labels' ids, which must be there. */
KITH_C_CHECKED kith_status kith_collection_update(kith_collection* collection, const kith_matrix* points,
                                                  const kith_labels* labels, kith_change* change) KITH_C_NOEXCEPT;
/* Puts all points into one segment, without what was removed. */
KITH_C_CHECKED kith_status kith_collection_compact(kith_collection* collection, kith_change* change) KITH_C_NOEXCEPT;

/* As those of an index, of the points that the filter, which may be null, leaves. `certified` is null. Of functions
   without queries the filter is one for all, and rows are in the order of kith_collection_ids(). */
KITH_C_CHECKED kith_status kith_collection_search(const kith_collection* collection, const kith_matrix* queries,
                                                  int64_t k, const kith_filter* filter,
                                                  const kith_neighbors* out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_collection_search_self(const kith_collection* collection, int64_t k,
                                                       const kith_filter* filter,
                                                       const kith_neighbors* out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_collection_search_radius(const kith_collection* collection, const kith_matrix* queries,
                                                         const double* radii, int64_t radius_count, int32_t count_only,
                                                         const kith_filter* filter, kith_lists** out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_collection_search_radius_self(const kith_collection* collection, const double* radii,
                                                              int64_t radius_count, int32_t count_only,
                                                              const kith_filter* filter,
                                                              kith_lists** out) KITH_C_NOEXCEPT;
/* A square matrix: `ids` of the lists are numbers of rows. */
KITH_C_CHECKED kith_status kith_collection_graph(const kith_collection* collection, int64_t k, const char* symmetrize,
                                                 const kith_filter* filter, kith_lists** out) KITH_C_NOEXCEPT;
/* `values` has a row for each point, in the order of ascending ids, also of those that the filter leaves out. */
KITH_C_CHECKED kith_status kith_collection_reduce(const kith_collection* collection, const kith_matrix* queries,
                                                  int64_t k, const kith_matrix* values, const char* operation,
                                                  const kith_filter* filter, const kith_array* out) KITH_C_NOEXCEPT;
/* The plan of a search of the largest segment. */
KITH_C_CHECKED kith_status kith_collection_explain(const kith_collection* collection, int64_t queries, int64_t k,
                                                   char* buffer, size_t size, size_t* length) KITH_C_NOEXCEPT;

/* Writes a file, whole or not at all: what was there before stays until the new one is complete. */
KITH_C_CHECKED kith_status kith_collection_save(const kith_collection* collection, const char* path) KITH_C_NOEXCEPT;
/* Maps a file of kith_collection_save(), which must not change meanwhile. KITH_BAD_DATA where it is damaged, cut off or
   newer; with `verify` all of it is read and compared with its checksums. Nothing else of it is read but its head,
   until searches need it. Of the options those that the file has are
   taken from it. */
KITH_C_CHECKED kith_status kith_collection_load(const char* path, const kith_options* options, int32_t verify,
                                                kith_collection** out) KITH_C_NOEXCEPT;
/* What a file holds, as a JSON object: dtype, rows, dims, metric, method, has_ids, has_tags, prepared, file_bytes,
   version. */
KITH_C_CHECKED kith_status kith_collection_file_info(const char* path, char* buffer, size_t size,
                                                     size_t* length) KITH_C_NOEXCEPT;

/* ---- Batches: many sets of points in one call, where each query searches the points of its own batch alone ---- */

/* Batch b has the base rows base_offsets[b] ... base_offsets[b + 1] - 1, and its queries likewise: both arrays, which
   lie in host memory, have batches + 1 numbers, from 0 to the number of rows. Batches may have no rows. Ids are numbers
   of rows of the whole base; where a batch has fewer than k points, the last places of a row have id -1 and an infinite
   distance (inner_product: -infinity). `certified` is null. kith/batches.hpp says more. */
KITH_C_CHECKED kith_status kith_search_batches(const kith_matrix* base, const int64_t* base_offsets,
                                               const kith_matrix* queries, const int64_t* query_offsets,
                                               int64_t batches, int64_t k, const kith_options* options,
                                               const kith_neighbors* out, void* stream) KITH_C_NOEXCEPT;
/* The k nearest others of each base point in its batch, itself left out by its id. */
KITH_C_CHECKED kith_status kith_search_batches_self(const kith_matrix* base, const int64_t* offsets, int64_t batches,
                                                    int64_t k, const kith_options* options, const kith_neighbors* out,
                                                    void* stream) KITH_C_NOEXCEPT;

/* ---- Packed bits: fingerprints, hashes, binary embeddings ---- */

/* Rows of bits in host memory, eight in a byte, the first in its highest place, as numpy.packbits has them. Where the
   last byte of a row is not full, its other bits are 0. */
typedef struct kith_bits {
  const uint8_t* data;
  int64_t rows;
  int64_t bits;   /* of a row: 1 to 2^30 */
  int64_t stride; /* bytes from one row to the next; 0 means packed rows, (bits + 7) / 8 bytes each */
} kith_bits;

/* Answers, here and of sparse rows, of custom metrics and of pivots, go to host memory; `certified` is null. */

typedef struct kith_bit_index kith_bit_index;

/* `metric` is "hamming", the share of bits that differ, or "jaccard", also called "tanimoto"; null for hamming. The
   base must outlive the index, and not change. Of the options those count that kith/bits.hpp names; what asks for
   something else is refused. Distances are KITH_FLOAT32. */
KITH_C_CHECKED kith_status kith_bit_index_create(const kith_bits* base, const char* metric, const kith_options* options,
                                                 kith_bit_index** out) KITH_C_NOEXCEPT;
/* Copies the base. */
KITH_C_CHECKED kith_status kith_bit_index_create_copy(const kith_bits* base, const char* metric,
                                                      const kith_options* options,
                                                      kith_bit_index** out) KITH_C_NOEXCEPT;
KITH_C_API kith_status kith_bit_index_destroy(kith_bit_index* index) KITH_C_NOEXCEPT;
/* Either of the last two may be null. */
KITH_C_CHECKED kith_status kith_bit_index_shape(const kith_bit_index* index, int64_t* rows,
                                                int64_t* bits) KITH_C_NOEXCEPT;
/* As those of kith_index. */
KITH_C_CHECKED kith_status kith_bit_index_search(const kith_bit_index* index, const kith_bits* queries, int64_t k,
                                                 const kith_neighbors* out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_bit_index_search_self(const kith_bit_index* index, int64_t k,
                                                      const kith_neighbors* out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_bit_index_search_radius(const kith_bit_index* index, const kith_bits* queries,
                                                        const double* radii, int64_t radius_count, int32_t count_only,
                                                        kith_lists** out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_bit_index_search_radius_self(const kith_bit_index* index, const double* radii,
                                                             int64_t radius_count, int32_t count_only,
                                                             kith_lists** out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_bit_index_explain(const kith_bit_index* index, int64_t queries, int64_t k, char* buffer,
                                                  size_t size, size_t* length) KITH_C_NOEXCEPT;

/* ---- Sparse rows ---- */

/* Points as compressed sparse rows in host memory: row i has values[j] in column indices[j], for j from indptr[i] to
   indptr[i + 1] - 1. Columns of a row may come in any order, and repeatedly, when their values are added up. */
typedef struct kith_csr {
  int64_t rows;
  int64_t cols;          /* up to 2^31 - 1 */
  int64_t entries;       /* how many values and column numbers there are: indptr does not lead beyond */
  const int64_t* indptr; /* rows + 1 */
  const void* indices;   /* int32_t or int64_t, by index_bytes */
  const void* values;    /* of type `dtype` */
  int32_t index_bytes;   /* 4 or 8 */
  kith_dtype dtype;      /* KITH_FLOAT32 or KITH_FLOAT64 */
} kith_csr;

typedef struct kith_sparse_index kith_sparse_index;

/* `metric` is "euclidean", "sqeuclidean", "cosine", "inner_product", "manhattan" or "jaccard", which is that of the
   sets of columns that are not 0; null for euclidean. The base must outlive the index, and not change. Of the options
   backend, which is "auto" or "cpu", threads, memory_budget, max_distance, check_finite and the callback count; what
   asks for something else is refused. Distances are of the type of the values. */
KITH_C_CHECKED kith_status kith_sparse_index_create(const kith_csr* base, const char* metric,
                                                    const kith_options* options,
                                                    kith_sparse_index** out) KITH_C_NOEXCEPT;
/* Copies the base. */
KITH_C_CHECKED kith_status kith_sparse_index_create_copy(const kith_csr* base, const char* metric,
                                                         const kith_options* options,
                                                         kith_sparse_index** out) KITH_C_NOEXCEPT;
KITH_C_API kith_status kith_sparse_index_destroy(kith_sparse_index* index) KITH_C_NOEXCEPT;
/* Any of the last three may be null. */
KITH_C_CHECKED kith_status kith_sparse_index_shape(const kith_sparse_index* index, int64_t* rows, int64_t* dims,
                                                   kith_dtype* dtype) KITH_C_NOEXCEPT;
/* As those of kith_index. */
KITH_C_CHECKED kith_status kith_sparse_index_search(const kith_sparse_index* index, const kith_csr* queries, int64_t k,
                                                    const kith_neighbors* out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_sparse_index_search_self(const kith_sparse_index* index, int64_t k,
                                                         const kith_neighbors* out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_sparse_index_search_radius(const kith_sparse_index* index, const kith_csr* queries,
                                                           const double* radii, int64_t radius_count,
                                                           int32_t count_only, kith_lists** out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_sparse_index_search_radius_self(const kith_sparse_index* index, const double* radii,
                                                                int64_t radius_count, int32_t count_only,
                                                                kith_lists** out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_sparse_index_graph(const kith_sparse_index* index, int64_t k, const char* symmetrize,
                                                   kith_lists** out) KITH_C_NOEXCEPT;

/* ---- Metrics by their definition: others than those of kith_index by name, formulas, functions of yours ---- */

typedef struct kith_metric kith_metric;

/* What a metric takes besides its name: some numbers, or a text. */
typedef struct kith_metric_parameter {
  const char* name;     /* "p", "w", "V", "VI" or "zero_vectors" */
  const double* values; /* null where there is a text */
  int64_t count;        /* of the values; a matrix has its rows one after the other */
  const char* text;     /* of zero_vectors: "error", "zero" or "one"; null where there are values */
} kith_metric_parameter;

/* "braycurtis", "mahalanobis" and others: docs/metrics.md has them, with the parameters that they take.
   kith_options_set() sets those of kith_index. `parameters` may be null where `count` is 0. */
KITH_C_CHECKED kith_status kith_metric_create(const char* name, const kith_metric_parameter* parameters, int64_t count,
                                              kith_metric** out) KITH_C_NOEXCEPT;
/* A formula of x, a coordinate of the query, and y, that of the base point: "sum(abs(x - y) / (1 + abs(x)))".
   docs/metrics.md has the grammar; errors name the position. */
KITH_C_CHECKED kith_status kith_metric_create_formula(const char* formula, kith_metric** out) KITH_C_NOEXCEPT;

/* Writes the distance of a query and a base row, both `dims` doubles, to *distance; NaN, which ranks last, where it
   writes none. What it returns other than KITH_CONTINUE ends the search with KITH_CANCELLED. It must return: no
   longjmp, no exception. Several threads may call it at once, with the same `user`. */
typedef int32_t (*kith_pair_distance)(const double* query, const double* row, int64_t dims, double* distance,
                                      void* user);

/* `user`, which is handed to the function, must stay as long as the metric and the indexes by it. `threads` says how
   many may call the function at once: 1 for what must stay on the thread that searches, 0 for any number. */
KITH_C_CHECKED kith_status kith_metric_create_function(kith_pair_distance function, void* user, int32_t threads,
                                                       kith_metric** out) KITH_C_NOEXCEPT;
/* Indexes keep their metric. */
KITH_C_API kith_status kith_metric_destroy(kith_metric* metric) KITH_C_NOEXCEPT;

typedef struct kith_custom_index kith_custom_index;

/* The base must outlive the index, and not change. The metric of the options stays as it is, and what only other
   metrics have is refused: kith/pair_metric.hpp. A formula that is a metric of kith_index is searched as that. */
KITH_C_CHECKED kith_status kith_custom_index_create(const kith_metric* metric, const kith_matrix* base,
                                                    const kith_options* options,
                                                    kith_custom_index** out) KITH_C_NOEXCEPT;
/* Copies the base. */
KITH_C_CHECKED kith_status kith_custom_index_create_copy(const kith_metric* metric, const kith_matrix* base,
                                                         const kith_options* options,
                                                         kith_custom_index** out) KITH_C_NOEXCEPT;
KITH_C_API kith_status kith_custom_index_destroy(kith_custom_index* index) KITH_C_NOEXCEPT;
/* Any of the last three may be null. */
KITH_C_CHECKED kith_status kith_custom_index_shape(const kith_custom_index* index, int64_t* rows, int64_t* dims,
                                                   kith_dtype* dtype) KITH_C_NOEXCEPT;
/* As those of kith_index. Radii may be any numbers but NaN. */
KITH_C_CHECKED kith_status kith_custom_index_search(const kith_custom_index* index, const kith_matrix* queries,
                                                    int64_t k, const kith_neighbors* out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_custom_index_search_self(const kith_custom_index* index, int64_t k,
                                                         const kith_neighbors* out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_custom_index_search_radius(const kith_custom_index* index, const kith_matrix* queries,
                                                           const double* radii, int64_t radius_count,
                                                           int32_t count_only, kith_lists** out) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_custom_index_search_radius_self(const kith_custom_index* index, const double* radii,
                                                                int64_t radius_count, int32_t count_only,
                                                                kith_lists** out) KITH_C_NOEXCEPT;
/* All distances, a row of base rows for each query. */
KITH_C_CHECKED kith_status kith_custom_index_distances(const kith_custom_index* index, const kith_matrix* queries,
                                                       const kith_array* out) KITH_C_NOEXCEPT;

/* ---- Pivots: any objects of yours, where one distance takes microseconds ---- */

/* Writes the distance of a query to an object of the index to *distance, both by their numbers; anything above `bound`
   will do where the distance is above it, and `bound` may be infinite. What it returns other than KITH_CONTINUE ends
   the call with KITH_CANCELLED. It must return: no longjmp, no exception. Several threads may call it at once, with the
   same `user`, unless option threads is 1: then it is called on the thread that searches. */
typedef int32_t (*kith_object_distance)(int64_t query, int64_t object, double bound, double* distance, void* user);
/* Writes to `bounds` numbers that are at most the distances of a query to `count` objects from `first` on. All else is
   as above. */
typedef int32_t (*kith_object_bounds)(int64_t query, int64_t first, int64_t count, double* bounds, void* user);

/* Objects that only the caller knows, numbered from 0. */
typedef struct kith_objects {
  int64_t count;
  kith_object_distance distance;   /* of one of these, as the query, to an object of the index */
  kith_object_bounds lower_bounds; /* cheap ones, for a distance that has them; else null */
  void* user;                      /* handed to both */
} kith_objects;

/* What was evaluated. */
typedef struct kith_pivot_report {
  int64_t objects;
  int64_t queries;
  int64_t pairs;             /* of a query and an object: the evaluations of brute force */
  int64_t pivots;            /* that the index has */
  int64_t build_evaluations; /* that prepared them, once */
  int64_t evaluations;       /* calls of the distance by this search */
  int64_t pivot_evaluations; /* of these, with a pivot for the sake of its bounds */
  int64_t lower_bounds;      /* of the caller's own */
  int64_t threads;
  double seconds;
} kith_pivot_report;

typedef struct kith_pivot_index kith_pivot_index;

/* Computes distances to pivots, by which searches pass over most objects: exactly, under the triangle inequality and
   what else the options pivots.* promise of the distance; a promise that is seen to be broken is KITH_BAD_DATA. The
   callbacks of `base`, whose queries are the objects themselves, are called now and by the functions whose names end in
   _self: `user` must stay as long as the index. Of the options threads, the progress callback and pivots.* count. */
KITH_C_CHECKED kith_status kith_pivot_index_create(const kith_objects* base, const kith_options* options,
                                                   kith_pivot_index** out) KITH_C_NOEXCEPT;
KITH_C_API kith_status kith_pivot_index_destroy(kith_pivot_index* index) KITH_C_NOEXCEPT;
/* Any of the last three may be null. */
KITH_C_CHECKED kith_status kith_pivot_index_shape(const kith_pivot_index* index, int64_t* objects, int64_t* pivots,
                                                  int64_t* build_evaluations) KITH_C_NOEXCEPT;
/* As those of kith_index. Distances are KITH_FLOAT64. `report` may be null. */
KITH_C_CHECKED kith_status kith_pivot_index_search(const kith_pivot_index* index, const kith_objects* queries,
                                                   int64_t k, const kith_neighbors* out,
                                                   kith_pivot_report* report) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_pivot_index_search_self(const kith_pivot_index* index, int64_t k,
                                                        const kith_neighbors* out,
                                                        kith_pivot_report* report) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_pivot_index_search_radius(const kith_pivot_index* index, const kith_objects* queries,
                                                          const double* radii, int64_t radius_count, kith_lists** out,
                                                          kith_pivot_report* report) KITH_C_NOEXCEPT;
KITH_C_CHECKED kith_status kith_pivot_index_search_radius_self(const kith_pivot_index* index, const double* radii,
                                                               int64_t radius_count, kith_lists** out,
                                                               kith_pivot_report* report) KITH_C_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
