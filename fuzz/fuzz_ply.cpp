#include "fuzz_reader.hpp"
#include "io/ply_read.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kith::io;
  return fuzz_source(data, size, [](const Source& source) {
    const FileInfo info = describe_ply(source, {});
    const Array all = parse_ply(source, info.columns);
    touch(all);
    const Array array = parse_ply(source, {});
    touch(array);
    require_described(array, info.arrays.at(0));
  });
}
