#include "cpu/thread_pool.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>

#include "backend/machine.hpp"
#include "core/facts.hpp"
#include "core/fp_environment.hpp"
#include "cpu/single_threaded_blas.hpp"
#include "kith/error.hpp"

namespace kith::cpu {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A helper stays this long before it looks whether another caller has fewer.
constexpr std::chrono::milliseconds kTurn{1};

// Each thread that was woken wakes so many more: a caller that wants many does not wake all of them itself.
constexpr std::size_t kCalls = 2;

// Threads that an address space which is limited has room for: their stacks, arenas of malloc, and buffers of OpenBLAS.
std::int64_t threads_in_space() {
  constexpr std::int64_t kOthers = std::int64_t{128} << 20;
  return backend::free_address_space() / (core::kBlasSpace + kOthers);
}

// As condition.wait(), which is a symbol of GCC 12's library, newer than all else that Kith needs of libstdc++.
template <class Predicate>
void wait_until_true(std::condition_variable& condition, std::unique_lock<std::mutex>& lock, Predicate predicate) {
  while (!predicate()) condition.wait_for(lock, std::chrono::hours(1));
}

// While one lives, threads that are made take no signals but those of their own faults, and a profiler's.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t most;
    sigfillset(&most);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) sigdelset(&most, own);
    pthread_sigmask(SIG_SETMASK, &most, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

struct Helper {
  std::condition_variable call;
  bool is_called = false;
};

// A caller with its tasks. All but the loop is guarded by the pool's mutex.
struct Job {
  Job(TaskLoop& loop_, int helpers_) : loop(loop_), numbers(static_cast<std::size_t>(helpers_)) {
    std::iota(numbers.rbegin(), numbers.rend(), 1);
  }
  bool wants_help() const { return !numbers.empty() && loop.has_tasks(); }

  TaskLoop& loop;
  std::vector<int> numbers;  // of workers that it has not, the lowest last
  int helpers = 0;
  std::condition_variable left;  // by the last helper
};

// Never destroyed: its threads sleep in it when the process ends.
class ThreadPool {
 public:
  void run(TaskLoop& loop, int helpers);

  // That of this process; the child of a fork has another one than its parent.
  static ThreadPool& current();

 private:
  using Calls = std::array<Helper*, kCalls>;

  // A job that helpers may join, until it goes: then it has none of them any more.
  class OpenJob {
   public:
    OpenJob(ThreadPool& pool, Job& job, int helpers);
    ~OpenJob();
    OpenJob(const OpenJob&) = delete;
    OpenJob& operator=(const OpenJob&) = delete;

   private:
    ThreadPool& pool_;
    Job& job_;
  };

  bool add_thread();
  void serve();
  void help(Job& job, std::unique_lock<std::mutex>& lock);
  Job* neediest() const;
  bool has_needier(const Job& job);
  Calls choose_calls();
  static void send(const Calls& calls);

  static ThreadPool*& instance();
  static void make_first();
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

  std::mutex mutex_;
  std::vector<Job*> jobs_;
  std::atomic<std::size_t> job_count_{0};
  std::vector<Helper*> idle_;
  int threads_ = 0;
  std::int64_t space_ = 0;  // for so many threads, when there were none
  int coming_ = 0;          // helpers that were called and have not come yet
};

ThreadPool::OpenJob::OpenJob(ThreadPool& pool, Job& job, int helpers) : pool_(pool), job_(job) {
  Calls calls{};
  {
    const std::lock_guard lock(pool_.mutex_);
    pool_.jobs_.push_back(&job_);
    pool_.job_count_ = pool_.jobs_.size();
    while (pool_.threads_ < helpers && pool_.add_thread()) continue;
    calls = pool_.choose_calls();
  }
  send(calls);
}

ThreadPool::OpenJob::~OpenJob() {
  std::unique_lock lock(pool_.mutex_);
  pool_.jobs_.erase(std::find(pool_.jobs_.begin(), pool_.jobs_.end(), &job_));
  pool_.job_count_ = pool_.jobs_.size();
  wait_until_true(job_.left, lock, [&] { return job_.helpers == 0 || &pool_ != instance(); });
}

void ThreadPool::run(TaskLoop& loop, int helpers) {
  Job job(loop, helpers);
  {
    const OpenJob open(*this, job, helpers);
    loop.run(0, [] { return false; });
  }
  if (job.helpers > 0)
    throw Error(ErrorCode::cancelled, "the process forked while this work was under way; its other threads are gone");
}

bool ThreadPool::add_thread() {
  // Those that there are may not have taken theirs yet; the caller needs some too.
  const std::int64_t more = threads_in_space();
  if (threads_ == 0) space_ = more;
  if (threads_ + 1 >= space_ || more < 2) return false;
  const SignalsBlocked blocked;
  try {
    idle_.reserve(static_cast<std::size_t>(threads_) + 1);  // so that the thread itself need not
    std::thread([this] { serve(); }).detach();
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  ++threads_;
  return true;
}

void ThreadPool::serve() {
  const core::DefaultFpEnvironment environment;
  SingleThreadedBlas::limit_this_thread();
  Helper self;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (Job* const job = neediest()) {
      help(*job, lock);
      continue;
    }
    self.is_called = false;
    idle_.push_back(&self);
    wait_until_true(self.call, lock, [&] { return self.is_called; });
    --coming_;
  }
}

void ThreadPool::help(Job& job, std::unique_lock<std::mutex>& lock) {
  const int worker = job.numbers.back();
  job.numbers.pop_back();
  ++job.helpers;
  const Calls calls = choose_calls();
  lock.unlock();
  send(calls);
  const SteadyClock::time_point turn = SteadyClock::now() + kTurn;
  job.loop.run(worker, [&] { return job_count_ > 1 && SteadyClock::now() >= turn && has_needier(job); });
  lock.lock();
  // Who had help comes last.
  const auto at = std::find(jobs_.begin(), jobs_.end(), &job);
  if (at != jobs_.end()) std::rotate(at, at + 1, jobs_.end());
  job.numbers.push_back(worker);
  if (--job.helpers == 0) job.left.notify_one();
}

// The job with the fewest helpers of those that could have more.
Job* ThreadPool::neediest() const {
  Job* found = nullptr;
  for (Job* const job : jobs_)
    if (job->wants_help() && (found == nullptr || job->helpers < found->helpers)) found = job;
  return found;
}

bool ThreadPool::has_needier(const Job& job) {
  const std::lock_guard lock(mutex_);
  const Job* const other = neediest();
  return other != nullptr && other->helpers < job.helpers;
}

// Takes sleeping helpers for the places that nobody is on the way to.
ThreadPool::Calls ThreadPool::choose_calls() {
  std::int64_t places = -coming_;
  for (const Job* const job : jobs_)
    if (job->wants_help()) places += static_cast<std::int64_t>(job->numbers.size());
  Calls calls{};
  for (Helper*& call : calls) {
    if (places-- <= 0 || idle_.empty()) break;
    call = idle_.back();
    idle_.pop_back();
    call->is_called = true;
    ++coming_;
  }
  return calls;
}

void ThreadPool::send(const Calls& calls) {
  for (Helper* const helper : calls)
    if (helper != nullptr) helper->call.notify_one();
}

ThreadPool*& ThreadPool::instance() {
  static ThreadPool* pool = nullptr;
  return pool;
}

ThreadPool& ThreadPool::current() {
  static std::once_flag once;
  std::call_once(once, make_first);
  return *instance();
}

void ThreadPool::make_first() {
  instance() = new ThreadPool;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void ThreadPool::before_fork() {
  SingleThreadedBlas::before_fork();
  instance()->mutex_.lock();
}

void ThreadPool::after_fork_in_parent() {
  instance()->mutex_.unlock();
  SingleThreadedBlas::after_fork_in_parent();
}

void ThreadPool::after_fork_in_child() {
  // A caller that forked in a callback still has its job in the old one.
  instance()->mutex_.unlock();
  instance() = new ThreadPool;
  reset_tasks_after_fork();
  SingleThreadedBlas::after_fork_in_child();
}

}  // namespace

void share(TaskLoop& loop, int helpers) {
  ThreadPool::current().run(loop, helpers);
}

}  // namespace kith::cpu
