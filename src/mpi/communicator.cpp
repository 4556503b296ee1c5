#include "mpi/communicator.hpp"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

namespace kith::mpi {
namespace {

using Clock = std::chrono::steady_clock;

void wait_for(std::vector<MPI_Request>& requests) {
  if (requests.empty()) return;
  wait_until([&] {
    int done = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  });
  requests.clear();
}

void wait_for(MPI_Request request) {
  std::vector<MPI_Request> one{request};
  wait_for(one);
}

}  // namespace

TransportHooks& transport_hooks() {
  static TransportHooks hooks;
  return hooks;
}

void wait_until(const std::function<bool()>& done) {
  constexpr int kEager = 100;
  constexpr auto kFirst = std::chrono::microseconds(10);
  constexpr auto kLongest = std::chrono::microseconds(500);
  for (int i = 0; i < kEager; ++i)
    if (done()) return;
  for (auto pause = kFirst; !done(); pause = std::min(2 * pause, kLongest)) std::this_thread::sleep_for(pause);
}

Communicator::Communicator(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(comm, &comm_, &request);
  wait_for(request);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

Communicator::~Communicator() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Comm_free(&comm_);
}

int Communicator::ranks_of_machine() const {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  const auto names = all_gather(name);
  return static_cast<int>(std::count(names.begin(), names.end(), name));
}

void Communicator::all_gather_bytes(const void* mine, std::size_t bytes, void* all) const {
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(bytes);
  MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm_, &request);
  wait_for(request);
}

void Communicator::all_gather_list_bytes(const std::byte* mine, const std::vector<std::int64_t>& counts,
                                         std::size_t each, std::byte* all) const {
  const Traffic before = traffic_;  // these are not rows, queries or lists
  {
    Messages messages(*this, Tag::control);
    for (int other = 0; other < size_; ++other) {
      const std::size_t bytes = static_cast<std::size_t>(counts[static_cast<std::size_t>(other)]) * each;
      if (other == rank_) {
        std::copy_n(mine, bytes, all);
      } else {
        messages.receive(other, std::span(all, bytes));
        messages.send(other, std::span(mine, static_cast<std::size_t>(counts[static_cast<std::size_t>(rank_)]) * each));
      }
      all += bytes;
    }
  }
  traffic_ = before;
}

std::vector<std::int64_t> Communicator::all_to_all(const std::vector<std::int64_t>& values) const {
  std::vector<std::int64_t> from(values.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ialltoall(values.data(), 1, MPI_INT64_T, from.data(), 1, MPI_INT64_T, comm_, &request);
  wait_for(request);
  return from;
}

std::string Communicator::broadcast(std::string text, int root) const {
  MPI_Request request = MPI_REQUEST_NULL;
  auto size = static_cast<std::int64_t>(text.size());
  MPI_Ibcast(&size, 1, MPI_INT64_T, root, comm_, &request);
  wait_for(request);
  text.resize(static_cast<std::size_t>(size));
  MPI_Ibcast(text.data(), static_cast<int>(size), MPI_CHAR, root, comm_, &request);
  wait_for(request);
  return text;
}

void Communicator::tell_failure() {
  for (int other = 0; other < size_; ++other)
    if (other != rank_)
      MPI_Isend(nullptr, 0, MPI_BYTE, other, static_cast<int>(Tag::failure), comm_, &told_.emplace_back());
}

bool Communicator::hears_failure() const {
  int heard = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, static_cast<int>(Tag::failure), comm_, &heard, MPI_STATUS_IGNORE);
  return heard != 0;
}

void Communicator::take_failures(const std::vector<int>& failed) {
  for (const int other : failed)
    if (other != rank_)
      MPI_Irecv(nullptr, 0, MPI_BYTE, other, static_cast<int>(Tag::failure), comm_, &told_.emplace_back());
  wait_for(told_);
}

void Messages::send_bytes(int to, const std::byte* data, std::size_t bytes) {
  const auto most = static_cast<std::size_t>(transport_hooks().piece_bytes);
  for (std::size_t at = 0; at < bytes; at += most)
    MPI_Isend(data + at, static_cast<int>(std::min(most, bytes - at)), MPI_BYTE, to, static_cast<int>(tag_),
              ranks_->handle(), &requests_.emplace_back());
  ranks_->traffic().sent += static_cast<std::int64_t>(bytes);
  ready_ = Clock::now() + transport_hooks().delay;
}

void Messages::receive_bytes(int from, std::byte* data, std::size_t bytes) {
  const auto most = static_cast<std::size_t>(transport_hooks().piece_bytes);
  for (std::size_t at = 0; at < bytes; at += most)
    MPI_Irecv(data + at, static_cast<int>(std::min(most, bytes - at)), MPI_BYTE, from, static_cast<int>(tag_),
              ranks_->handle(), &requests_.emplace_back());
  ranks_->traffic().received += static_cast<std::int64_t>(bytes);
  ready_ = Clock::now() + transport_hooks().delay;
}

void Messages::wait() {
  if (requests_.empty()) return;
  const Clock::time_point start = Clock::now();
  wait_for(requests_);
  std::this_thread::sleep_until(ready_);
  ranks_->traffic().waited_seconds += std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace kith::mpi
