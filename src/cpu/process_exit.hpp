// process_exit.hpp: exit() while other threads search. What runs then, OpenBLAS's destructor for one, takes memory away
// that tasks still use. From exit() on, other threads therefore stop for good where their piece of work ends, and
// exit() waits for them to get there, a second at most. The thread that exits may go on searching, alone.
#pragma once

namespace kith::cpu {

// While one lives, its thread runs tasks.
class TasksRunning {
 public:
  TasksRunning();
  ~TasksRunning();
  TasksRunning(const TasksRunning&) = delete;
  TasksRunning& operator=(const TasksRunning&) = delete;

  // Whether this thread does.
  static bool here();
};

// While one lives within a task, its thread runs code that is not ours: a callback, which may never return.
class TasksPaused {
 public:
  TasksPaused();
  ~TasksPaused();
  TasksPaused(const TasksPaused&) = delete;
  TasksPaused& operator=(const TasksPaused&) = delete;

 private:
  int depth_;
};

// Whether exit() has been called.
bool is_exiting();

// To be called where a piece of work ends: does not return once another thread has called exit().
void stop_at_exit();

// Of the child of a fork, which has this thread alone.
void reset_tasks_after_fork();

}  // namespace kith::cpu
