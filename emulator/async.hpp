// async.hpp: what the parts of the emulator tell each other about copies, barriers and products in flight.
#pragma once

#include <cstdint>
#include <string>

#include "emulator/execution.hpp"

namespace emulator {

// For the scheduler.

void start_async();  // a new block: nothing is in flight
bool copies_in_flight();
void land_copy();                   // a random one of those in flight
std::string describe_loose_ends();  // what a block must not leave behind; empty if there is nothing

void start_bulk_copies();
void start_mbarriers();
void start_products();
void start_warp_roles();
void start_async_view();
std::string loose_copies();
std::string loose_mbarriers();
std::string loose_products();
std::string loose_registers();

// Shared memory as copies and wgmma see it: without what threads wrote since the last fence_proxy_async().
// async_view.cpp.

struct SharedRange {
  unsigned char* begin = nullptr;
  std::size_t bytes = 0;
  const char* name = "";
};
SharedRange shared_range(const void* address);  // no bytes if it is not in shared memory
std::string shared_name(const void* address);   // "byte 16 of dynamic shared memory"
bool in_shared(const void* address, std::size_t bytes);
unsigned char* async_view(const void* address);  // of an address in shared memory
void publish_shared();
// Whether threads wrote to the bytes since the last fence.
bool is_unpublished(const void* address, std::size_t bytes);

// The state of a barrier; mbarrier.cpp. These return the text of a failure, or an empty one.

struct Mbarrier;
Mbarrier& find_mbarrier(const std::uint64_t* address, const char* operation);  // fails the kernel if there is none
bool is_shown_to_copies(const Mbarrier& barrier);
unsigned phase_of(const Mbarrier& barrier);
std::string complete_bytes(Mbarrier& barrier, std::size_t bytes);
void show_own_mbarriers();

// bulk_copy.cpp, wgmma.cpp

bool copy_writes(const unsigned char* begin, std::size_t bytes);
bool product_reads(const unsigned char* begin, std::size_t bytes);

std::string position(const Where& where);  // " at file:line"; failure_text.cpp

}  // namespace emulator
