#include "core/derived_profile.hpp"

#include <algorithm>
#include <cmath>

namespace kith::core {
namespace {

// What nobody derived, since it was measured.
constexpr std::string_view kMeasured = "h200";

constexpr const char* kFromDatasheet = "derived from a datasheet, not measured";
constexpr const char* kFromDriver = "derived from what the driver says of the device, not measured";

// Tensor cores take this many multiply-adds a clock from the instructions of a warp, however many they have.
constexpr double kWarpFp16 = 1024;

DeviceFigures figures_by_clock(Capability capability, double multiprocessors, double clock) {
  const ChipRates& rates = rates_of(capability);
  const double clocks = multiprocessors * clock;
  return {.fp32 = rates.fp32 * clocks,
          .fp64 = rates.fp64 * clocks,
          .conversions = rates.conversions * clocks,
          .fp16 = rates.fp16 * clocks,
          .warp_fp16 = kWarpFp16 * clocks,
          .has_wgmma = DeviceHardware{.compute_major = capability.major}.has_wgmma()};
}

std::int64_t picoseconds(double seconds) {
  return std::max<std::int64_t>(1, std::llround(seconds * 1e12));
}

void use(DeviceFacts& facts, const DeviceFigures& figures, const char* source) {
  constexpr double kSortedBytes = 1000;    // read and written for a point in one order, by passes of a radix sort
  constexpr double kCandidateSteps = 700;  // of a candidate there, in multiply-adds
  facts.profile = derive_profile(figures);
  facts.profile_source = source;
  facts.policy.sorted_picoseconds = picoseconds(kSortedBytes / figures.bandwidth);
  facts.policy.curve_candidate_picoseconds = picoseconds(kCandidateSteps / figures.fp32);
}

}  // namespace

DeviceFigures figures_of(const Datasheet& sheet) {
  DeviceFigures figures = figures_by_clock(sheet.capability, sheet.multiprocessors, sheet.clock);
  figures.fp16 = sheet.fp16;
  figures.warp_fp16 = std::min(figures.warp_fp16, figures.fp16);
  figures.bandwidth = sheet.bandwidth;
  return figures;
}

DeviceFigures figures_of(const DeviceHardware& hardware, const std::string& name, double clock, double bandwidth) {
  DeviceFigures figures = figures_by_clock({hardware.compute_major, hardware.compute_minor},
                                           static_cast<double>(hardware.multiprocessors), clock);
  if (name.find("GeForce") != std::string::npos) figures.fp16 /= 2;
  figures.warp_fp16 = std::min(figures.warp_fp16, figures.fp16);
  figures.bandwidth = bandwidth;
  figures.has_wgmma = hardware.has_wgmma();
  return figures;
}

DeviceProfile derive_profile(const DeviceFigures& figures) {
  // Parts of a peak.
  constexpr double kProduct = 0.7;         // a library's matrix product in single precision
  constexpr double kProductFp16 = 0.8;     // the same of fp16, whose operands pass through shared memory once
  constexpr double kFusedFp16 = 0.6;       // ours, which look at every score between products
  constexpr double kRegisterTiled = 0.55;  // loads from shared memory take their part of the instructions
  constexpr double kShared = 1.0 / 6;      // two loads from shared memory, or memory, for each multiply-add
  constexpr double kReading = 0.9;
  // Instructions of a score that is looked at, in the time of multiply-adds: it is scaled, compared and counted; where
  // it comes from the tensor cores it is fetched too, and from fragments of warps put together.
  constexpr double kLooking = 8;
  constexpr double kLookingAtProducts = 12;
  constexpr double kLookingAtFragments = 18;
  // A coordinate of a key: two conversions, then a difference, a product and a sum, which may not be fused.
  constexpr double kKeyConversions = 2;
  constexpr double kKeySteps = 3;
  // The same by pairs of floats, where double precision is slow.
  constexpr double kFloatPairSteps = 20;
  constexpr double kKeyDims = 128;  // of a finalist's row
  // Bytes: a score is written and read, and some are read once more; what passes a limit has a place of a list that is
  // read in lines and sorted; a finalist has a row of 128 coordinates and as much again for its place.
  constexpr double kScoreBytes = 10;
  constexpr double kCandidateBytes = 400;
  constexpr double kFinalistBytes = 800;
  // Launches and waits, which the host and not the chip decides.
  constexpr double kStart = 65e-6;
  DeviceProfile profile;
  profile.multiply = 1 / (kProduct * figures.fp32);
  profile.multiply_fp16 = 1 / (kProductFp16 * figures.fp16);
  profile.fused_fp16 = 1 / (kFusedFp16 * (figures.has_wgmma ? figures.fp16 : figures.warp_fp16));
  profile.fused_fp16_pair = (figures.has_wgmma ? kLookingAtProducts : kLookingAtFragments) / figures.fp32;
  profile.register_tiled = 1 / (kRegisterTiled * figures.fp32);
  profile.fused_pair = kLooking / figures.fp32;
  profile.tiled = 1 / (kShared * figures.fp32);
  profile.direct = 1 / (kShared * figures.fp32);
  profile.keys = kKeyConversions / figures.conversions + kKeySteps / figures.fp64;
  profile.score = kScoreBytes / (kReading * figures.bandwidth);
  profile.candidate = kCandidateBytes / (kReading * figures.bandwidth);
  const double listed_key = kKeyDims * std::min(profile.keys, kFloatPairSteps / figures.fp32);
  profile.finalist = std::max(kFinalistBytes / (kReading * figures.bandwidth), listed_key);
  profile.read = 1 / (kReading * figures.bandwidth);
  profile.start = kStart;
  return profile;
}

void set_built_in_profile(DeviceFacts& facts, double clock, double bandwidth) {
  if (const Datasheet* sheet = find_datasheet(facts.name)) {
    DeviceFigures figures = figures_of(*sheet);
    const bool lacks_kernels = figures.has_wgmma && !facts.policy.hardware.has_wgmma();
    if (lacks_kernels) figures.has_wgmma = false;
    if (sheet->name != kMeasured || lacks_kernels) use(facts, figures, kFromDatasheet);
  } else if (clock > 0 && bandwidth > 0) {
    use(facts, figures_of(facts.policy.hardware, facts.name, clock, bandwidth), kFromDriver);
  }
}

DeviceFacts facts_of(const Datasheet& sheet) {
  constexpr double kFree = 0.97;  // the driver, and memory with error correction, keep some
  DeviceFacts facts;
  facts.free_memory = static_cast<std::int64_t>(kFree * sheet.memory);
  facts.policy = policy_for(hardware_of(sheet));
  facts.name = sheet.title;
  set_built_in_profile(facts, 0, 0);
  return facts;
}

}  // namespace kith::core
