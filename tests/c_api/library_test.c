/* library_test.c: the library about itself, texts in buffers, errors of threads. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tests.h"

void library_says_what_it_is(void) {
  CHECK(strcmp(kith_version(), KITH_TEST_VERSION) == 0);
  CHECK(kith_c_api_version() == KITH_C_API_VERSION);
  CHECK(kith_last_error() != NULL);

  CHECK(strcmp(kith_status_name(KITH_OK), "ok") == 0);
  CHECK(strcmp(kith_status_name(KITH_INVALID_ARGUMENT), "invalid argument") == 0);
  CHECK(strcmp(kith_status_name(KITH_BAD_DATA), "bad data") == 0);
  CHECK(strcmp(kith_status_name(KITH_OUT_OF_MEMORY), "out of memory") == 0);
  CHECK(strcmp(kith_status_name(KITH_NO_DEVICE), "no such device") == 0);
  CHECK(strcmp(kith_status_name(KITH_CANNOT_WRITE), "cannot write") == 0);
  CHECK(strcmp(kith_status_name(KITH_CANCELLED), "cancelled") == 0);
  CHECK(strcmp(kith_status_name(KITH_INTERNAL), "internal error") == 0);
  CHECK(strcmp(kith_status_name(8), "unknown status") == 0);
  CHECK(strcmp(kith_status_name(-1), "unknown status") == 0);

  for (int i = 0; i < 6; ++i) {
    const kith_dtype dtype = all_dtypes[i];
    CHECK(kith_distance_dtype(dtype) == (dtype == KITH_FLOAT64 ? KITH_FLOAT64 : KITH_FLOAT32));
  }
  CHECK(kith_dtype_size(KITH_FLOAT64) == 8 && kith_dtype_size(KITH_FLOAT32) == 4);
  CHECK(kith_dtype_size(KITH_FLOAT16) == 2 && kith_dtype_size(KITH_BFLOAT16) == 2);
  CHECK(kith_dtype_size(KITH_UINT8) == 1 && kith_dtype_size(KITH_INT8) == 1);
  CHECK(kith_distance_dtype(0) == 0 && kith_distance_dtype(7) == 0 && kith_distance_dtype(-1) == 0);
  CHECK(kith_dtype_size(0) == 0 && kith_dtype_size(7) == 0 && kith_dtype_size(-1) == 0);
}

void texts_fit_their_buffers(void) {
  char small[4] = "xyz";
  char whole[256];
  size_t length = 0;
  CHECK_OK(kith_available_backends(NULL, 0, &length));
  CHECK(length >= 3 && length < sizeof whole);
  CHECK_OK(kith_available_backends(whole, sizeof whole, NULL));
  CHECK(strlen(whole) == length && strstr(whole, "cpu") != NULL);

  size_t again = 0;
  CHECK_OK(kith_available_backends(small, 3, &again));
  CHECK(again == length && strncmp(small, whole, 2) == 0 && small[2] == '\0' && small[3] == '\0');
  memcpy(small, "xyz", 4);
  CHECK_OK(kith_available_backends(small, 1, &again));
  CHECK(small[0] == '\0' && small[1] == 'y');
  CHECK_REFUSED(kith_available_backends(NULL, 5, &length), "buffer of the text is null");
  CHECK_REFUSED(kith_available_backends(NULL, 0, NULL), "buffer of the text is null");

  /* One byte less than the text and its end need. */
  char* const exact = malloc(length + 1);
  CHECK_OK(kith_available_backends(exact, length + 1, &again));
  CHECK(strcmp(exact, whole) == 0);
  CHECK_OK(kith_available_backends(exact, length, &again));
  CHECK(strlen(exact) == length - 1 && again == length);
  free(exact);

  CHECK_OK(kith_info(NULL, 0, &length));
  char* const info = malloc(length + 1);
  CHECK_OK(kith_info(info, length + 1, NULL));
  CHECK(info[0] == '{' && info[length - 1] == '}');
  CHECK(strstr(info, "\"version\": \"" KITH_TEST_VERSION "\"") != NULL);
  CHECK(strstr(info, "\"euclidean\"") != NULL && strstr(info, "\"shifted_sort.certify\"") != NULL);
  CHECK(strstr(info, "\"weighted-mean\"") != NULL && strstr(info, "\"tree\"") != NULL);
  free(info);
}

static void* fail_elsewhere(void* said) {
  CHECK(strcmp(kith_last_error(), "") == 0);
  CHECK_REFUSED(kith_options_create(NULL), "out is null");
  strcpy(said, kith_last_error());
  return NULL;
}

void errors_are_of_their_thread(void) {
  char small[8];
  CHECK_REFUSED(kith_index_destroy((kith_index*)(void*)small), "is no kith_index");
  char before[256];
  char elsewhere[256] = "";
  strcpy(before, kith_last_error());
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, fail_elsewhere, elsewhere) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(strcmp(elsewhere, "out is null") == 0);
  CHECK(strcmp(kith_last_error(), before) == 0);

  /* A call that succeeds leaves the text; one that fails with a long one cuts it, at a whole character. */
  kith_options* const options = options_with("metric", "cosine");
  CHECK(strcmp(kith_last_error(), before) == 0);
  char name[8001];
  for (int i = 0; i < 4000; ++i) memcpy(name + 2 * i, "\xC3\xA9", 2);
  name[8000] = '\0';
  CHECK_REFUSED(kith_options_set(options, name, "1"), "unknown option '\xC3\xA9\xC3\xA9");
  const size_t length = strlen(kith_last_error());
  CHECK(length >= 4090 && length < 4096 && (unsigned char)kith_last_error()[length - 1] == 0xA9);
  CHECK_OK(kith_options_destroy(options));
}
