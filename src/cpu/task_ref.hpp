// task_ref.hpp: a task of parallel_for, by reference: what a lambda has captured stays where the caller has it, and no
// memory is asked for, as std::function would.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace kith::cpu {

// What it refers to must outlive it.
class TaskRef {
 public:
  template <class Task, class = std::enable_if_t<!std::is_same_v<Task, TaskRef>>>
  TaskRef(const Task& task)  // NOLINT: a task is what it refers to
      : task_(std::addressof(task)), call_([](const void* each, std::int64_t index, int worker) {
          (*static_cast<const Task*>(each))(index, worker);
        }) {}

  void operator()(std::int64_t index, int worker) const { call_(task_, index, worker); }

 private:
  const void* task_;
  void (*call_)(const void* task, std::int64_t index, int worker);
};

}  // namespace kith::cpu
