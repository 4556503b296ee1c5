// exchange_meter.hpp: what went between ranks while a call lasted.
#pragma once

#include <chrono>

#include "kith/mpi.hpp"
#include "mpi/communicator.hpp"

namespace kith::mpi {

class ExchangeMeter {
 public:
  explicit ExchangeMeter(const Communicator& ranks) : ranks_(ranks), before_(ranks.traffic()) {}

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void add_to(ExchangeReport& report) const {
    const Traffic& after = ranks_.traffic();
    report.sent_bytes += after.sent - before_.sent;
    report.received_bytes += after.received - before_.received;
    report.waited_seconds += after.waited_seconds - before_.waited_seconds;
    report.seconds += seconds();
  }

 private:
  using Clock = std::chrono::steady_clock;

  const Communicator& ranks_;
  Traffic before_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace kith::mpi
