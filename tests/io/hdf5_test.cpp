#include "io/hdf5.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <csignal>

#include <sys/resource.h>

#include "files.hpp"
#include "hdf5_author.hpp"

namespace kith::io {
namespace {

const std::vector<std::int32_t> kSix = {1, -2, 3, -4, 5, -6};

TEST(Hdf5, RoundTripsAnAnnBenchmarksFile) {
  const Folder folder;
  const std::string path = folder.file("set.hdf5");
  const Array train = Array::from(std::vector<float>{1, 2, 3, 4, 5, 6}, 3, 2);
  const Array neighbors = Array::from(std::vector<std::int32_t>{2, 0}, 1, 2);
  SaveOptions options;
  options.attributes = {{"distance", "euclidean"}, {"type", "dense"}};
  save(path, {{"train", train}, {"test", train}, {"neighbors", neighbors}}, options);
  const FileInfo info = describe(path);
  EXPECT_EQ(info.format, Format::hdf5);
  EXPECT_EQ(info.attributes, options.attributes);
  ASSERT_EQ(info.arrays.size(), 3U);
  EXPECT_EQ(info.arrays[0].name, "neighbors");
  EXPECT_EQ(info.arrays[0].type, ElementType::int32);
  EXPECT_TRUE(same_array(load(path, array_named("train")), train));
  EXPECT_TRUE(same_array(load(path, array_named("neighbors")), neighbors));
  LoadOptions defaults;
  defaults.default_arrays = {"base", "train"};
  EXPECT_TRUE(same_array(load(path, defaults), train));
}

TEST(Hdf5, ReadsFromMemoryToo) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  const Array values = Array::from(std::vector<double>{1, 2, 3}, 3, 1);
  save(path, {{"values", values}});
  const std::string bytes = bytes_of(path);
  EXPECT_TRUE(same_array(parse_hdf5(source_of(bytes), "values"), values));
}

TEST(Hdf5, ContiguousDataIsAView) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  save(path, {{"values", Array::from(std::vector<double>{1, 2, 3})}});
  const Source source = open_source(path);
  const auto* data = static_cast<const std::byte*>(parse_hdf5(source, "values").data());
  EXPECT_GE(data, source.bytes.data());
  EXPECT_LE(data + 24, source.bytes.data() + source.size());
}

TEST(Hdf5, CompressesWhenAsked) {
  const Folder folder;
  const Array zeros = Array::from(std::vector<double>(300000), 3000, 100);
  SaveOptions options;
  options.compress = true;
  save(folder.file("small.h5"), {{"zeros", zeros}, {"empty", Array::from(std::vector<float>{}, 0, 4)}}, options);
  EXPECT_LT(std::filesystem::file_size(folder.file("small.h5")), 50000U);
  EXPECT_TRUE(same_array(load(folder.file("small.h5"), array_named("zeros")), zeros));
  EXPECT_EQ(load(folder.file("small.h5"), array_named("empty")).cols(), 4);
}

TEST(Hdf5, ConvertsOtherNumbers) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  {
    const Author author(path);
    author.dataset("be_f4", H5T_IEEE_F32BE, {3, 2}, H5T_NATIVE_INT, kSix.data());
    author.dataset("be_f8", H5T_IEEE_F64BE, {3, 2}, H5T_NATIVE_INT, kSix.data());
    author.dataset("f2", half_type(15).get(), {3, 2}, H5T_NATIVE_INT, kSix.data());
    author.dataset("be_f2", half_type(15, H5T_IEEE_F32BE).get(), {3, 2}, H5T_NATIVE_INT, kSix.data());
    author.dataset("bf2", bfloat16_type().get(), {3, 2}, H5T_NATIVE_INT, kSix.data());
    author.dataset("be_bf2", bfloat16_type(H5T_IEEE_F32BE).get(), {3, 2}, H5T_NATIVE_INT, kSix.data());
    author.dataset("i2", H5T_STD_I16BE, {3, 2}, H5T_NATIVE_INT, kSix.data());
    author.dataset("i8", H5T_STD_I64BE, {3, 2}, H5T_NATIVE_INT, kSix.data());
    author.dataset("u4", H5T_STD_U32LE, {1, 2}, H5T_NATIVE_INT, std::array{7, 2147483647}.data());
  }
  const std::vector<std::int64_t> want(kSix.begin(), kSix.end());
  const auto check = [&](const char* name, ElementType type) {
    const Array array = load(path, array_named(name));
    EXPECT_EQ(array.type(), type) << name;
    EXPECT_EQ(array.values<std::int64_t>(), want) << name;
  };
  check("be_f4", ElementType::float32);
  check("be_f8", ElementType::float64);
  check("f2", ElementType::float16);
  check("be_f2", ElementType::float16);
  check("bf2", ElementType::bfloat16);
  check("be_bf2", ElementType::bfloat16);
  check("i2", ElementType::int32);
  check("i8", ElementType::int64);
  EXPECT_EQ(load(path, array_named("u4")).values<std::int64_t>(), (std::vector<std::int64_t>{7, 2147483647}));
}

// The types of the file, and libhdf5's conversion of its values, are those of other programs.
TEST(Hdf5, WritesFloatsOf16Bits) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  const std::vector<float> values = {1, -2, 0.5, 0x1p-24F, 0, 65504};
  const Array halves = Array::from(values).converted(ElementType::float16);
  const Array brains = Array::from(std::vector<BFloat16>{BFloat16(1e38), BFloat16(-3), BFloat16(0x1p-130)});
  save(path, {{"half", halves}, {"brain", brains}}, {});
  EXPECT_TRUE(same_array(load(path, array_named("half")), halves));
  EXPECT_TRUE(same_array(load(path, array_named("brain")), brains));
  const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const auto check = [&](const char* name, const Hdf5Handle& type, const std::vector<float>& want) {
    const Hdf5Handle set(H5Dopen2(file.get(), name, H5P_DEFAULT), H5Dclose);
    const Hdf5Handle stored(H5Dget_type(set.get()), H5Tclose);
    EXPECT_GT(H5Tequal(stored.get(), type.get()), 0) << name;
    std::vector<float> read(want.size());
    ASSERT_GE(H5Dread(set.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
    EXPECT_EQ(read, want) << name;
  };
  check("half", half_type(15), values);
  check("brain", bfloat16_type(), brains.values<float>());
}

TEST(Hdf5, RefusesLargeUnsignedValues) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  const std::array<std::uint64_t, 2> values = {1, std::uint64_t{1} << 63};
  { Author(path).dataset("u8", H5T_STD_U64LE, {2}, H5T_NATIVE_UINT64, values.data()); }
  EXPECT_EQ(failure_of([&] { load(path); }),
            bad_data(path + ": dataset 'u8': row 1, column 0: 9223372036854775808 exceeds the largest int64, "
                            "9223372036854775807"));
}

// Room on the disk is reserved before a file is written: in proportion to what it will have.
TEST(Hdf5, ManySmallArraysTakeLittleRoom) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  NamedArrays arrays;
  for (int i = 0; i < 1000; ++i) {
    std::string name;
    for (int level = 0; level < i % 30; ++level) name += "g" + std::to_string(i) + "/";
    arrays.emplace_back(name + "values" + std::to_string(i), Array::from(std::vector<float>{1, static_cast<float>(i)}));
  }
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{std::min<rlim_t>(64 << 20, before.rlim_max), before.rlim_max};
  const auto signals = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (const bool compress : {false, true}) {
    SaveOptions options;
    options.compress = compress;
    EXPECT_NO_THROW(save(path, arrays, options)) << compress;
    EXPECT_TRUE(same_array(load(path, array_named(arrays[999].first)), arrays[999].second)) << compress;
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, signals);
}

TEST(Hdf5, FollowsGroups) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  const Array values = Array::from(std::vector<float>{1, 2});
  save(path, {{"inner/deep/values", values}});
  EXPECT_TRUE(same_array(load(path, array_named("inner/deep/values")), values));
  EXPECT_TRUE(same_array(load(path, array_named("/inner//deep/values")), values));
  EXPECT_EQ(failure_of([&] { load(path, array_named("inner/deep")); }),
            invalid_argument(path + ": 'inner/deep' is a group, not a dataset"));
  EXPECT_EQ(failure_of([&] { load(path, array_named("inner/x")); }),
            invalid_argument(path + " has no dataset 'inner/x'"));
  EXPECT_EQ(failure_of([&] { load(path); }), bad_data(path + ": it holds no arrays"));
}

TEST(Hdf5, RefusesTypesAndShapesItCannotHold) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  {
    const Author author(path);
    author.dataset("biased", half_type(14).get(), {2}, H5T_NATIVE_INT, kSix.data());
    author.dataset("long", H5T_NATIVE_LDOUBLE, {2}, H5T_NATIVE_INT, kSix.data());
    author.dataset("cube", H5T_IEEE_F32LE, {1, 1, 6}, H5T_NATIVE_INT, kSix.data());
    author.dataset("text", H5T_C_S1, {2}, H5T_C_S1, "ab");
    const Hdf5Handle odd(H5Tcopy(H5T_STD_I32LE), H5Tclose);
    H5Tset_precision(odd.get(), 20);
    author.dataset("odd", odd.get(), {6}, H5T_NATIVE_INT, kSix.data());
  }
  const auto fail = [&](const char* name) { return failure_of([&] { load(path, array_named(name)); }); };
  EXPECT_EQ(fail("biased"), bad_data(path + ": dataset 'biased': its floating type is neither IEEE's nor bfloat16"));
  EXPECT_EQ(fail("long"), bad_data(path + ": dataset 'long': floats of 16 bytes are not read"));
  EXPECT_EQ(fail("cube"), bad_data(path + ": dataset 'cube': it has 3 dimensions; one or two are read"));
  EXPECT_EQ(fail("text"), bad_data(path + ": dataset 'text': not made of floats or integers"));
  EXPECT_EQ(fail("odd"), bad_data(path + ": dataset 'odd': its integers have unused bits"));
  const FileInfo info = describe(path);
  ASSERT_EQ(info.arrays.size(), 5U);
  for (const ArrayInfo& array : info.arrays) EXPECT_NE(array.problem, "") << array.name;
}

TEST(Hdf5, RefusesDimensionsWithoutData) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  {
    const Author author(path);
    author.dataset("chunked", H5T_IEEE_F32LE, {hsize_t{1} << 40, 1024}, H5T_NATIVE_INT, nullptr,
                   chunks({1024, 1024}).get());
    author.dataset("sparse", H5T_IEEE_F32LE, {1 << 20, 1024}, H5T_NATIVE_INT, nullptr, chunks({1, 1024}).get());
    author.raw_chunk("sparse", std::string(4096, 'x'));
    author.dataset("scattered", H5T_STD_I8LE, {100, 100}, H5T_NATIVE_INT, nullptr, chunks({1, 10}).get());
    author.raw_chunk("scattered", std::string(10, 'x'));
    author.dataset("plain", H5T_IEEE_F32LE, {hsize_t{1} << 40, 1024}, H5T_NATIVE_INT, nullptr);
    author.dataset("empty", H5T_IEEE_F32LE, {0, 5}, H5T_NATIVE_INT, nullptr);
  }
  const auto fail = [&](const char* name) { return failure_of([&] { load(path, array_named(name)); }); };
  const std::string reason =
      "none of its 1099511627776 rows of 1024 columns were ever written; a dataset of fill values alone is not read";
  EXPECT_EQ(fail("chunked"), bad_data(path + ": dataset 'chunked': " + reason));
  EXPECT_EQ(fail("plain"), bad_data(path + ": dataset 'plain': " + reason));
  EXPECT_EQ(fail("sparse"),
            bad_data(path + ": dataset 'sparse': 1048576 rows of 1024 columns cannot be in the 4096 bytes stored"));
  EXPECT_EQ(fail("scattered"), bad_data(path + ": dataset 'scattered': 1000 chunks cannot be in the 10 bytes stored"));
  EXPECT_EQ(load(path, array_named("empty")).cols(), 5);
}

TEST(Hdf5, DoesNotLeaveTheFile) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  save(folder.file("other.h5"), {{"values", Array::from(std::vector<float>{1})}});
  {
    const Author author(path);
    H5Lcreate_external("other.h5", "values", author.file(), "linked", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/linked", author.file(), "soft", H5P_DEFAULT, H5P_DEFAULT);
    const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_external(creation.get(), "/etc/passwd", 0, 8);
    author.dataset("outside", H5T_STD_I8LE, {8}, H5T_NATIVE_INT8, nullptr, creation.get());
  }
  EXPECT_EQ(failure_of([&] { load(path, array_named("/linked")); }),
            invalid_argument(path + " has no dataset '/linked'"));
  EXPECT_EQ(failure_of([&] { load(path, array_named("/soft")); }), invalid_argument(path + " has no dataset '/soft'"));
  EXPECT_EQ(failure_of([&] { load(path); }), bad_data(path + ": dataset 'outside': its data is in other files"));
}

// The path may lead to another file by the time its bytes are parsed.
TEST(Hdf5, ReadsTheFileThatWasMapped) {
  const Folder folder;
  const std::string path = folder.file("a.h5");
  const Array old = Array::from(std::vector<float>{1, 2, 3}, 3, 1);
  save(path, {{"first", Array::from(std::vector<float>{7, 8, 9}, 3, 1)}, {"values", old}});
  const Source source = open_source(path);
  save(path, {{"values", Array::from(std::vector<float>{4, 5, 6}, 3, 1)}});
  EXPECT_TRUE(same_array(parse_hdf5(source, "values"), old));
}

TEST(Hdf5, RefusesSparseSets) {
  const Folder folder;
  SaveOptions options;
  options.attributes = {{"type", "sparse"}};
  save(folder.file("a.h5"), {{"train", Array::from(std::vector<float>{1})}}, options);
  EXPECT_EQ(failure_of([&] { load(folder.file("a.h5")); }),
            bad_data(folder.file("a.h5") + ": attribute type = 'sparse': sparse sets are not read"));
}

TEST(Hdf5, RefusesWhatIsNotHdf5) {
  const Folder folder;
  const std::string path = folder.put("a.h5", "certainly not");
  EXPECT_EQ(failure_of([&] { load(path); }), bad_data(path + ": not a readable HDF5 file: file signature not found"));
  EXPECT_EQ(failure_of([] { hdf5_names(source_of("")); }), bad_data("test: the file is empty"));
  save(folder.file("b.h5"), {{"values", Array::from(std::vector<double>(1000))}});
  const std::string bytes = bytes_of(folder.file("b.h5"));
  const std::string cut = folder.put("c.h5", bytes.substr(0, bytes.size() / 2));
  const Failure failure = failure_of([&] { load(cut); });
  EXPECT_EQ(failure.code, ErrorCode::bad_data);
  EXPECT_EQ(failure.message.rfind(cut + ": not a readable HDF5 file: ", 0), 0U) << failure.message;
}

TEST(Hdf5, EqualArraysMakeEqualFiles) {
  const Folder folder;
  const NamedArrays arrays = {{"values", Array::from(std::vector<double>{1, 2, 3})}};
  save(folder.file("a.h5"), arrays);
  save(folder.file("b.h5"), arrays);
  EXPECT_EQ(bytes_of(folder.file("a.h5")), bytes_of(folder.file("b.h5")));
}

}  // namespace
}  // namespace kith::io
