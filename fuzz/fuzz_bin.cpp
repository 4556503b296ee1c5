#include "fuzz_reader.hpp"
#include "io/bin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kith::io;
  for (const ElementType type : {ElementType::float32, ElementType::float16, ElementType::bfloat16, ElementType::uint8,
                                 ElementType::int8, ElementType::int32}) {
    fuzz_source(data, size, [&](const Source& source) {
      const Array array = parse_bin(source, type);
      touch(array);
      require_described(array, describe_bin(source, type));
    });
  }
  return fuzz_source(data, size, [](const Source& source) {
    const NamedArrays arrays = parse_groundtruth(source);
    const auto infos = describe_groundtruth(source);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      touch(arrays[i].second);
      require_described(arrays[i].second, infos[i]);
    }
  });
}
