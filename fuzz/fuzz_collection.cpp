// Files of collections. Checksums and the size are put right first, so that what lies behind them is reached too.
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <string>

#include "api/collection/file.hpp"
#include "fuzz_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kStart = 64;
  constexpr std::size_t kHeadBytes = 16;
  constexpr std::size_t kFileBytes = 24;
  constexpr std::size_t kHeadChecksum = 32;
  constexpr std::size_t kChecksum = 36;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size >= kStart) {
    std::uint64_t head = 0;
    std::memcpy(&head, bytes.data() + kHeadBytes, sizeof head);
    const auto sum = [&](std::size_t first, std::size_t count, std::size_t to) {
      const auto found =
          static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data() + first), count));
      std::memcpy(bytes.data() + to, &found, sizeof found);
    };
    const std::uint64_t whole = size;
    std::memcpy(bytes.data() + kFileBytes, &whole, sizeof whole);
    if (head <= size - kStart) sum(kStart, head, kHeadChecksum);
    sum(0, kChecksum, kChecksum);
  }
  const int file = ::memfd_create("input", MFD_CLOEXEC);
  kith::io::require(file >= 0 && ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  kith::io::expect_array_or_error([&] {
    const kith::api::MappedFile mapped("/proc/self/fd/" + std::to_string(file));
    const kith::CollectionInfo info = mapped.info();
    kith::io::require(info.rows >= 0 && info.dims >= 1);
    volatile unsigned sum = 0;  // reads every byte
    const kith::backend::Parts& sections = mapped.sections();
    for (const kith::backend::Part& part : sections.all())
      for (const std::byte each : part.bytes) sum = sum + static_cast<unsigned>(each);
    mapped.verify();
  });
  ::close(file);
  return 0;
}
