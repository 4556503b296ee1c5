// Attributes are read without libhdf5, so mutated bytes are theirs to withstand.
#include "fuzz_reader.hpp"
#include "io/hdf5_attributes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kith::io;
  return fuzz_source(data, size, [](const Source& source) {
    for (const auto& [name, value] : read_hdf5_attributes(source)) require(value.size() <= 64 * 1024);
  });
}
