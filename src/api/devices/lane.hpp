// lane.hpp: a lane is what one device has of all searches of an index: a thread that works on it and on nothing else,
// and a stripe of the base.
#pragma once

#include <memory>
#include <vector>

#include "api/devices/lane_thread.hpp"
#include "api/devices/stripes.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"
#include "plan/choose.hpp"

namespace kith::api {

struct Lane {
  int device = 0;
  Options options;        // of searches of the stripe
  plan::Machine machine;  // as it is before an index of the stripe is there
  Stripe stripe;
  std::unique_ptr<LaneThread> thread;
};

// The lanes of options.devices, whose backend is resolved, with stripes of problem.base_rows points by what the
// devices' profiles say of searches of such points. Lanes of the same device share what it has. Error(no_device) for a
// device that is not there names those that are.
std::vector<Lane> make_lanes(const Problem& problem, const Options& options);

// The plan of all lanes, from one of each that has points: that of the slowest, and the stripes.
Plan joined_plan(const Problem& problem, const std::vector<Lane>& lanes, const std::vector<Plan>& plans);

// What kith::explain() says of options with devices.
Plan explain_lanes(const Problem& problem, const Options& options);

}  // namespace kith::api
