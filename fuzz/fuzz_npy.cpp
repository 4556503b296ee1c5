#include "fuzz_reader.hpp"
#include "io/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kith::io;
  return fuzz_source(data, size, [](const Source& source) {
    const Array array = parse_npy(source);
    touch(array);
    require_described(array, describe_npy(parse_npy_header(source)));
  });
}
