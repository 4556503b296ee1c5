// Chunked HDF5 datasets: every filter that is undone, and chunks that are not what they say.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <zlib.h>

#include <functional>

#include "files.hpp"
#include "hdf5_author.hpp"
#include "io/hdf5.hpp"

namespace kith::io {
namespace {

using AddFilters = std::function<void(hid_t)>;

void deflate(hid_t creation) {
  H5Pset_deflate(creation, 6);
}
void shuffle(hid_t creation) {
  H5Pset_shuffle(creation);
}
void fletcher32(hid_t creation) {
  H5Pset_fletcher32(creation);
}

AddFilters in_order(const std::vector<void (*)(hid_t)>& filters) {
  return [filters](hid_t creation) {
    for (const auto add : filters) add(creation);
  };
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  packed.resize(size);
  return packed;
}

class Hdf5Chunks : public testing::Test {
 protected:
  // A dataset "x" of 10 × 7 int16 in chunks of 4 × 3 with nothing in it but this chunk.
  void put_chunk(const AddFilters& add, const std::string& bytes, std::uint32_t skipped = 0) const {
    const Author author(path);
    const Hdf5Handle creation = chunks({4, 3});
    add(creation.get());
    author.dataset("x", H5T_STD_I16LE, {10, 7}, H5T_NATIVE_INT, nullptr, creation.get());
    author.raw_chunk("x", bytes, skipped);
  }

  std::string refusal() const {
    const Failure failure = failure_of([&] { load(path); });
    EXPECT_EQ(failure.code, ErrorCode::bad_data);
    const std::string begin = path + ": dataset 'x': ";
    EXPECT_EQ(failure.message.rfind(begin, 0), 0U) << failure.message;
    return failure.message.substr(std::min(begin.size(), failure.message.size()));
  }

  const Folder folder;
  const std::string path = folder.file("a.h5");
};

TEST_F(Hdf5Chunks, AreReadThroughEveryOrderOfFilters) {
  std::vector<std::int32_t> values(1001 * 13);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i * i % 30011) - 15000;
  const std::vector<std::vector<void (*)(hid_t)>> orders = {{},
                                                            {deflate},
                                                            {shuffle, deflate},
                                                            {deflate, shuffle},
                                                            {fletcher32},
                                                            {fletcher32, shuffle, deflate},
                                                            {shuffle, deflate, fletcher32},
                                                            {deflate, fletcher32, shuffle}};
  for (const auto& order : orders) {
    for (const hid_t type : {H5T_STD_I16LE, H5T_STD_I32BE, H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_STD_I64LE}) {
      const Hdf5Handle creation = chunks({97, 5});
      in_order(order)(creation.get());
      { Author(path).dataset("x", type, {1001, 13}, H5T_NATIVE_INT, values.data(), creation.get()); }
      EXPECT_EQ(load(path).values<std::int64_t>(), std::vector<std::int64_t>(values.begin(), values.end()));
    }
  }
}

TEST_F(Hdf5Chunks, MayBeLargerThanADatasetOfOneDimension) {
  const Hdf5Handle creation = chunks({1000});
  deflate(creation.get());
  const std::vector<std::int32_t> values = {3, 1, 2};
  { Author(path).dataset("x", H5T_STD_I32LE, {3}, H5T_NATIVE_INT, values.data(), creation.get()); }
  const Array array = load(path);
  EXPECT_EQ(array.rank(), 1);
  EXPECT_EQ(array.values<std::int32_t>(), values);
}

TEST_F(Hdf5Chunks, ThatWereNotWrittenHaveTheFillValue) {
  put_chunk(
      [](hid_t creation) {
        const std::int32_t fill = -7;
        H5Pset_fill_value(creation, H5T_NATIVE_INT32, &fill);
        deflate(creation);
      },
      std::string(24, '\x01'), 1);  // not deflated
  const Array array = load(path);
  EXPECT_EQ(array.at<std::int32_t>(3, 2), 0x0101);
  EXPECT_EQ(array.at<std::int32_t>(3, 3), -7);
  EXPECT_EQ(array.at<std::int32_t>(9, 6), -7);
}

TEST_F(Hdf5Chunks, UnpackToTheirSizeAndNoFurther) {
  const std::string chunk(24, '\x01');
  put_chunk(deflate, deflated(std::string(1 << 20, '\0')).substr(0, 100));
  EXPECT_EQ(refusal(), "the chunk at row 0, column 0: it unpacks to more than 24 bytes");
  put_chunk(in_order({fletcher32, deflate}), deflated(std::string(29, '\0')));
  EXPECT_EQ(refusal(), "the chunk at row 0, column 0: it unpacks to more than 28 bytes");
  put_chunk(deflate, deflated(chunk.substr(1)));
  EXPECT_EQ(refusal(), "the chunk at row 0, column 0: it unpacks to less than 24 bytes");
  put_chunk(deflate, deflated(chunk).substr(0, 9));
  EXPECT_EQ(refusal(), "the chunk at row 0, column 0: its deflated data is damaged");
  put_chunk(deflate, "this is not zlib");
  EXPECT_EQ(refusal(), "the chunk at row 0, column 0: its deflated data is damaged");
  put_chunk(shuffle, chunk + chunk);
  EXPECT_EQ(refusal(), "the chunk at row 0, column 0: it has 48 bytes instead of 24");
  put_chunk(deflate, std::string(10000, 'x'));
  EXPECT_EQ(refusal(), "the chunk at row 0, column 0: it is said to store 10000 bytes; at most 112 are believed");
  put_chunk(fletcher32, chunk + "wxyz");
  EXPECT_EQ(refusal(), "the chunk at row 0, column 0: its checksum is wrong");
}

TEST_F(Hdf5Chunks, AreRefusedBeforeMemoryIsTaken) {
  put_chunk(in_order({deflate, deflate}), deflated(deflated(std::string(24, '\0'))));
  EXPECT_EQ(refusal(), "filter 1 (deflate) is applied more than once; once is read");
  put_chunk([](hid_t creation) { H5Pset_nbit(creation); }, std::string(24, '\0'));
  EXPECT_EQ(refusal(), "filter 5 (nbit) is not read; deflate, shuffle and fletcher32 are");
  const Hdf5Handle creation = chunks({1 << 20, 1000});
  deflate(creation.get());
  {
    const Author author(path);
    author.dataset("x", H5T_IEEE_F32LE, {10, 4}, H5T_NATIVE_INT, nullptr, creation.get());
    author.raw_chunk("x", std::string(1000, 'x'));
  }
  EXPECT_EQ(refusal(),
            "chunks of 1048576 rows of 1000 columns exceed 67108864 bytes, the most that is read for a dataset of 160");
}

}  // namespace
}  // namespace kith::io
