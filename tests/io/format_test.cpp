#include "io/format.hpp"

#include <gtest/gtest.h>

#include "files.hpp"

namespace kith::io {
namespace {

TEST(Format, NamesAreParsedBack) {
  const auto names = format_names();
  EXPECT_EQ(names.size(), 16U);
  for (const std::string& name : names) EXPECT_EQ(to_string(parse_format(name)), name);
  EXPECT_EQ(parse_format("auto"), Format::automatic);
  EXPECT_EQ(parse_format("H5"), Format::hdf5);
  EXPECT_EQ(parse_format("tsv"), Format::csv);
  EXPECT_EQ(failure_of([] { parse_format("parquet"); }),
            invalid_argument("format 'parquet' is not one of auto, npy, npz, fvecs, bvecs, ivecs, fbin, f16bin, "
                             "bf16bin, u8bin, i8bin, ibin, groundtruth, hdf5, csv, ply, json"));
}

TEST(Format, ComesFromTheExtension) {
  EXPECT_EQ(format_of("a.npy"), Format::npy);
  EXPECT_EQ(format_of("/x.npy/a.FVECS"), Format::fvecs);
  EXPECT_EQ(format_of("a.f16bin"), Format::f16bin);
  EXPECT_EQ(format_of("a.b.hdf5"), Format::hdf5);
  EXPECT_EQ(format_of("/x.npy/a"), Format::automatic);
  EXPECT_EQ(format_of("npy"), Format::automatic);
  EXPECT_EQ(format_of("a."), Format::automatic);
  EXPECT_EQ(format_of("a.bin"), Format::automatic);
}

TEST(Format, ComesFromTheFirstBytesElse) {
  const Folder folder;
  EXPECT_TRUE(same_array(load(folder.put("plain", bytes_of(fixture("le_f4.npy")))), load(fixture("le_f4.npy"))));
  EXPECT_EQ(describe(folder.put("zip.bin", bytes_of(fixture("stored.npz")))).format, Format::npz);
  EXPECT_EQ(sniff(source_of("ply\nformat")), Format::ply);
  EXPECT_EQ(sniff(source_of("\x89HDF\r\n\x1a\n")), Format::hdf5);
  const std::string unknown = folder.put("unknown.bin", "1,2\n");
  EXPECT_EQ(failure_of([&] { load(unknown); }),
            invalid_argument(unknown + ": the format is not known from its extension or its first bytes; name it"));
}

TEST(Format, ParquetAndArrowSayHowToConvert) {
  const Folder folder;
  const std::string parquet = folder.put("points.parquet", "PAR1 and columns");
  EXPECT_EQ(failure_of([&] { load(parquet); }),
            invalid_argument(parquet + ": Parquet is read by the Python package; 'python -m kith convert " + parquet +
                             " points.npy' makes a file of it that is read here"));
  const std::string arrow = folder.put("points", "ARROW1 and batches");
  EXPECT_EQ(failure_of([&] { load(arrow); }),
            invalid_argument(arrow + ": Arrow is read by the Python package; 'python -m kith convert " + arrow +
                             " points.npy' makes a file of it that is read here"));
}

TEST(Format, OptionOverridesTheExtension) {
  const Folder folder;
  const std::string path = folder.put("a.npy", "1,2\n3,4\n");
  LoadOptions options;
  options.format = Format::csv;
  EXPECT_EQ(load(path, options).rows(), 2);
  SaveOptions save_options;
  save_options.format = Format::csv;
  save(folder.file("b.npy"), Array::from(std::vector<float>{1, 2}, 1, 2), save_options);
  EXPECT_EQ(bytes_of(folder.file("b.npy")), "1,2\n");
}

TEST(Load, RefusesOptionsThatTheFormatDoesNotHave) {
  const std::string path = fixture("le_f4.npy");
  const auto fail = [&](auto set) {
    LoadOptions options;
    set(options);
    return failure_of([&] { load(path, options); });
  };
  EXPECT_EQ(fail([](LoadOptions& o) { o.array = "x"; }), invalid_argument(path + ": a npy file has no named arrays"));
  EXPECT_EQ(fail([](LoadOptions& o) { o.columns = {"x"}; }),
            invalid_argument(path + ": a npy file has no named columns"));
  EXPECT_EQ(fail([](LoadOptions& o) { o.header = Header::absent; }),
            invalid_argument(path + ": a npy file has no header row"));
  EXPECT_EQ(fail([](LoadOptions& o) { o.format = Format::json; }), invalid_argument(path + ": json is written only"));
  EXPECT_EQ(failure_of([&] {
              LoadOptions options;
              options.array = "x";
              load_all(path, options);
            }),
            invalid_argument("load_all takes every array: name none"));
}

TEST(Load, NamesTheFileThatCannotBeRead) {
  const Folder folder;
  EXPECT_EQ(failure_of([&] { load(folder.file("none.npy")); }),
            bad_data(folder.file("none.npy") + ": No such file or directory"));
  EXPECT_EQ(failure_of([&] { load(folder.file("")); }), bad_data(folder.file("") + ": Is a directory"));
  EXPECT_EQ(failure_of([&] { load(folder.put("empty.npy", "")); }),
            bad_data(folder.file("empty.npy") + ": byte 0: not an npy file: it does not begin with \\x93NUMPY"));
}

TEST(Load, ReadsPipes) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string text = "1,2\n3,4\n";
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  LoadOptions options;
  options.format = Format::csv;
  EXPECT_EQ(load("/dev/fd/" + std::to_string(ends[0]), options).values<int>(), (std::vector<int>{1, 2, 3, 4}));
  ::close(ends[0]);
}

TEST(Load, ReadsStandardInputOnce) {
  const Folder folder;
  const std::string bytes = bytes_of(fixture("le_f4.npy"));
  ASSERT_NE(::freopen(fixture("le_f4.npy").c_str(), "rb", stdin), nullptr);
  EXPECT_TRUE(same_array(load("-"), load(fixture("le_f4.npy"))));
  EXPECT_EQ(failure_of([] { load("-"); }),
            invalid_argument("standard input was read already; only one input can be '-'"));
}

}  // namespace
}  // namespace kith::io
