#include "core/datasheets.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace kith::core {
namespace {

constexpr double kGHz = 1e9;
constexpr double kTera = 1e12;
constexpr double kGB = 1e9;
constexpr double kSheetGB = 1 << 30;  // what datasheets call GB of memory
constexpr std::int64_t kL2MB = 1 << 20;
constexpr double kPcie4 = 32 * kGB;
constexpr double kPcie5 = 64 * kGB;

// A datasheet counts a multiply-add as two operations.
constexpr double tflops(double count) {
  return count * kTera / 2;
}

constexpr ChipRates kRates[] = {
    // capability, fp32, fp64, conversions, fp16, shared memory of a block and of a multiprocessor, threads
    {{8, 0}, 64, 32, 16, 1024, 163 << 10, 164 << 10, 2048},  {{8, 6}, 128, 2, 2, 512, 99 << 10, 100 << 10, 1536},
    {{8, 7}, 128, 2, 2, 1024, 163 << 10, 164 << 10, 1536},   {{8, 9}, 128, 2, 2, 512, 99 << 10, 100 << 10, 1536},
    {{9, 0}, 128, 64, 16, 2048, 227 << 10, 228 << 10, 2048}, {{10, 0}, 128, 64, 16, 4096, 227 << 10, 228 << 10, 2048},
    {{10, 3}, 128, 2, 2, 4096, 227 << 10, 228 << 10, 2048},  {{12, 0}, 128, 2, 2, 512, 99 << 10, 100 << 10, 1536},
};

// Tensor cores of GeForce cards run at half their rate where sums are fp32.
constexpr Datasheet kSheets[] = {
    // name, title, capability, multiprocessors, clock, fp16, memory, bandwidth, link, L2, others
    {"a100",
     "NVIDIA A100 80 GB",
     {8, 0},
     108,
     1.41 * kGHz,
     tflops(312),
     80 * kSheetGB,
     2039 * kGB,
     kPcie4,
     40 * kL2MB,
     "a100-80gb,a100-sxm4-80gb,a100 80gb pcie"},
    {"a100-40gb",
     "NVIDIA A100 40 GB",
     {8, 0},
     108,
     1.41 * kGHz,
     tflops(312),
     40 * kSheetGB,
     1555 * kGB,
     kPcie4,
     40 * kL2MB,
     "a100-sxm4-40gb,a100-pcie-40gb"},
    {"a10", "NVIDIA A10", {8, 6}, 72, 1.695 * kGHz, tflops(125), 24 * kSheetGB, 600 * kGB, kPcie4, 6 * kL2MB, ""},
    {"rtx3090",
     "NVIDIA GeForce RTX 3090",
     {8, 6},
     82,
     1.695 * kGHz,
     tflops(71),
     24 * kSheetGB,
     936 * kGB,
     kPcie4,
     6 * kL2MB,
     "3090"},
    // Of one memory with the host, in which a copy is read and written.
    {"orin",
     "NVIDIA Jetson AGX Orin 64 GB",
     {8, 7},
     16,
     1.3 * kGHz,
     tflops(42.5),
     64 * kSheetGB,
     204.8 * kGB,
     102.4 * kGB,
     4 * kL2MB,
     "jetson-orin,agx-orin,jetson-agx-orin"},
    {"l40s", "NVIDIA L40S", {8, 9}, 142, 2.52 * kGHz, tflops(362), 48 * kSheetGB, 864 * kGB, kPcie4, 96 * kL2MB, ""},
    {"rtx4090",
     "NVIDIA GeForce RTX 4090",
     {8, 9},
     128,
     2.52 * kGHz,
     tflops(165.2),
     24 * kSheetGB,
     1008 * kGB,
     kPcie4,
     72 * kL2MB,
     "4090"},
    {"h100",
     "NVIDIA H100 SXM",
     {9, 0},
     132,
     1.98 * kGHz,
     tflops(989),
     80 * kSheetGB,
     3350 * kGB,
     kPcie5,
     50 * kL2MB,
     "h100-sxm,h100-sxm5,h100 80gb hbm3"},
    {"h100-pcie",
     "NVIDIA H100 PCIe",
     {9, 0},
     114,
     1.755 * kGHz,
     tflops(756),
     80 * kSheetGB,
     2000 * kGB,
     kPcie5,
     50 * kL2MB,
     ""},
    {"h200", "NVIDIA H200", {9, 0}, 132, 1.98 * kGHz, tflops(989), 141 * kSheetGB, 4800 * kGB, kPcie5, 50 * kL2MB, ""},
    // Grace and Hopper are linked by NVLink-C2C.
    {"gh200",
     "NVIDIA GH200 96 GB",
     {9, 0},
     132,
     1.98 * kGHz,
     tflops(989),
     96 * kSheetGB,
     4000 * kGB,
     450 * kGB,
     50 * kL2MB,
     "grace-hopper,gh200 480gb"},
    {"b200",
     "NVIDIA B200",
     {10, 0},
     148,
     1.965 * kGHz,
     tflops(2250),
     180 * kSheetGB,
     7700 * kGB,
     kPcie5,
     126 * kL2MB,
     ""},
    {"rtx5090",
     "NVIDIA GeForce RTX 5090",
     {12, 0},
     170,
     2.407 * kGHz,
     tflops(209.5),
     32 * kSheetGB,
     1792 * kGB,
     kPcie5,
     96 * kL2MB,
     "5090"},
};

// Letters and digits alone, in lower case, without the maker's words.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word : {"nvidia", "geforce"})
    if (text.starts_with(word)) text.erase(0, word.size());
  return text;
}

bool is_named(const Datasheet& sheet, const std::string& wanted) {
  if (plain(sheet.name) == wanted || plain(sheet.title) == wanted) return true;
  std::string_view others = sheet.others;
  while (!others.empty()) {
    const std::size_t comma = std::min(others.find(','), others.size());
    if (plain(others.substr(0, comma)) == wanted) return true;
    others.remove_prefix(std::min(comma + 1, others.size()));
  }
  return false;
}

}  // namespace

const ChipRates& rates_of(Capability capability) {
  const ChipRates* found = std::begin(kRates);
  for (const ChipRates& row : kRates)
    if (row.capability <= capability) found = &row;
  return *found;
}

std::span<const Datasheet> datasheets() {
  return kSheets;
}

const Datasheet* find_datasheet(std::string_view name) {
  const std::string wanted = plain(name);
  const auto* const found = std::find_if(std::begin(kSheets), std::end(kSheets),
                                         [&](const Datasheet& sheet) { return is_named(sheet, wanted); });
  return found == std::end(kSheets) ? nullptr : found;
}

DeviceHardware hardware_of(const Datasheet& sheet) {
  const ChipRates& rates = rates_of(sheet.capability);
  return {.compute_major = sheet.capability.major,
          .compute_minor = sheet.capability.minor,
          .multiprocessors = sheet.multiprocessors,
          .shared_per_block = rates.shared_per_block,
          .shared_per_multiprocessor = rates.shared_per_multiprocessor,
          .registers_per_multiprocessor = 65536,
          .threads_per_multiprocessor = rates.threads,
          .l2_bytes = sheet.l2_bytes};
}

}  // namespace kith::core
