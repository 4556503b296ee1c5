/* main.c: runs the tests of kith.h, or those whose names hold the argument. Each must leave no handle behind. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tests.h"

typedef struct test {
  const char* name;
  void (*run)(void);
} test;

#define TEST_ROW(name) {#name, name},
static const test tests[] = {EACH_TEST(TEST_ROW)};

int main(int argc, char** argv) {
  int ran = 0;
  for (size_t i = 0; i < sizeof tests / sizeof *tests; ++i) {
    if (argc > 1 && strstr(tests[i].name, argv[1]) == NULL) continue;
    const int failed_before = failed_checks();
    ++ran;
    tests[i].run();
    CHECK(kith_live_handles() == 0);
    if (failed_checks() > failed_before) fprintf(stderr, "failed: %s\n", tests[i].name);
  }
  printf("%d tests, %d failed checks\n", ran, failed_checks());
  return ran == 0 || failed_checks() > 0;
}
