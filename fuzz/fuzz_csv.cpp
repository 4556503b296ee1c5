#include "fuzz_reader.hpp"
#include "io/csv_read.hpp"

// The first byte chooses the options, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kith::io;
  if (size == 0) return 0;
  LoadOptions options;
  options.header = static_cast<Header>(data[0] % 3);
  const unsigned choice = data[0] / 3 % 3;
  if (choice == 1) options.columns = {"1", "a", "0"};
  if (choice == 2) options.array = "ids";
  return fuzz_source(data + 1, size - 1, [&](const Source& source) {
    const CsvTable table = parse_csv(source, options);
    touch(table.array);
    require(table.columns.empty() || choice != 0 ||
            static_cast<std::int64_t>(table.columns.size()) == table.array.cols());
  });
}
