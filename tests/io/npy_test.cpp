#include "io/npy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "files.hpp"

namespace kith::io {
namespace {

// A version 1 file with this dictionary and data, unpadded.
std::string npy(const std::string& dictionary, const std::string& data) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += raw(static_cast<std::uint16_t>(dictionary.size()));
  return text + dictionary + data;
}

std::string with_type(const std::string& descr) {
  return npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,), }", "12345678");
}

Failure fail_npy(const std::string& text) {
  return failure_of([&] { parse_npy(source_of(text)); });
}

struct NumpyFile {
  const char* name;
  ElementType type;
  int offset;  // added to row * 10 + column
};

class NumpyWrote : public testing::TestWithParam<NumpyFile> {};

TEST_P(NumpyWrote, AMatrix) {
  const Array array = load(fixture(GetParam().name));
  EXPECT_EQ(array.type(), GetParam().type);
  ASSERT_EQ(array.rank(), 2);
  ASSERT_EQ(array.rows(), 4);
  ASSERT_EQ(array.cols(), 3);
  const auto values = array.values<double>();
  for (int row = 0; row < 4; ++row) {
    for (int col = 0; col < 3; ++col) {
      EXPECT_EQ(values[static_cast<std::size_t>(row * 3 + col)], row * 10 + col + GetParam().offset);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types, NumpyWrote,
    testing::Values(
        NumpyFile{"le_f4.npy", ElementType::float32, -20}, NumpyFile{"be_f4.npy", ElementType::float32, -20},
        NumpyFile{"le_f8.npy", ElementType::float64, -20}, NumpyFile{"be_f8.npy", ElementType::float64, -20},
        NumpyFile{"i1.npy", ElementType::int8, -20}, NumpyFile{"le_i2.npy", ElementType::int32, -20},
        NumpyFile{"be_i2.npy", ElementType::int32, -20}, NumpyFile{"le_i4.npy", ElementType::int32, -20},
        NumpyFile{"be_i4.npy", ElementType::int32, -20}, NumpyFile{"le_i8.npy", ElementType::int64, -20},
        NumpyFile{"be_i8.npy", ElementType::int64, -20}, NumpyFile{"u1.npy", ElementType::uint8, 0},
        NumpyFile{"le_u2.npy", ElementType::int32, 0}, NumpyFile{"be_u2.npy", ElementType::int32, 0},
        NumpyFile{"le_u4.npy", ElementType::int64, 0}, NumpyFile{"be_u4.npy", ElementType::int64, 0},
        NumpyFile{"le_u8.npy", ElementType::int64, 0}, NumpyFile{"be_u8.npy", ElementType::int64, 0},
        NumpyFile{"fortran.npy", ElementType::float32, -20}, NumpyFile{"fortran_be.npy", ElementType::float64, -20},
        NumpyFile{"version1.npy", ElementType::float32, -20}, NumpyFile{"version2.npy", ElementType::float32, -20},
        NumpyFile{"version3.npy", ElementType::float32, -20}, NumpyFile{"float16.npy", ElementType::float16, -20},
        NumpyFile{"be_f2.npy", ElementType::float16, -20}),
    [](const auto& test) {
      std::string name = test.param.name;
      return name.substr(0, name.size() - 4);
    });

TEST(Npy, ReadsBoolVectorAndEmpty) {
  EXPECT_EQ(load(fixture("bool.npy")).values<std::uint8_t>(),
            (std::vector<std::uint8_t>{0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0}));
  const Array vector = load(fixture("vector.npy"));
  EXPECT_EQ(vector.rank(), 1);
  EXPECT_EQ(vector.values<double>(), (std::vector<double>{0, 3, 6, 9, 12}));
  const Array empty = load(fixture("empty.npy"));
  EXPECT_EQ(empty.rows(), 0);
  EXPECT_EQ(empty.cols(), 7);
}

TEST(Npy, ReadsEveryKindOfHalf) {
  const std::vector<std::pair<std::uint16_t, float>> halves = {{0x3c00, 1.0F},
                                                               {0xc000, -2.0F},
                                                               {0x7bff, 65504.0F},
                                                               {0x3555, 0.333251953125F},
                                                               {0x0400, 0x1p-14F},
                                                               {0x03ff, 0x3ffp-24F},
                                                               {0x0001, 0x1p-24F},
                                                               {0x8000, -0.0F},
                                                               {0xfc00, -std::numeric_limits<float>::infinity()}};
  std::string data;
  for (const auto& [bits, value] : halves) data += raw(bits);
  data += raw(std::uint16_t{0x7e00});
  const std::string text = npy("{'descr': '<f2', 'fortran_order': False, 'shape': (10,)}", data);
  const std::vector<float> values = parse_npy(source_of(text)).values<float>();
  for (std::size_t i = 0; i < halves.size(); ++i) {
    EXPECT_EQ(values[i], halves[i].second);
    EXPECT_EQ(std::signbit(values[i]), std::signbit(halves[i].second));
  }
  EXPECT_TRUE(std::isnan(values[9]));
}

TEST(Npy, MapsAndWritesHalves) {
  const std::string file = bytes_of(fixture("float16.npy"));
  const Array halves = parse_npy(source_of(file));
  EXPECT_EQ(halves.data(), file.data() + file.size() - 24);
  const Folder folder;
  save(folder.file("a.npy"), halves);
  EXPECT_EQ(bytes_of(folder.file("a.npy")), file);
  EXPECT_TRUE(same_array(load(fixture("be_f2.npy")), halves));
}

// ml_dtypes saves bfloat16 as two bytes of no type, which could be anything.
TEST(Npy, HasNoBFloat16) {
  const Folder folder;
  const Array values = Array::from(std::vector<BFloat16>{BFloat16(1)}, 1, 1);
  for (const char* name : {"a.npy", "a.npz"}) {
    EXPECT_EQ(failure_of([&] { save(folder.file(name), values); }),
              invalid_argument("npy and npz have no type for bfloat16; convert to float32, which holds its values, or "
                               "write bf16bin or hdf5"));
  }
  EXPECT_TRUE(folder.names().empty());
  EXPECT_EQ(fail_npy(with_type("<V2")),
            bad_data("test: byte 20: dtype '<V2' does not tell what its 2 bytes are, bfloat16 of ml_dtypes or others, "
                     "and is not read; save them as float32, float16 or bf16bin"));
}

TEST(Npy, IsAViewWhereTheLayoutAllows) {
  const std::string file = bytes_of(fixture("fortran.npy"));
  const Array fortran = parse_npy(source_of(file));
  EXPECT_EQ(fortran.data(), file.data() + file.size() - 48);
  EXPECT_EQ(fortran.row_stride(), 1);
  EXPECT_EQ(fortran.col_stride(), 4);
  const std::string swapped = bytes_of(fixture("fortran_be.npy"));
  const Array copy = parse_npy(source_of(swapped));
  EXPECT_NE(copy.data(), swapped.data() + swapped.size() - 96);
  EXPECT_EQ(copy.col_stride(), 4);
}

TEST(Npy, CopiesWhatIsNotAligned) {
  const std::string text =
      npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", raw(1.5) + raw(-2.5));  // data at byte 63
  const Array array = parse_npy(source_of(text));
  EXPECT_EQ(array.values<double>(), (std::vector<double>{1.5, -2.5}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 8, 0U);
}

TEST(Npy, RefusesWhatItCannotHold) {
  const auto fail = [](const char* name) {
    const Failure failure = failure_of([&] { load(fixture(name)); });
    EXPECT_EQ(failure.code, ErrorCode::bad_data);
    EXPECT_EQ(failure.message.rfind(fixture(name) + ": ", 0), 0U) << failure.message;
    return failure.message.substr(fixture(name).size() + 2);
  };
  EXPECT_EQ(fail("object.npy"), "byte 20: dtype '|O' holds Python objects, which are not read");
  EXPECT_EQ(fail("structured.npy"), "byte 20: structured dtypes are not read; save each field as an array of its own");
  EXPECT_EQ(fail("complex.npy"), "byte 20: dtype '<c8' is not read; floats of 2, 4 or 8 bytes, integers and bool are");
  EXPECT_EQ(fail("scalar.npy"), "byte 60: the array has 0 dimensions; one or two are read");
  EXPECT_EQ(fail("cube.npy"), "byte 60: the array has 3 dimensions; one or two are read");
  EXPECT_EQ(fail("uint64_large.npy"), "byte 144: 9223372036854775814 exceeds the largest int64, 9223372036854775807");
}

TEST(Npy, NamesTheByteThatIsWrong) {
  EXPECT_EQ(fail_npy(""), bad_data("test: byte 0: not an npy file: it does not begin with \\x93NUMPY"));
  EXPECT_EQ(fail_npy("\x93NUMPY"), bad_data("test: byte 6: truncated before the version"));
  EXPECT_EQ(fail_npy(std::string("\x93NUMPY\x04\x00\x01\x00 ", 11)),
            bad_data("test: byte 6: header version 4; versions 1 to 3 are read"));
  EXPECT_EQ(fail_npy(std::string("\x93NUMPY\x02\x00\x01\x00", 10)),
            bad_data("test: byte 10: truncated before the header"));
  EXPECT_EQ(fail_npy(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14)),
            bad_data("test: byte 8: the header is said to have 4294967295 bytes; at most 65535 are read"));
  EXPECT_EQ(fail_npy(std::string("\x93NUMPY\x01\x00\xff\xff{}", 12)),
            bad_data("test: byte 8: the header is said to have 65535 bytes but only 2 follow"));
  EXPECT_EQ(fail_npy(std::string("\x93NUMPY\x02\x00\x00\x00\x01\x00", 12) + std::string(65536, ' ')),
            bad_data("test: byte 8: the header is said to have 65536 bytes; at most 65535 are read"));
  EXPECT_EQ(fail_npy(npy("[]", "")), bad_data("test: byte 10: expected '{' in the header"));
  EXPECT_EQ(fail_npy(npy("{}", "")), bad_data("test: byte 12: the header has no key 'descr'"));
  EXPECT_EQ(fail_npy(npy("{'descr' '<f4'}", "")), bad_data("test: byte 19: expected ':' in the header"));
  EXPECT_EQ(fail_npy(npy("{'descr: ", "")), bad_data("test: byte 12: a string in the header does not end"));
  EXPECT_EQ(fail_npy(npy("{'dtype': '<f4'}", "")), bad_data("test: byte 11: unknown header key 'dtype'"));
  EXPECT_EQ(fail_npy(npy("{'descr': '<f4', 'descr': '<f4'}", "")),
            bad_data("test: byte 27: header key 'descr' appears twice"));
  EXPECT_EQ(fail_npy(npy("{'fortran_order': 0}", "")),
            bad_data("test: byte 28: fortran_order is neither True nor False"));
  EXPECT_EQ(fail_npy(npy("{'shape': (3)}", "")), bad_data("test: byte 22: expected ',' in the shape"));
  EXPECT_EQ(fail_npy(npy("{'shape': (-3,)}", "")), bad_data("test: byte 21: the shape is not made of lengths"));
  EXPECT_EQ(fail_npy(npy("{'shape': (99999999999999999999,)}", "")),
            bad_data("test: byte 21: a length in the shape exceeds 63 bits"));
  EXPECT_EQ(fail_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0,)} x", "")),
            bad_data("test: byte 66: text after the header's dictionary"));
}

TEST(Npy, ReadsTypesStrictly) {
  EXPECT_EQ(fail_npy(with_type("f4")), bad_data("test: byte 20: dtype 'f4' has no byte order"));
  EXPECT_EQ(fail_npy(with_type("|f4")), bad_data("test: byte 20: dtype '|f4' has no byte order"));
  EXPECT_EQ(fail_npy(with_type("<")), bad_data("test: byte 20: dtype '<' is not a type"));
  EXPECT_EQ(fail_npy(with_type("|V8")), bad_data("test: byte 20: dtype '|V8' is structured, which is not read"));
  for (const char* descr : {"<f1", "<f16", "<i3", "<u16", "|b2", "|S8", "<U2", "<M8[s]", "<i"}) {
    EXPECT_EQ(fail_npy(with_type(descr)), bad_data("test: byte 20: dtype '" + std::string(descr) +
                                                   "' is not read; floats of 2, 4 or 8 bytes, integers and bool are"));
  }
}

TEST(Npy, ComparesTheShapeWithTheSize) {
  const auto shaped = [](const std::string& shape, const std::string& data) {
    return npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}", data);
  };
  EXPECT_EQ(fail_npy(shaped("(2, 2)", std::string(15, 'x'))),
            bad_data("test: byte 82: truncated: 2 rows of 2 columns need 16 bytes of data but there are 15"));
  EXPECT_EQ(fail_npy(shaped("(2, 2)", std::string(17, 'x'))), bad_data("test: byte 83: 1 byte after the array"));
  EXPECT_EQ(
      fail_npy(shaped("(4611686018427387904, 4)", "")),
      bad_data("test: byte 85: truncated: 4611686018427387904 rows of 4 columns need more than 2^63 bytes of data "
               "but there are 0"));
  const Array narrow = parse_npy(source_of(shaped("(1000000000000000000, 0)", "")));
  EXPECT_EQ(narrow.rows(), 1000000000000000000);
  EXPECT_EQ(narrow.size(), 0);
}

TEST(Npy, AcceptsOtherSpellings) {
  const std::string text = npy("{\"shape\": (1L, 2L), \"descr\": \"=i2\", 'fortran_order': True}  \n",
                               raw(std::int16_t{-7}) + raw(std::int16_t{9}));
  EXPECT_EQ(parse_npy(source_of(text)).values<std::int32_t>(), (std::vector<std::int32_t>{-7, 9}));
}

TEST(Npy, WritesTheBytesNumpyWrites) {
  const Folder folder;
  for (const char* name :
       {"le_f4.npy", "le_f8.npy", "u1.npy", "i1.npy", "le_i4.npy", "le_i8.npy", "vector.npy", "empty.npy"}) {
    save(folder.file(name), load(fixture(name)));
    EXPECT_EQ(bytes_of(folder.file(name)), bytes_of(fixture(name))) << name;
  }
}

TEST(Npy, DescribesByTheHeader) {
  const FileInfo info = describe(fixture("be_u2.npy"));
  EXPECT_EQ(info.format, Format::npy);
  ASSERT_EQ(info.arrays.size(), 1U);
  EXPECT_EQ(info.arrays[0].type, ElementType::int32);
  EXPECT_EQ(info.arrays[0].rows, 4);
  EXPECT_EQ(info.arrays[0].cols, 3);
}

}  // namespace
}  // namespace kith::io
