#include "fuzz_reader.hpp"
#include "io/vecs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kith::io;
  for (const ElementType type : {ElementType::float32, ElementType::uint8, ElementType::int32}) {
    fuzz_source(data, size, [&](const Source& source) {
      const Array array = parse_vecs(source, type);
      touch(array);
      require_described(array, describe_vecs(source, type));
    });
  }
  return 0;
}
