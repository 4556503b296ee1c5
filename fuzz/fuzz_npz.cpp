#include "fuzz_reader.hpp"
#include "io/npz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kith::io;
  return fuzz_source(data, size, [](const Source& source) {
    for (const ArrayInfo& info : describe_npz(source)) {
      expect_array_or_error([&] {
        const Array array = parse_npz(source, info.name);
        touch(array);
        require_described(array, info);
      });
    }
  });
}
