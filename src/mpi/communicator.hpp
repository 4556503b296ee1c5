// communicator.hpp: what is used of MPI-3: a duplicated communicator, small values from all ranks to all, and messages
// that are under way while something else is done.
//
// Only the calling thread calls MPI, and no call of MPI waits: waiting is a loop of tests that soon sleeps between two,
// so that ranks which share a core do not keep it from those that work. Messages are cut into pieces of at most 1 GiB,
// whose lengths fit MPI's int. Errors of MPI end the program (MPI_ERRORS_ARE_FATAL): nothing could be agreed after one.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace kith::mpi {

// Bytes of Messages between different ranks.
struct Traffic {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  double waited_seconds = 0;
};

// For tests: messages that are in pieces though they are small, and that take their time.
struct TransportHooks {
  std::int64_t piece_bytes = std::int64_t{1} << 30;
  std::chrono::nanoseconds delay{0};
};
TransportHooks& transport_hooks();

enum class Tag : int { queries = 1, lists, rows, ids, control, failure };

class Communicator {
 public:
  explicit Communicator(MPI_Comm comm);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();  // collective

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm handle() const { return comm_; }
  Traffic& traffic() const { return traffic_; }

  // How many ranks are on this machine.
  int ranks_of_machine() const;

  // One value of each rank, in their order.
  template <class V>
  std::vector<V> all_gather(const V& value) const {
    static_assert(std::is_trivially_copyable_v<V>);
    std::vector<V> values(static_cast<std::size_t>(size_));
    all_gather_bytes(&value, sizeof(V), values.data());
    return values;
  }
  // All values of each rank, in their order.
  template <class V>
  std::vector<V> all_gather_lists(const std::vector<V>& mine) const {
    static_assert(std::is_trivially_copyable_v<V>);
    const auto counts = all_gather(static_cast<std::int64_t>(mine.size()));
    std::int64_t total = 0;
    for (const std::int64_t count : counts) total += count;
    std::vector<V> all(static_cast<std::size_t>(total));
    all_gather_list_bytes(reinterpret_cast<const std::byte*>(mine.data()), counts, sizeof(V),
                          reinterpret_cast<std::byte*>(all.data()));
    return all;
  }
  // A value for each rank goes there; returns what came from each.
  std::vector<std::int64_t> all_to_all(const std::vector<std::int64_t>& values) const;
  std::string broadcast(std::string text, int root) const;

  // Tells all other ranks, once for each agreement, that this one failed.
  void tell_failure();
  // Whether another rank has told so. Looking moves messages on.
  bool hears_failure() const;
  // Takes what was told by those ranks.
  void take_failures(const std::vector<int>& failed);

 private:
  void all_gather_bytes(const void* mine, std::size_t bytes, void* all) const;
  void all_gather_list_bytes(const std::byte* mine, const std::vector<std::int64_t>& counts, std::size_t each,
                             std::byte* all) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  mutable Traffic traffic_;
  std::vector<MPI_Request> told_;
};

// Some of the ranks: every `stride`-th from `first` on.
struct Group {
  const Communicator& ranks;
  int first = 0;
  int stride = 1;
  int size = 1;

  int member() const { return (ranks.rank() - first) / stride; }  // which one this rank is
  int rank_of(int member) const { return first + member * stride; }
};

// Messages that are under way together. Two ranks match messages of a tag in the order in which they were given. Memory
// that is sent or received must stay until they are done.
class Messages {
 public:
  Messages(const Communicator& ranks, Tag tag) : ranks_(&ranks), tag_(tag) {}
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  ~Messages() { wait(); }

  template <class V>
  void send(int to, std::span<V> values) {
    send_bytes(to, reinterpret_cast<const std::byte*>(values.data()), values.size_bytes());
  }
  template <class V>
  void receive(int from, std::span<V> values) {
    receive_bytes(from, reinterpret_cast<std::byte*>(values.data()), values.size_bytes());
  }
  void wait();

 private:
  void send_bytes(int to, const std::byte* data, std::size_t bytes);
  void receive_bytes(int from, std::byte* data, std::size_t bytes);

  const Communicator* ranks_;
  Tag tag_;
  std::vector<MPI_Request> requests_;
  std::chrono::steady_clock::time_point ready_{};
};

// Calls done() until it is true: at once a few times, then with sleeps in between.
void wait_until(const std::function<bool()>& done);

}  // namespace kith::mpi
