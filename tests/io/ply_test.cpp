#include "io/ply_read.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "files.hpp"

namespace kith::io {
namespace {

template <class T>
std::string big(T value) {
  std::string bytes = raw(value);
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

std::string ply(const std::string& format, const std::string& header, const std::string& data) {
  return "ply\nformat " + format + " 1.0\n" + header + "end_header\n" + data;
}

const std::string kXyz = "property float x\nproperty float y\nproperty float z\n";

Array parse_text(const std::string& text, const std::vector<std::string>& columns = {}) {
  return parse_ply(source_of(text), columns);
}

Failure fail_ply(const std::string& text, const std::vector<std::string>& columns = {}) {
  return failure_of([&] { parse_text(text, columns); });
}

TEST(Ply, ReadsAscii) {
  const Array array =
      parse_text(ply("ascii", "comment made by hand\nelement vertex 2\n" + kXyz, "1 2 3\r\n\n4 5.5 -6e0"));
  EXPECT_EQ(array.type(), ElementType::float32);
  EXPECT_EQ(array.values<float>(), (std::vector<float>{1, 2, 3, 4, 5.5, -6}));
}

TEST(Ply, ReadsBothEndians) {
  const std::string header = "element vertex 2\nproperty double x\nproperty uchar red\nproperty double y\n";
  const std::string little = raw(1.5) + "\x07" + raw(-2.0) + raw(3.0) + "\x08" + raw(4.0);
  const std::string large = big(1.5) + "\x07" + big(-2.0) + big(3.0) + "\x08" + big(4.0);
  const std::vector<double> want = {1.5, -2, 3, 4};
  EXPECT_EQ(parse_text(ply("binary_little_endian", header, little)).values<double>(), want);
  EXPECT_EQ(parse_text(ply("binary_big_endian", header, large)).values<double>(), want);
}

TEST(Ply, StepsOverListsAndOtherElements) {
  const std::string header =
      "element material 1\nproperty list uchar int parts\nproperty short shade\n"
      "element vertex 2\nproperty list ushort float weights\n" +
      kXyz + "element face 1\nproperty list uchar int vertex_indices\n";
  const std::vector<float> want = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(parse_text(ply("ascii", header, "2 10 11 -5\n0 1 2 3\n2 0.5 0.5 4 5 6\n3 0 1 2\n")).values<float>(), want);
  const std::string binary = "\x02" + big(std::int32_t{10}) + big(std::int32_t{11}) + big(std::int16_t{-5}) +
                             big(std::uint16_t{0}) + big(1.0F) + big(2.0F) + big(3.0F) + big(std::uint16_t{2}) +
                             big(0.5F) + big(0.5F) + big(4.0F) + big(5.0F) + big(6.0F) + "\x01" + big(std::int32_t{0});
  EXPECT_EQ(parse_text(ply("binary_big_endian", header, binary)).values<float>(), want);
  EXPECT_EQ(fail_ply(ply("binary_big_endian", header, binary + "x")),
            bad_data("test: byte 323: 1 byte after the last element"));
  EXPECT_EQ(fail_ply(ply("binary_big_endian", header, binary.substr(0, binary.size() - 1))),
            bad_data("test: byte 322: truncated inside the value at byte 319"));
}

TEST(Ply, SelectsProperties) {
  const std::string text = ply("ascii",
                               "element vertex 1\nproperty float x\nproperty uchar red\nproperty ushort wide\n"
                               "property int n\nproperty uint big\nproperty list uchar int extra\n",
                               "0.5 200 60000 -7 4000000000 0\n");
  EXPECT_EQ(parse_text(text).cols(), 1);
  EXPECT_EQ(parse_text(text, {"red"}).type(), ElementType::uint8);
  EXPECT_EQ(parse_text(text, {"wide"}).type(), ElementType::int32);
  EXPECT_EQ(parse_text(text, {"red", "x", "wide"}).type(), ElementType::float32);
  EXPECT_EQ(parse_text(text, {"red", "x", "wide"}).values<float>(), (std::vector<float>{200, 0.5, 60000}));
  EXPECT_EQ(parse_text(text, {"n", "x"}).type(), ElementType::float64);
  EXPECT_EQ(parse_text(text, {"big"}).values<std::int64_t>(), (std::vector<std::int64_t>{4000000000}));
  EXPECT_EQ(fail_ply(text, {"extra"}), invalid_argument("test: element 'vertex' has no scalar property 'extra'"));
  EXPECT_EQ(describe_ply(source_of(text), {}).columns, (std::vector<std::string>{"x", "red", "wide", "n", "big"}));
}

TEST(Ply, NamesWhatIsWrongInTheHeader) {
  EXPECT_EQ(fail_ply("plz\n"), bad_data("test: byte 0: not a PLY file: its first line is not 'ply'"));
  EXPECT_EQ(fail_ply("ply\nformat ascii 1.0\n"), bad_data("test: byte 21: truncated: no 'end_header' line"));
  EXPECT_EQ(fail_ply("ply\nend_header\n"), bad_data("test: line 2: the header has no 'format' line"));
  EXPECT_EQ(fail_ply("ply\nformat ascii 2.0\n"),
            bad_data("test: line 2: expected 'format' with an encoding and version 1.0"));
  EXPECT_EQ(fail_ply("ply\nformat text 1.0\n"), bad_data("test: line 2: unknown encoding 'text'"));
  EXPECT_EQ(fail_ply(ply("ascii", "format ascii 1.0\n", "")), bad_data("test: line 3: a second 'format' line"));
  EXPECT_EQ(fail_ply(ply("ascii", "vertex 3\n", "")), bad_data("test: line 3: unknown header keyword 'vertex'"));
  EXPECT_EQ(fail_ply(ply("ascii", "element vertex\n", "")),
            bad_data("test: line 3: expected 'element' with a name and a count"));
  for (const char* count : {"-1", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(fail_ply(ply("ascii", "element vertex " + std::string(count) + "\n", "")),
              bad_data("test: line 3: '" + std::string(count) + "' is not a count"));
  }
  EXPECT_EQ(fail_ply(ply("ascii", "property float x\n", "")),
            bad_data("test: line 3: a property before the first element"));
  EXPECT_EQ(fail_ply("ply\nelement vertex 1\nproperty float x\n"),
            bad_data("test: line 3: a property before the 'format' line"));
  EXPECT_EQ(fail_ply(ply("ascii", "element vertex 1\nproperty float\n", "")),
            bad_data("test: line 4: expected 'property' with a type and a name"));
  EXPECT_EQ(fail_ply(ply("ascii", "element vertex 1\nproperty half x\n", "")),
            bad_data("test: line 4: unknown type 'half'"));
  EXPECT_EQ(fail_ply(ply("ascii", "element vertex 1\nproperty list float int x\n", "")),
            bad_data("test: line 4: a list's length cannot be 'float'"));
  EXPECT_EQ(fail_ply(ply("ascii", "element vertex 1\nproperty float x\nproperty int x\n", "")),
            bad_data("test: line 5: a second property 'x' of element 'vertex'"));
  EXPECT_EQ(fail_ply(ply("ascii", "element vertex 1\n", "")),
            bad_data("test: line 3: element 'vertex' has no properties"));
  EXPECT_EQ(fail_ply(ply("ascii", "element face 0\nproperty int x\n", "")),
            bad_data("test: line 5: the header has no element 'vertex'"));
  EXPECT_EQ(fail_ply(ply("ascii", "element vertex 0\n" + kXyz + "element vertex 0\n" + kXyz, "")),
            bad_data("test: line 7: a second element 'vertex'"));
  EXPECT_EQ(fail_ply(ply("ascii", "element vertex 0\nproperty float u\n", "")),
            bad_data("test: line 3: element 'vertex' has none of the properties x, y, z"));
}

TEST(Ply, NamesWhatIsWrongInAsciiData) {
  const auto fail = [](const std::string& data) { return fail_ply(ply("ascii", "element vertex 2\n" + kXyz, data)); };
  EXPECT_EQ(fail("1 2 3\n4 5\n"),
            bad_data("test: byte 110: truncated: 2 of element 'vertex' do not fit the 10 bytes from byte 100"));
  EXPECT_EQ(fail("1.0 2 3\n4.0 5\n"), bad_data("test: line 9: 2 values where element 'vertex' has 3"));
  EXPECT_EQ(fail("1 2 3 4 5 6\n"), bad_data("test: line 8: 6 values where element 'vertex' has 3"));
  EXPECT_EQ(fail("1.000 2.000 3.000\n"), bad_data("test: line 8: truncated: the file ends inside element 'vertex'"));
  EXPECT_EQ(fail("1 2 3\n4 5 x\n"), bad_data("test: line 9: 'x' is not a number"));
  EXPECT_EQ(fail("1 2 3\n4 5 1e39\n"), bad_data("test: line 9: '1e39' is not a value of property 'z'"));
  EXPECT_EQ(fail("1 2 3\n4 5 6\n7\n"), bad_data("test: line 10: text after the last element"));
  EXPECT_TRUE(std::isinf(parse_text(ply("ascii", "element vertex 1\n" + kXyz, "1 2 inf\n")).at<float>(0, 2)));
  const auto fail_type = [](const std::string& type, const std::string& value) {
    return fail_ply(ply("ascii", "element vertex 1\nproperty " + type + " x\n", value + "\n"));
  };
  for (const auto& [type, value] : std::vector<std::pair<std::string, std::string>>{{"uchar", "256"},
                                                                                    {"uchar", "-1"},
                                                                                    {"char", "128"},
                                                                                    {"int", "2147483648"},
                                                                                    {"int", "1.5"},
                                                                                    {"uint", "nan"}}) {
    EXPECT_EQ(fail_type(type, value), bad_data("test: line 6: '" + value + "' is not a value of property 'x'"));
  }
}

TEST(Ply, RefusesCountsTheFileCannotHold) {
  const std::string header = "element vertex 4611686018427387904\n" + kXyz;
  EXPECT_EQ(fail_ply(ply("binary_little_endian", header, "12345678")),
            bad_data("test: byte 141: truncated: 4611686018427387904 of element 'vertex' do not fit the 8 bytes from "
                     "byte 133"));
  EXPECT_EQ(fail_ply(ply("binary_little_endian", "element vertex 1\nproperty list int float x\nproperty float y\n",
                         raw(std::int32_t{-1}) + raw(1.0F))),
            bad_data("test: byte 107: a list of -1 items"));
  EXPECT_EQ(fail_ply(ply("ascii", "element vertex 1\nproperty list int float w\nproperty float y\n", "-1 1\n")),
            bad_data("test: line 7: a list of '-1' items"));
}

TEST(Ply, WritesNormalsBesidePoints) {
  const Folder folder;
  const Array points = Array::from(std::vector<float>{1, 2, 3, 0, 0, 1, 4, 5, 6, 0, 1, 0}, 2, 6);
  save(folder.file("a.ply"), points);
  LoadOptions options;
  options.columns = {"x", "y", "z", "nx", "ny", "nz"};
  EXPECT_TRUE(same_array(load(folder.file("a.ply"), options), points));
  EXPECT_EQ(load(folder.file("a.ply")).cols(), 3);
}

TEST(Ply, WritesAsciiAndBinary) {
  const Folder folder;
  const Array points = Array::from(std::vector<float>{1, 2.5, -3, 4, 5, 6}, 2, 3);
  SaveOptions options;
  options.text = true;
  save(folder.file("a.ply"), points, options);
  EXPECT_EQ(bytes_of(folder.file("a.ply")), ply("ascii", "element vertex 2\n" + kXyz, "1 2.5 -3\n4 5 6\n"));
  save(folder.file("b.ply"), points);
  EXPECT_EQ(bytes_of(folder.file("b.ply")).substr(0, 36), "ply\nformat binary_little_endian 1.0\n");
  EXPECT_TRUE(same_array(load(folder.file("b.ply")), points));
  EXPECT_EQ(failure_of([&] { save(folder.file("c.ply"), Array::from(std::vector<float>(4), 1, 4)); }),
            invalid_argument("ply holds points of 1 to 3 columns, or 3 with normals of 3, not 4"));
  EXPECT_EQ(failure_of([&] { save(folder.file("c.ply"), Array::from(std::vector<std::int64_t>(3), 1, 3)); }),
            invalid_argument("ply has no type for int64; convert to int32 or float64"));
  EXPECT_EQ(failure_of([&] { save(folder.file("c.ply"), points.converted(ElementType::float16)); }),
            invalid_argument("ply has no type for float16; convert to float32, which holds its values"));
  EXPECT_EQ(failure_of([&] { save(folder.file("c.ply"), points.converted(ElementType::bfloat16)); }),
            invalid_argument("ply has no type for bfloat16; convert to float32, which holds its values"));
}

}  // namespace
}  // namespace kith::io
