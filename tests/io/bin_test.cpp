#include "io/bin.hpp"

#include <gtest/gtest.h>

#include "files.hpp"

namespace kith::io {
namespace {

std::string header(std::uint32_t rows, std::uint32_t cols) {
  return raw(rows) + raw(cols);
}

Failure fail_fbin(const std::string& text) {
  return failure_of([&] { parse_bin(source_of(text), ElementType::float32); });
}

TEST(Bin, IsAView) {
  const std::string text = header(2, 1) + raw(1.5F) + raw(-1.0F);
  const Array array = parse_bin(source_of(text), ElementType::float32);
  EXPECT_EQ(array.data(), text.data() + 8);
  EXPECT_EQ(array.values<float>(), (std::vector<float>{1.5, -1}));
}

TEST(Bin, HoldsFloatsOf16Bits) {
  const Folder folder;
  const Array values = Array::from(std::vector<float>{1, -2, 0.5, 0x1p-24F}, 2, 2);
  save(folder.file("a.f16bin"), values);
  EXPECT_EQ(bytes_of(folder.file("a.f16bin")), header(2, 2) + raw(std::uint16_t{0x3c00}) + raw(std::uint16_t{0xc000}) +
                                                   raw(std::uint16_t{0x3800}) + raw(std::uint16_t{0x0001}));
  EXPECT_EQ(load(folder.file("a.f16bin")).type(), ElementType::float16);
  EXPECT_EQ(load(folder.file("a.f16bin")).values<float>(), values.values<float>());
  save(folder.file("a.bf16bin"), values);
  EXPECT_EQ(bytes_of(folder.file("a.bf16bin")), header(2, 2) + raw(std::uint16_t{0x3f80}) + raw(std::uint16_t{0xc000}) +
                                                    raw(std::uint16_t{0x3f00}) + raw(std::uint16_t{0x3380}));
  EXPECT_EQ(load(folder.file("a.bf16bin")).type(), ElementType::bfloat16);
  EXPECT_EQ(load(folder.file("a.bf16bin")).values<float>(), values.values<float>());
  EXPECT_EQ(failure_of([&] { save(folder.file("b.f16bin"), Array::from(std::vector<float>{7e4F}, 1, 1)); }),
            bad_data("row 0, column 0: 70000 is not a value of float16"));
}

TEST(Bin, SizeMustMatchExactly) {
  EXPECT_EQ(fail_fbin("1234567"), bad_data("test: byte 7: truncated: the header has 8 bytes (rows, columns)"));
  EXPECT_EQ(fail_fbin(header(2, 2) + std::string(15, 'x')),
            bad_data("test: byte 23: 2 rows of 2 columns need 16 bytes after the header but there are 15"));
  EXPECT_EQ(fail_fbin(header(2, 2) + std::string(17, 'x')),
            bad_data("test: byte 24: 2 rows of 2 columns need 16 bytes after the header but there are 17"));
  EXPECT_EQ(fail_fbin(header(1, 0)), bad_data("test: byte 4: the rows have 0 columns"));
}

TEST(Bin, SizesAreComputedIn64Bits) {
  // 2^16 · 2^16 · 4 is 0 in 32 bits.
  EXPECT_EQ(
      fail_fbin(header(65536, 65536)),
      bad_data("test: byte 8: 65536 rows of 65536 columns need 17179869184 bytes after the header but there are 0"));
  EXPECT_EQ(fail_fbin(header(0xffffffff, 0xffffffff)),
            bad_data("test: byte 8: 4294967295 rows of 4294967295 columns need more than 2^63 bytes after the header "
                     "but there are 0"));
}

TEST(Bin, HoldsNoRows) {
  const std::string text = header(0, 5);
  const Array array = parse_bin(source_of(text), ElementType::int8);
  EXPECT_EQ(array.rows(), 0);
  EXPECT_EQ(array.cols(), 5);
}

TEST(Groundtruth, HoldsIdsThenDistances) {
  const Folder folder;
  const std::string bytes = header(1, 2) + raw(std::int32_t{7}) + raw(std::int32_t{9}) + raw(0.5F) + raw(1.5F);
  LoadOptions options;
  options.format = Format::groundtruth;
  const NamedArrays arrays = load_all(folder.put("truth", bytes), options);
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays[0].first, "ids");
  EXPECT_EQ(arrays[0].second.values<std::int64_t>(), (std::vector<std::int64_t>{7, 9}));
  EXPECT_EQ(arrays[1].second.values<float>(), (std::vector<float>{0.5, 1.5}));
  SaveOptions save_options;
  save_options.format = Format::groundtruth;
  save(folder.file("again"), {{"distances", arrays[1].second}, {"ids", arrays[0].second}}, save_options);
  EXPECT_EQ(bytes_of(folder.file("again")), bytes);
  options.array = "distances";
  EXPECT_EQ(load(folder.file("again"), options).at<float>(0, 1), 1.5F);
}

TEST(Groundtruth, RefusesOtherArrays) {
  const Folder folder;
  SaveOptions options;
  options.format = Format::groundtruth;
  const Array one = Array::from(std::vector<float>{1}, 1, 1);
  EXPECT_EQ(failure_of([&] {
              save(folder.file("a"), {{"ids", one}, {"other", one}}, options);
            }),
            invalid_argument(folder.file("a") + ": a groundtruth file holds the arrays 'ids' and 'distances'"));
  const Array two = Array::from(std::vector<float>{1, 2}, 1, 2);
  EXPECT_EQ(failure_of([&] {
              save(folder.file("a"), {{"ids", one}, {"distances", two}}, options);
            }),
            invalid_argument("ids have 1 x 1 values but distances have 1 x 2"));
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace kith::io
