// thread_pool.hpp: threads that help callers with their tasks.
// Idea    A caller works on its own tasks and lets helpers join it; it waits for those that did, never for one that has
//         not come yet. So nobody waits for a thread that waits, and a busy machine delays nobody by more than a task.
// Threads are made when a caller wants more than there are, up to what the system grants, and kept; without tasks they
//         sleep. Signals that may go to any thread of the process do not go to them.
// Sharing A free helper joins the caller that has the fewest, and moves on from one that has more than another every
//         millisecond, between two tasks.
// Fork    The child has none of its parent's threads and makes its own. Tasks that were under way, in whose callback
//         the process forked, cannot be finished there: Error(cancelled).
#pragma once

#include "cpu/task_loop.hpp"

namespace kith::cpu {

// Runs the tasks on this thread, as worker 0, and on up to `helpers` others, as workers 1 … helpers.
void share(TaskLoop& loop, int helpers);

}  // namespace kith::cpu
