// A part of a test in a process of its own, which may be limited or end as it likes.
#pragma once

#include <functional>

namespace kith::test {

// Runs work() in a child of this process; its failures are this test's. Skips under ThreadSanitizer, which does not
// follow threads that a child of several makes.
void in_child(const std::function<void()>& work);

}  // namespace kith::test
