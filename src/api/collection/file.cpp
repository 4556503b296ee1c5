#include "api/collection/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "backend/whole_file.hpp"
#include "core/max_distance.hpp"

namespace kith::api {
namespace {

using nlohmann::json;

constexpr std::array<char, 8> kMagic{'k', 'i', 't', 'h', 'i', 'd', 'x', '\n'};
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::uint32_t kOtherByteOrder = 0x04030201;
constexpr std::int64_t kAlignment = 4096;
constexpr std::int64_t kLargestHead = std::int64_t{1} << 24;
// A checksum is of so many bytes of a section, so that it can be checked in parts.
constexpr std::size_t kCheckedBytes = std::size_t{1} << 26;

// The first bytes of a file.
struct FileStart {
  std::array<char, 8> magic;
  std::uint32_t byte_order;
  std::uint32_t version;
  std::uint64_t head_bytes;
  std::uint64_t file_bytes;
  std::uint32_t head_checksum;
  std::uint32_t checksum;  // of what stands before it
  std::array<std::byte, 24> unused;
};
static_assert(sizeof(FileStart) == 64);

std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::uint32_t start_checksum(const FileStart& start) {
  return checksum(std::as_bytes(std::span(&start, 1)).first(offsetof(FileStart, checksum)));
}

template <class V>
json named(V value) {
  return std::string(to_string(value));
}

json options_json(const Options& options) {
  const ShiftedSortTuning& tuning = options.shifted_sort;
  json text{{"metric", std::string(to_string(options.metric.kind))},
            {"method", named(options.method)},
            {"period", options.period}};
  if (options.metric.kind == MetricKind::minkowski) {
    if (std::isinf(options.metric.p)) {
      text["p"] = "inf";
    } else {
      text["p"] = options.metric.p;
    }
  }
  if (options.method == Method::shifted_sort)
    text["shifted_sort"] = {{"shifts", tuning.shifts},
                            {"shift", tuning.shift},
                            {"guaranteed", tuning.guaranteed},
                            {"window", tuning.window},
                            {"curve", named(tuning.curve)}};
  return text;
}

// The library's own conversion takes fractions too, and of those that no integer holds anything may come.
template <class N>
N integer(const json& value) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<N>(value.get<std::uint64_t>())
                        : value.is_number_integer() && std::in_range<N>(value.get<std::int64_t>());
  if (!fits) throw Error(ErrorCode::bad_data, "its head is damaged: a number is no integer, or too large");
  return value.get<N>();
}

std::vector<std::uint32_t> integers(const json& list) {
  std::vector<std::uint32_t> values;
  for (const json& value : list) values.push_back(integer<std::uint32_t>(value));
  return values;
}

// Throws exceptions of the JSON library, and Error for names that are not known.
Options options_of(const json& text) {
  Options options;
  options.metric.kind = parse_metric(text.at("metric").get<std::string>()).kind;
  if (text.contains("p"))
    options.metric.p = text["p"].is_string() ? std::numeric_limits<double>::infinity() : text["p"].get<double>();
  options.method = parse_method(text.at("method").get<std::string>());
  options.period = text.at("period").get<std::vector<double>>();
  if (text.contains("shifted_sort")) {
    const json& tuning = text["shifted_sort"];
    options.shifted_sort.shifts = integer<int>(tuning.at("shifts"));
    options.shifted_sort.shift = tuning.at("shift").get<double>();
    options.shifted_sort.guaranteed = tuning.at("guaranteed").get<bool>();
    options.shifted_sort.window = integer<std::int64_t>(tuning.at("window"));
    options.shifted_sort.curve = parse_curve(tuning.at("curve").get<std::string>());
  }
  return options;
}

DType parse_dtype(const std::string& name) {
  for (const DType dtype : {DType::float32, DType::float64, DType::uint8, DType::int8, DType::float16, DType::bfloat16})
    if (name == to_string(dtype)) return dtype;
  throw Error(ErrorCode::bad_data, fmt::format("element type '{}' is not known", name));
}

[[noreturn]] void refuse_file(const std::string& message) {
  throw Error(ErrorCode::bad_data, message);
}

}  // namespace

void write_file(const std::string& path, const FileHead& head, const std::vector<FileSection>& sections,
                const ProgressCallback& progress) {
  backend::WholeFile file(path);
  std::int64_t total = 0;
  std::int64_t written = 0;
  const auto go_on = [&] {
    if (progress && !progress({written, total}))
      throw Error(ErrorCode::cancelled, fmt::format("{}: cancelled by the progress callback", path));
  };
  // The head names checksums of sections, so these are written first, behind room for the longest head.
  json described = json::array();
  std::int64_t places = 0;
  for (const FileSection& section : sections) {
    std::size_t bytes = 0;
    for (const auto& chunk : section.chunks) bytes += chunk.size();
    total += static_cast<std::int64_t>(bytes);
    places += 160 + static_cast<std::int64_t>(section.name.size() + bytes / kCheckedBytes * 12);
  }
  std::int64_t at = aligned(static_cast<std::int64_t>(sizeof(FileStart)) + 4096 + places +
                            32 * static_cast<std::int64_t>(head.options.period.size()));
  const std::int64_t head_room = at;
  for (const FileSection& section : sections) {
    std::vector<std::uint32_t> checksums;
    std::uint32_t sum = 0;
    std::size_t summed = 0;
    std::int64_t bytes = 0;
    for (std::span<const std::byte> chunk : section.chunks) {
      while (!chunk.empty()) {
        const auto some = chunk.first(std::min(chunk.size(), kCheckedBytes - summed));
        file.write(some, at + bytes);
        sum = checksum(some, sum);
        summed += some.size();
        bytes += static_cast<std::int64_t>(some.size());
        chunk = chunk.subspan(some.size());
        written += static_cast<std::int64_t>(some.size());
        if (summed == kCheckedBytes) {
          go_on();
          checksums.push_back(sum);
          sum = 0;
          summed = 0;
        }
      }
    }
    if (summed > 0) checksums.push_back(sum);
    described.push_back({{"name", section.name}, {"offset", at}, {"bytes", bytes}, {"crc32", checksums}});
    at = aligned(at + bytes);
  }
  const std::string text = json{
      {"dtype", to_string(head.dtype)}, {"rows", head.rows},       {"dims", head.dims},
      {"first_id", head.first_id},      {"next_id", head.next_id}, {"options", options_json(head.options)},
      {"sections", described}}.dump();
  const auto head_bytes = std::as_bytes(std::span(text));
  if (static_cast<std::int64_t>(sizeof(FileStart) + text.size()) > head_room)
    throw Error(ErrorCode::internal, fmt::format("the head of {} has {} bytes; {} were left for it", path, text.size(),
                                                 head_room - static_cast<std::int64_t>(sizeof(FileStart))));
  FileStart start{kMagic, kByteOrder, kFileVersion, text.size(), static_cast<std::uint64_t>(at), checksum(head_bytes),
                  0,      {}};
  start.checksum = start_checksum(start);
  file.write(std::as_bytes(std::span(&start, 1)), 0);
  file.write(head_bytes, sizeof(FileStart));
  const std::byte last{};
  if (at > head_room) {
    // The last section ends with its page, so that the file's size tells whether all of it is there.
    const json& section = described.back();
    if (section["offset"].get<std::int64_t>() + section["bytes"].get<std::int64_t>() < at)
      file.write(std::span(&last, 1), at - 1);
  } else {
    file.write(std::span(&last, 1), at - 1);
  }
  go_on();
  file.commit();
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw Error(ErrorCode::bad_data, fmt::format("{}: cannot open it: {}", path, std::strerror(errno)));
  struct stat status = {};
  const bool is_regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  size_ = is_regular ? static_cast<std::size_t>(status.st_size) : 0;
  void* mapped = size_ == 0 ? MAP_FAILED : ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
  const int error = errno;
  ::close(file);
  if (!is_regular) throw Error(ErrorCode::bad_data, fmt::format("{} is no regular file", path));
  if (size_ < sizeof(FileStart))
    throw Error(ErrorCode::bad_data, fmt::format("{} has {} bytes; the file of a collection has {} at least", path,
                                                 size_, sizeof(FileStart)));
  if (mapped == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{}: cannot map {} bytes: {}", path, size_, std::strerror(error)));
  data_ = static_cast<const std::byte*>(mapped);
  try {
    read_head();
  } catch (const json::exception& wrong) {
    ::munmap(const_cast<std::byte*>(data_), size_);
    throw Error(ErrorCode::bad_data, fmt::format("{}: its head is damaged: {}", path, wrong.what()));
  } catch (const Error& wrong) {
    ::munmap(const_cast<std::byte*>(data_), size_);
    throw Error(ErrorCode::bad_data, fmt::format("{}: {}", path, wrong.what()));
  } catch (...) {
    ::munmap(const_cast<std::byte*>(data_), size_);
    throw;
  }
}

MappedFile::~MappedFile() {
  ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::read_head() {
  FileStart start;
  std::memcpy(&start, data_, sizeof start);
  if (start.magic != kMagic) refuse_file("it is no file of a collection");
  if (start.byte_order == kOtherByteOrder) refuse_file("it was written on a machine of another byte order");
  if (start.checksum != start_checksum(start) || start.byte_order != kByteOrder)
    refuse_file("its first bytes are damaged");
  if (start.version > kFileVersion)
    refuse_file(
        fmt::format("it has version {} of the format; this library reads up to {}", start.version, kFileVersion));
  if (start.file_bytes != size_)
    refuse_file(
        fmt::format("it has {} bytes, but {} were written: it was cut off or added to", size_, start.file_bytes));
  if (start.head_bytes > size_ - sizeof start || start.head_bytes > kLargestHead)
    refuse_file(fmt::format("its head has {} bytes, more than there can be", start.head_bytes));
  const auto text = std::span(data_, size_).subspan(sizeof start, start.head_bytes);
  if (checksum(text) != start.head_checksum) refuse_file("its head is damaged");
  const auto* const begin = reinterpret_cast<const char*>(text.data());
  const json head = json::parse(begin, begin + text.size());
  head_.dtype = parse_dtype(head.at("dtype").get<std::string>());
  head_.rows = integer<std::int64_t>(head.at("rows"));
  head_.dims = integer<std::int64_t>(head.at("dims"));
  head_.first_id = integer<std::int64_t>(head.at("first_id"));
  head_.next_id = integer<std::int64_t>(head.at("next_id"));
  head_.options = options_of(head.at("options"));
  check_numbers();
  auto before = static_cast<std::int64_t>(sizeof start + start.head_bytes);
  std::vector<backend::Part> sections;
  for (const json& section : head.at("sections")) {
    const auto name = section.at("name").get<std::string>();
    const auto offset = integer<std::int64_t>(section.at("offset"));
    const auto bytes = integer<std::int64_t>(section.at("bytes"));
    const auto checksums = integers(section.at("crc32"));
    const auto size = static_cast<std::int64_t>(size_);
    if (offset < 0 || offset % kAlignment != 0 || bytes < 0 || offset > size || bytes > size - offset)
      refuse_file(fmt::format("section {} lies at {} with {} bytes, in a file of {}", name, offset, bytes, size_));
    if (offset < before)
      refuse_file(fmt::format("section {} lies at {}, where what precedes it reaches to {}", name, offset, before));
    if (std::any_of(sections.begin(), sections.end(), [&](const backend::Part& each) { return each.name == name; }))
      refuse_file(fmt::format("section {} is there twice", name));
    before = offset + bytes;
    const auto content =
        std::span(data_, size_).subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
    if (checksums.size() != (content.size() + kCheckedBytes - 1) / kCheckedBytes)
      refuse_file(fmt::format("section {} has {} checksums for {} bytes", name, checksums.size(), bytes));
    sections.push_back({name, content, [path = path_, name, content, checksums] {
                          for (std::size_t i = 0; i < checksums.size(); ++i) {
                            const std::size_t first = i * kCheckedBytes;
                            const auto some = content.subspan(first, std::min(kCheckedBytes, content.size() - first));
                            if (checksum(some) != checksums[i])
                              throw Error(ErrorCode::bad_data,
                                          fmt::format("{}: section {} is damaged between byte {} and byte {} of it",
                                                      path, name, first, first + some.size()));
                          }
                        }});
  }
  sections_ = backend::Parts(std::move(sections));
  check_sections();
}

// What can be said of them without a look at the points.
void MappedFile::check_numbers() const {
  constexpr std::int64_t kMostDims = std::numeric_limits<std::int32_t>::max();
  std::int64_t values = 0;
  if (head_.rows < 0 || head_.dims < 1 || head_.dims > kMostDims ||
      __builtin_mul_overflow(head_.rows, head_.dims, &values) || values > std::numeric_limits<std::int64_t>::max() / 8)
    refuse_file(fmt::format("it has {} × {} points, which cannot be", head_.rows, head_.dims));
  if (head_.next_id < 0) refuse_file(fmt::format("the next id is {}; it must be 0 or more", head_.next_id));
  const Options& options = head_.options;
  if (!options.period.empty() && static_cast<std::int64_t>(options.period.size()) != head_.dims)
    refuse_file(fmt::format("it has {} periods for {} dimensions", options.period.size(), head_.dims));
  for (const double period : options.period)
    if (!(period >= 0) || std::isinf(period)) refuse_file(fmt::format("it has a period of {}", period));
  if (options.metric.kind == MetricKind::minkowski && !(options.metric.p >= 1))
    refuse_file(fmt::format("minkowski p = {}; p must be at least 1", options.metric.p));
}

// Those of points and their labels; others are looked at when they are needed.
void MappedFile::check_sections() const {
  sections_.values<std::byte>(kPointsSection, head_.rows * head_.dims * size_of(head_.dtype));
  if (!sections_.has(kIdsSection) && head_.rows > 0) {
    std::int64_t last = 0;
    const bool overflows = __builtin_add_overflow(head_.first_id, head_.rows - 1, &last);
    if (overflows || (head_.first_id < 0 && last >= core::kNoNeighbor))
      refuse_file(fmt::format("its {} ids from {} on cannot be", head_.rows, head_.first_id));
    if (!is_id_after(head_.next_id, last))
      refuse_file(fmt::format("the next id is {}, but there is {} already", head_.next_id, last));
  }
  if (sections_.has(kIdsSection)) sections_.values<std::int64_t>(kIdsSection, head_.rows);
  if (sections_.has(kTagsSection)) sections_.values<std::int64_t>(kTagsSection, head_.rows);
}

backend::Parts MappedFile::prepared() const {
  std::vector<backend::Part> parts;
  for (const backend::Part& part : sections_.all())
    if (part.name != kPointsSection && part.name != kIdsSection && part.name != kTagsSection) parts.push_back(part);
  return backend::Parts(std::move(parts));
}

void MappedFile::verify() const {
  for (const backend::Part& part : sections_.all()) part.verify();
}

CollectionInfo MappedFile::info() const {
  CollectionInfo info;
  info.dtype = head_.dtype;
  info.rows = head_.rows;
  info.dims = head_.dims;
  info.options = head_.options;
  info.has_ids = sections_.has(kIdsSection) || head_.first_id != 0;
  info.has_tags = sections_.has(kTagsSection);
  const backend::Parts parts = prepared();
  for (const backend::Part& part : parts.all()) {
    const std::string name = part.name.substr(0, part.name.find('.'));
    if (name != "means" && (info.prepared.empty() || info.prepared.back() != name)) info.prepared.push_back(name);
  }
  info.file_bytes = static_cast<std::int64_t>(size_);
  info.version = kFileVersion;
  return info;
}

}  // namespace kith::api

kith::CollectionInfo kith::collection_info(const std::string& path) {
  return api::MappedFile(path).info();
}
