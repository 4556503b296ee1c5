// Files of collections. Checksums and the size are put right first, so that what lies behind them is reached too; what
// then opens is searched.
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <string>

#include "api/collection/file.hpp"
#include "fuzz_reader.hpp"
#include "kith/collection.hpp"

namespace kith {
namespace {

constexpr std::size_t kStart = 64;
constexpr std::size_t kHeadBytes = 16;
constexpr std::size_t kFileBytes = 24;
constexpr std::size_t kHeadChecksum = 32;
constexpr std::size_t kChecksum = 36;

std::uint32_t sum_of(const std::string& bytes, std::size_t first, std::size_t count) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data() + first), count));
}

template <class V>
void put(std::string& bytes, std::size_t at, V value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// The head with the checksums of the sections as they are, where it is one, and there is room for it.
void correct_sections(std::string& bytes, std::uint64_t& head_bytes) {
  using nlohmann::json;
  json head = json::parse(bytes.begin() + kStart, bytes.begin() + static_cast<std::ptrdiff_t>(kStart + head_bytes),
                          nullptr, false);
  if (!head.is_object() || !head.contains("sections") || !head["sections"].is_array()) return;
  std::size_t first = bytes.size();
  for (json& section : head["sections"]) {
    if (!section.is_object() || !section.contains("offset") || !section.contains("bytes")) return;
    if (!section["offset"].is_number_unsigned() || !section["bytes"].is_number_unsigned()) return;
    const auto offset = section["offset"].get<std::size_t>();
    const auto count = section["bytes"].get<std::size_t>();
    if (offset > bytes.size() || count > bytes.size() - offset) continue;
    section["crc32"] = count == 0 ? json::array() : json::array({sum_of(bytes, offset, count)});
    first = std::min(first, offset);
  }
  const std::string text = head.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > first - std::min(first, kStart)) return;
  bytes.replace(kStart, text.size(), text);
  head_bytes = text.size();
  put(bytes, kHeadBytes, head_bytes);
}

std::string corrected(std::string bytes) {
  if (bytes.size() < kStart) return bytes;
  std::uint64_t head_bytes = 0;
  std::memcpy(&head_bytes, bytes.data() + kHeadBytes, sizeof head_bytes);
  if (head_bytes <= bytes.size() - kStart) {
    correct_sections(bytes, head_bytes);
    put(bytes, kHeadChecksum, sum_of(bytes, kStart, head_bytes));
  }
  put(bytes, kFileBytes, static_cast<std::uint64_t>(bytes.size()));
  put(bytes, kChecksum, sum_of(bytes, 0, kChecksum));
  return bytes;
}

// Reads every byte.
void touch(const api::MappedFile& mapped) {
  volatile unsigned sum = 0;
  const backend::Parts& sections = mapped.sections();
  for (const backend::Part& part : sections.all())
    for (const std::byte each : part.bytes) sum = sum + static_cast<unsigned>(each);
}

template <Element T>
void search_some(const std::string& path, bool verify) {
  Options options;
  options.backend = Backend::cpu;
  options.threads = 1;
  options.memory_budget = std::int64_t{1} << 26;
  const Collection<T> collection = Collection<T>::load(path, options, verify);
  if (collection.rows() == 0) return;
  const std::vector<std::int64_t> ids = collection.ids();
  io::require(static_cast<std::int64_t>(ids.size()) == collection.rows());
  const Matrix<T> query = collection.points(std::span(ids).first(1));
  const auto found = collection.search(query.view(), std::min<std::int64_t>(3, collection.rows()));
  for (const std::int64_t id : found.ids) io::require(id == -1 || collection.contains(id));
}

void search_any(const std::string& path, DType dtype, bool verify) {
  switch (dtype) {
    case DType::float32: return search_some<float>(path, verify);
    case DType::float64: return search_some<double>(path, verify);
    case DType::uint8: return search_some<std::uint8_t>(path, verify);
    case DType::int8: return search_some<std::int8_t>(path, verify);
    case DType::float16: return search_some<Float16>(path, verify);
    case DType::bfloat16: return search_some<BFloat16>(path, verify);
    default: return;
  }
}

}  // namespace
}  // namespace kith

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = kith::corrected(std::string(reinterpret_cast<const char*>(data), size));
  const int file = ::memfd_create("input", MFD_CLOEXEC);
  kith::io::require(file >= 0 && ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  kith::io::expect_array_or_error([&] {
    const kith::api::MappedFile mapped(path);
    const kith::CollectionInfo info = mapped.info();
    kith::io::require(info.rows >= 0 && info.dims >= 1);
    kith::touch(mapped);
    kith::search_any(path, info.dtype, false);
    kith::search_any(path, info.dtype, true);
  });
  ::close(file);
  return 0;
}
