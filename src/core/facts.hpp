// facts.hpp: what the planner knows of a machine, as plain values: it reads no files and asks no driver.
#pragma once

#include <cstdint>
#include <string>

#include "core/device_policy.hpp"
#include "kith/options.hpp"

namespace kith::core {

// Seconds of one thread: per pair of points and coordinate, and per pair.
struct StageCost {
  double step;
  double pair;
};

// Bytes of address space that OpenBLAS takes for each thread that multiplies. It waits for ever where there are none.
inline constexpr std::int64_t kBlasSpace = std::int64_t{128} << 20;

// Seconds for the selection of a query's neighbors, beside its distances. Points in no order pass the k-th best so far
// about k log(n / k) times.
struct QueryCost {
  double doubling;   // of the points
  double candidate;  // a point that passes
};

// A CPU. The costs were measured on an x86 server with AVX-512, in single precision (bench/python/choice.py).
struct CpuFacts {
  int threads = 1;
  const char* threads_source = "the machine";  // what says so
  std::int64_t free_memory = 0;
  std::string device_obstacle;          // why a device that is here is not used; empty where nobody wants to know
  bool has_blas = true;                 // the address space has room for its buffers
  std::int64_t block_rows = 64;         // of a tile of sums in registers, in single precision
  std::int64_t block_rows_double = 32;  // and in double
  StageCost gemm{1.85e-11, 4.2e-10};
  StageCost register_tiled{1.77e-11, 1.3e-10};
  StageCost direct{4.4e-11, 2.3e-9};
  StageCost int8{4.5e-12, 1.3e-10};  // four products of bytes in an instruction
  std::int64_t int8_group = 4;       // coordinates in a lane of 32 bits: 4, or 2 where bytes are widened
  bool has_bf16 = false;             // an instruction for products of bfloat16
  StageCost bf16{9e-12, 1.5e-10};    // and what it takes
  double bf16_candidates = 8;        // points that get a key for each neighbor, if the data are like most
  double multiply_packing = 1e-9;    // seconds per element of the base and block of queries, inside BLAS
  double panel_packing = 1.2e-9;     // the same for register-tiled panels
  double bf16_packing = 3e-10;       // and for panels of bfloat16
  double byte_packing = 1e-10;       // and for panels of bytes
  double conversion = 1e-10;         // and for values that become floats, as all stages but direct and int8 want them
  double read_bandwidth = 16e9;      // bytes per second of one thread
  double cache_bytes = 512 * 1024;   // of a core; rows of a smaller base are there when they are needed again
  StageCost key{3e-10, 3e-8};        // a finalist, whose row is not in cache
  double start = 8e-6;               // a search: checks, memory, answers
  QueryCost selection{9e-8, 1.1e-8};
  QueryCost selection_double{1.1e-7, 1.4e-8};

  // Method triangle.
  StageCost center{3e-11, 1e-10};   // a row and a landmark
  StageCost member{5e-9, 1e-7};     // a row that is sorted into its cluster
  double cluster_pair = 2e-8;       // a cluster of queries and one of the base
  double visit = 2e-8;              // a query and a cluster whose members it looks at
  StageCost scanned{6e-11, 4e-10};  // a query and such a member
  double query = 1e-6;              // the rest of a query
  double clusters_start = 5e-5;     // of the base, whatever their number

  // Method tree.
  StageCost tree_row{5.9e-9, 2.2e-9};  // a point and a doubling of the leaves, when a tree is made
  double tree_query = 5e-7;            // a query, whatever it visits
  double tree_leaf = 4.8e-8;           // a leaf that a query visits, and its part of the boxes on the way there
  StageCost tree_point{8e-12, 4e-11};  // a point of such a leaf
  double tree_candidate = 3.5e-8;      // a neighbor that is collected, gets a key and is sorted
};

// Seconds a step on the whole device. The defaults are an H200's; for others they are derived (derived_profile.hpp)
// until `kith tune` measures them (docs/tuning.md).
struct DeviceProfile {
  double multiply = 1 / 23e12;
  double multiply_fp16 = 1 / 450e12;
  double fused_fp16 = 1 / 308e12;
  double fused_fp16_pair = 0.36e-12;
  double register_tiled = 1 / 20e12;
  double fused_pair = 0.27e-12;
  double tiled = 1 / 6.1e12;
  double direct = 1 / 5.7e12;
  double keys = 1 / 1.45e12;
  double score = 2.4e-12;
  double candidate = 90e-12;
  double finalist = 200e-12;
  double read = 1 / 4.5e12;
  double start = 67e-6;

  bool operator==(const DeviceProfile&) const = default;
};

inline constexpr const char* kDefaultProfile = "built in, of an H200";

struct CostField {
  using Member = double DeviceProfile::*;

  const char* name;
  Member cost;
  const char* meaning;
};

// Every field: what is not here is neither read nor written.
inline constexpr CostField kCostFields[] = {
    {"multiply", &DeviceProfile::multiply, "a coordinate of a pair, by the matrix product in single precision"},
    {"multiply_fp16", &DeviceProfile::multiply_fp16, "the same of fp16"},
    {"fused_fp16", &DeviceProfile::fused_fp16, "the same where no score is stored"},
    {"fused_fp16_pair", &DeviceProfile::fused_fp16_pair, "a score of these, looked at"},
    {"register_tiled", &DeviceProfile::register_tiled, "one instruction a coordinate of a pair, in registers"},
    {"fused_pair", &DeviceProfile::fused_pair, "a score of these, looked at where none is stored"},
    {"tiled", &DeviceProfile::tiled, "a coordinate of a pair, from shared memory"},
    {"direct", &DeviceProfile::direct, "the same where nothing is kept"},
    {"exact", &DeviceProfile::keys, "the same in double and in the order of keys"},
    {"score", &DeviceProfile::score, "a score that is stored and selected from"},
    {"candidate", &DeviceProfile::candidate, "a place for what passes the limit of a fused search"},
    {"finalist", &DeviceProfile::finalist, "a candidate that gets a key and is sorted"},
    {"read", &DeviceProfile::read, "a byte of memory"},
    {"start", &DeviceProfile::start, "of a search's kernels"},
};
static_assert(sizeof(kCostFields) / sizeof(CostField) == sizeof(DeviceProfile) / sizeof(double),
              "every cost has a row in the table");

// A device.
struct DeviceFacts {
  std::int64_t free_memory = 0;
  DevicePolicy policy = policy_for({});
  std::string name;
  DeviceProfile profile{};  // what the steps of a plan cost
  std::string profile_source = kDefaultProfile;
  Backend backend = Backend::cuda;  // that runs on it: cuda or emulated
};

}  // namespace kith::core
