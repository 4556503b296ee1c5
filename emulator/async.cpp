// async.cpp: the beginning and the end of a block, for all that can be in flight.
#include "async.hpp"

namespace emulator {

void start_async() {
  start_async_view();
  start_mbarriers();
  start_bulk_copies();
  start_products();
  start_warp_roles();
}

std::string describe_loose_ends() {
  for (const auto find : {loose_copies, loose_mbarriers, loose_products, loose_registers})
    if (std::string text = find(); !text.empty()) return text;
  return {};
}

}  // namespace emulator
