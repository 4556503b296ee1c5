#include "mpi/agreement.hpp"

#include <algorithm>
#include <string>

namespace kith::mpi {
namespace {

constexpr std::int32_t kDone = 0;
constexpr std::int32_t kStopped = 1;
constexpr std::int32_t kFirstError = 2;

}  // namespace

void Agreement::fail(const Error& error) {
  if (error.code() == ErrorCode::cancelled && ranks_->hears_failure()) {
    stopped_ = true;
    return;
  }
  error_ = error;
  ranks_->tell_failure();
}

std::int32_t Agreement::code() const {
  if (error_) return kFirstError + static_cast<std::int32_t>(error_->code());
  return stopped_ ? kStopped : kDone;
}

void Agreement::start() {
  mine_ = code();
  codes_.assign(static_cast<std::size_t>(ranks_->size()), kDone);
  MPI_Iallgather(&mine_, 1, MPI_INT32_T, codes_.data(), 1, MPI_INT32_T, ranks_->handle(), &request_);
}

void Agreement::finish() {
  if (request_ == MPI_REQUEST_NULL) return;
  wait_until([&] {
    int done = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  if (std::any_of(codes_.begin(), codes_.end(), [](std::int32_t code) { return code != kDone; })) throw_first();
}

// A rank may have been stopped by one that had agreed that all was well before it failed: so what counts is what each
// says now.
void Agreement::throw_first() {
  codes_ = ranks_->all_gather(code());
  std::vector<int> failed;
  for (int rank = 0; rank < ranks_->size(); ++rank)
    if (codes_[static_cast<std::size_t>(rank)] >= kFirstError) failed.push_back(rank);
  ranks_->take_failures(failed);
  const int first = failed.front();
  const std::string text = ranks_->broadcast(error_ ? error_->what() : "", first);
  const auto code = static_cast<ErrorCode>(codes_[static_cast<std::size_t>(first)] - kFirstError);
  if (ranks_->size() == 1) throw Error(code, text);
  throw Error(code, "rank " + std::to_string(first) + ": " + text);
}

}  // namespace kith::mpi
