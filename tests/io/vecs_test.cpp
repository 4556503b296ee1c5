#include "io/vecs.hpp"

#include <gtest/gtest.h>

#include "files.hpp"

namespace kith::io {
namespace {

std::string row(std::int32_t dimension, const std::vector<float>& values) {
  std::string bytes = raw(dimension);
  for (const float value : values) bytes += raw(value);
  return bytes;
}

Failure fail_fvecs(const std::string& text) {
  return failure_of([&] { parse_vecs(source_of(text), ElementType::float32); });
}

TEST(Vecs, AreStridedViews) {
  const std::string text = row(2, {1, 2}) + row(2, {3, 4}) + row(2, {5, 6});
  const Array array = parse_vecs(source_of(text), ElementType::float32);
  EXPECT_EQ(array.data(), text.data() + 4);
  EXPECT_EQ(array.row_stride(), 3);
  EXPECT_EQ(array.values<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Vecs, BytesLieWithoutPadding) {
  const std::string text = raw(std::int32_t{3}) + "abc" + raw(std::int32_t{3}) + "xyz";
  const Array array = parse_vecs(source_of(text), ElementType::uint8);
  EXPECT_EQ(array.row_stride(), 7);
  EXPECT_EQ(array.at<std::uint8_t>(1, 2), 'z');
}

TEST(Vecs, NameTheByteThatIsWrong) {
  EXPECT_EQ(fail_fvecs(""), bad_data("test: byte 0: the file is empty"));
  EXPECT_EQ(fail_fvecs("abc"), bad_data("test: byte 0: truncated: no room for a dimension"));
  EXPECT_EQ(fail_fvecs(row(0, {})), bad_data("test: byte 0: row 0 has dimension 0"));
  EXPECT_EQ(fail_fvecs(row(-2, {1, 2})), bad_data("test: byte 0: row 0 has dimension -2"));
  EXPECT_EQ(fail_fvecs(row(2, {1, 2}) + row(3, {1, 2})),
            bad_data("test: byte 12: row 1 has dimension 3 but row 0 has 2"));
  EXPECT_EQ(fail_fvecs(row(2, {1, 2}) + row(2, {1})),
            bad_data("test: byte 12: truncated: dimension 2 makes rows of 12 bytes, and 8 bytes are left at the end"));
  EXPECT_EQ(fail_fvecs(row(2147483647, {1, 2})),
            bad_data("test: byte 0: truncated: dimension 2147483647 makes rows of 8589934592 bytes, and 12 bytes are "
                     "left at the end"));
}

TEST(Vecs, DescribeLooksAtTheFirstRowOnly) {
  const Folder folder;
  const FileInfo info = describe(folder.put("a.fvecs", row(2, {1, 2}) + row(9, {1, 2})));
  ASSERT_EQ(info.arrays.size(), 1U);
  EXPECT_EQ(info.arrays[0].rows, 2);
  EXPECT_EQ(info.arrays[0].cols, 2);
}

TEST(Vecs, CannotHoldNoRows) {
  const Folder folder;
  EXPECT_EQ(failure_of([&] { save(folder.file("a.fvecs"), Array::from(std::vector<float>{}, 0, 3)); }),
            invalid_argument("fvecs, bvecs and ivecs cannot hold 0 rows of 3 columns"));
  EXPECT_TRUE(folder.names().empty());
}

TEST(Vecs, WriteTheDimensionBeforeEveryRow) {
  const Folder folder;
  save(folder.file("a.fvecs"), Array::from(std::vector<double>{1, 2, 3, 4}, 2, 2));
  EXPECT_EQ(bytes_of(folder.file("a.fvecs")), row(2, {1, 2}) + row(2, {3, 4}));
}

TEST(Vecs, RefuseValuesThatDoNotFit) {
  const Folder folder;
  EXPECT_EQ(failure_of([&] {
              save(folder.file("a.bvecs"), Array::from(std::vector<float>{1, 256}, 1, 2));
            }),
            bad_data("row 0, column 1: 256 is not a value of uint8"));
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace kith::io
