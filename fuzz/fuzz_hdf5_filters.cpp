// Chunks are unpacked without libhdf5: any bytes, through any filters, give a chunk of its size or a reason.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>

#include "fuzz_reader.hpp"
#include "io/hdf5_filters.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kith::io;
  FuzzedDataProvider input(data, size);
  Hdf5Layout layout;
  layout.stored.bytes = input.PickValueInArray({1, 2, 4, 8});
  layout.chunk_bytes = input.ConsumeIntegralInRange(1, 200) * layout.stored.bytes;
  for (int i = 0; i < 3; ++i) {
    const auto filter = input.PickValueInArray({Hdf5Filter::deflate, Hdf5Filter::shuffle, Hdf5Filter::fletcher32});
    const bool again = std::find(layout.filters.begin(), layout.filters.end(), filter) != layout.filters.end();
    if (!again) layout.filters.push_back(filter);
  }
  const auto skipped = input.ConsumeIntegralInRange<std::uint32_t>(0, 7);
  auto bytes = input.ConsumeRemainingBytes<std::byte>();
  const std::string problem = undo_filters(layout, skipped, bytes);
  require(!problem.empty() || bytes.size() == static_cast<std::size_t>(layout.chunk_bytes));
  return 0;
}
