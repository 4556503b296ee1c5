// agreement.hpp: what ranks that work together do when one fails: all stop, and all throw the same Error.
//
// A rank that fails goes on sending and receiving what the others count on, whatever bytes these are, until the next
// agreement; and it tells the others, who look for that between two tiles of a search, so that nobody finishes long
// work in vain. An agreement can be under way while the next step is searched.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <vector>

#include "kith/error.hpp"
#include "mpi/communicator.hpp"

namespace kith::mpi {

class Agreement {
 public:
  explicit Agreement(Communicator& ranks) : ranks_(&ranks) {}
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  // Does the work of this rank, unless it failed before.
  template <class Work>
  void run(Work work) {
    if (failed()) return;
    try {
      work();
    } catch (const Error& error) {
      fail(error);
    } catch (const std::bad_alloc&) {
      fail(Error(ErrorCode::out_of_memory, "the machine's memory is exhausted"));
    } catch (const std::exception& error) {
      fail(Error(ErrorCode::internal, error.what()));
    }
  }
  bool failed() const { return stopped_ || error_.has_value(); }

  // Begins to agree on what was done so far.
  void start();
  // Ends what was begun, if anything: throws the Error of the lowest rank that failed, on all ranks.
  void finish();
  void conclude() {
    start();
    finish();
  }

 private:
  void fail(const Error& error);
  std::int32_t code() const;
  [[noreturn]] void throw_first();

  Communicator* ranks_;
  std::optional<Error> error_;
  bool stopped_ = false;  // because another rank failed
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::int32_t mine_ = 0;
  std::vector<std::int32_t> codes_;
};

// Work that all ranks do, and whose failure on one is the failure of all.
template <class Work>
void together(Communicator& ranks, Work work) {
  Agreement agreement(ranks);
  agreement.run(work);
  agreement.conclude();
}

}  // namespace kith::mpi
