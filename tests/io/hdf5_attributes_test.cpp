#include "io/hdf5_attributes.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>

#include "files.hpp"
#include "hdf5_author.hpp"

namespace kith::io {
namespace {

Attributes attributes_in(const std::string& bytes) {
  return read_hdf5_attributes(source_of(bytes));
}

Hdf5Handle text_type(std::size_t size) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), size);
  return type;
}

// In the oldest and the newest form of the file, and behind bytes that are not libhdf5's.
class EveryForm : public testing::TestWithParam<std::pair<H5F_libver_t, hsize_t>> {
 protected:
  Author author() const {
    const auto& [version, user_bytes] = GetParam();
    const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_userblock(creation.get(), user_bytes);
    H5Pset_libver_bounds(access.get(), version, H5F_LIBVER_LATEST);
    return Author(path, creation.get(), access.get());
  }

  const Folder folder;
  const std::string path = folder.file("a.h5");
};

INSTANTIATE_TEST_SUITE_P(Hdf5Attributes, EveryForm,
                         testing::Values(std::pair(H5F_LIBVER_EARLIEST, hsize_t{0}),
                                         std::pair(H5F_LIBVER_EARLIEST, hsize_t{1024}),
                                         std::pair(H5F_LIBVER_LATEST, hsize_t{0}),
                                         std::pair(H5F_LIBVER_LATEST, hsize_t{512})));

TEST_P(EveryForm, ReadsStringsAndIntegers) {
  {
    const Author file = author();
    const char* text = "ünïcode";
    file.attribute("fixed", text_type(9).get(), "angular\0\0");
    file.attribute("variable", text_type(H5T_VARIABLE).get(), &text);
    file.attribute("i4", H5T_NATIVE_INT, std::array{-96}.data());
    file.attribute("i2be", H5T_STD_I16BE, std::array<unsigned char, 2>{0xff, 0xfe}.data());
    file.attribute("u8", H5T_NATIVE_UINT64, std::array{~std::uint64_t{0}}.data());
    file.attribute("ratio", H5T_NATIVE_DOUBLE, std::array{0.5}.data());
  }
  EXPECT_EQ(describe(path).attributes, (Attributes{{"fixed", "angular"},
                                                   {"i2be", "-2"},
                                                   {"i4", "-96"},
                                                   {"u8", "18446744073709551615"},
                                                   {"variable", "ünïcode"}}));
}

TEST_P(EveryForm, FollowsAHeaderThatContinuesElsewhere) {
  Attributes written;
  {
    const Author file = author();
    for (int i = 0; i < 8; ++i) {
      const std::string name = "a" + std::to_string(i);
      written[name] = std::string(100, static_cast<char>('a' + i));
      file.attribute(name.c_str(), text_type(100).get(), written[name].data());
      file.dataset(("d" + name).c_str(), H5T_STD_I8LE, {1}, H5T_NATIVE_INT8, "x");
    }
  }
  EXPECT_EQ(describe(path).attributes, written);
}

// What libhdf5 would follow out of its memory: an object of the heap that is said to be longer than the heap.
TEST(Hdf5Attributes, LeavesOutWhatLeadsOut) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  SaveOptions options;
  options.attributes = {{"distance", "euclidean"}};
  save(path, {{"train", Array::from(std::vector<float>{1})}}, options);
  std::string bytes = bytes_of(path);
  const std::size_t heap = bytes.find("GCOL");
  ASSERT_NE(heap, std::string::npos);
  const std::size_t length_at = heap + 16 + 8;
  bytes.replace(length_at, 8, raw(std::uint64_t{0x6a00ea60}));
  const std::string damaged = folder.put("b.h5", bytes);
  EXPECT_EQ(describe(path).attributes, options.attributes);
  EXPECT_EQ(describe(damaged).attributes, Attributes{});
  EXPECT_EQ(load(damaged).rows(), 1);
}

// Every byte of a file in turn, and every place where it may end.
TEST(Hdf5Attributes, WithstandDamage) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  SaveOptions options;
  options.attributes = {{"distance", "euclidean"}, {"type", "dense"}};
  save(path, {{"train", Array::from(std::vector<float>{1})}}, options);
  const std::string bytes = bytes_of(path);
  ASSERT_EQ(attributes_in(bytes), options.attributes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_LE(attributes_in(bytes.substr(0, i)).size(), 2U);
    for (const char value : {'\x00', '\x01', '\x10', '\x7f', '\xff'}) {
      std::string changed = bytes;
      changed[i] = value;
      EXPECT_LE(attributes_in(changed).size(), 2U);
    }
  }
}

}  // namespace
}  // namespace kith::io
