#include "support/child.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

namespace kith::test {

void in_child(const std::function<void()>& work) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "not under ThreadSanitizer";
#else
  constexpr unsigned kSeconds = 120;
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(kSeconds);  // a child that hangs is a failure too
    work();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << (WIFSIGNALED(status) ? "ended by a signal" : "failed");
#endif
}

}  // namespace kith::test
