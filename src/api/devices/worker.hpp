// worker.hpp: a worker is what one device has of all searches of an index: a thread that works on it and on nothing
// else, and a stripe of the base.
#pragma once

#include <memory>
#include <vector>

#include "api/devices/stripes.hpp"
#include "api/devices/worker_thread.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"
#include "plan/choose.hpp"

namespace kith::api {

struct Worker {
  int device = 0;
  Options options;        // of searches of the stripe
  plan::Machine machine;  // as it is before an index of the stripe is there
  Stripe stripe;
  std::unique_ptr<WorkerThread> thread;
};

// What shares of such points workers should have: as the profiles of their devices say, the same of equal devices.
// Those of one device share its rate.
std::vector<double> rates_of(const std::vector<Worker>& workers, const Problem& problem);

// The workers of options.devices, whose backend is resolved, with stripes of problem.base_rows points by their rates.
// Workers of the same device share what it has. Error(no_device) for a device that is not there names those that are.
std::vector<Worker> make_workers(const Problem& problem, const Options& options);

// The plan of all workers, from one of each that has points: that of the slowest, and the stripes.
Plan joined_plan(const Problem& problem, const std::vector<Worker>& workers, const std::vector<Plan>& plans);

// What kith::explain() says of options with devices.
Plan explain_workers(const Problem& problem, const Options& options);

}  // namespace kith::api
