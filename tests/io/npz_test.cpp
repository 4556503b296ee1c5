#include "io/npz.hpp"

#include <gtest/gtest.h>
#include <zip.h>

#include <chrono>

#include "files.hpp"

namespace kith::io {
namespace {

Array matrix() {
  return load(fixture("le_i8.npy"));
}

TEST(Npz, ReadsWhatNumpyWrote) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    EXPECT_TRUE(same_array(load(fixture(name), array_named("ids")), matrix())) << name;
    EXPECT_EQ(load(fixture(name), array_named("distances")).values<std::int64_t>(), matrix().values<std::int64_t>())
        << name;
  }
  EXPECT_EQ(load(fixture("single.npz")).values<std::int64_t>(), matrix().values<std::int64_t>());
}

TEST(Npz, LoadsAllInOrder) {
  const NamedArrays arrays = load_all(fixture("deflated.npz"));
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays[0].first, "ids");
  EXPECT_EQ(arrays[1].first, "distances");
  EXPECT_EQ(arrays[1].second.type(), ElementType::float64);
}

TEST(Npz, ChoosesByName) {
  LoadOptions options;
  options.default_arrays = {"neighbors", "distances"};
  EXPECT_EQ(load(fixture("stored.npz"), options).type(), ElementType::float32);
  EXPECT_EQ(failure_of([] { load(fixture("stored.npz")); }),
            invalid_argument(fixture("stored.npz") + " holds several arrays, name one: 'ids', 'distances'"));
  EXPECT_EQ(failure_of([] { load(fixture("stored.npz"), array_named("x")); }),
            invalid_argument(fixture("stored.npz") + " has no array 'x'; it has 'ids', 'distances'"));
}

TEST(Npz, RefusesOneArrayAndReadsTheOther) {
  const std::string path = fixture("mixed.npz");
  EXPECT_EQ(
      failure_of([&] { load(path, array_named("words")); }),
      bad_data(path +
               "(words.npy): byte 20: dtype '<U2' is not read; floats of 2, 4 or 8 bytes, integers and bool are"));
  EXPECT_EQ(load(path, array_named("values")).values<double>(), (std::vector<double>{0, 1, 2}));
  const FileInfo info = describe(path);
  ASSERT_EQ(info.arrays.size(), 2U);
  EXPECT_NE(info.arrays[0].problem.find("dtype '<U2' is not read"), std::string::npos);
  EXPECT_EQ(info.arrays[1].problem, "");
  EXPECT_EQ(info.arrays[1].rows, 3);
  EXPECT_EQ(info.arrays[1].rank, 1);
}

TEST(Npz, RefusesWhatIsNotAnArchive) {
  EXPECT_EQ(failure_of([] { npz_names(source_of("PK\x03\x04 but no more")); }),
            bad_data("test: not a readable zip archive: Not a zip archive"));
  const std::string whole = bytes_of(fixture("stored.npz"));
  const std::string cut = whole.substr(0, whole.size() - 30);
  EXPECT_EQ(failure_of([&] { npz_names(source_of(cut)); }).code, ErrorCode::bad_data);
}

TEST(Npz, NoticesDamage) {
  std::string bytes = bytes_of(fixture("deflated.npz"));
  const std::size_t data = bytes.find("ids.npy") + 7 + 20;
  bytes[data] = static_cast<char>(bytes[data] ^ 0x55);
  const Failure failure = failure_of([&] { parse_npz(source_of(bytes), "ids"); });
  EXPECT_EQ(failure.code, ErrorCode::bad_data);
  EXPECT_EQ(failure.message.rfind("test(ids.npy): byte ", 0), 0U) << failure.message;
  bytes = bytes_of(fixture("stored.npz"));
  bytes[bytes.find("NUMPY") + 122] = '\x7f';
  EXPECT_EQ(failure_of([&] { parse_npz(source_of(bytes), "ids"); }), bad_data("test(ids.npy): byte 224: CRC error"));
}

// An archive with one deflated entry.
std::string archive_of(const Folder& folder, const std::string& entry, const std::string& bytes) {
  const std::string path = folder.file("made.npz");
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  zip_file_add(zip, entry.c_str(), zip_source_buffer(zip, bytes.data(), bytes.size(), 0), ZIP_FL_ENC_UTF_8);
  zip_close(zip);
  return path;
}

std::string npy_of_shape(const std::string& shape, std::size_t data) {
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}";
  return std::string("\x93NUMPY\x01\x00", 8) + raw(static_cast<std::uint16_t>(dictionary.size())) + dictionary +
         std::string(data, '\0');
}

TEST(Npz, UnpacksNoMoreThanTheHeaderNeeds) {
  const Folder folder;
  const std::string path = archive_of(folder, "a.npy", npy_of_shape("(1, 4)", 10 << 20));
  EXPECT_EQ(failure_of([&] { load(path); }), bad_data(path + "(a.npy): byte 83: more bytes after the array"));
  archive_of(folder, "a.npy", npy_of_shape("(1000000000, 4)", 10 << 20));
  const Failure failure = failure_of([&] { load(path); });
  EXPECT_EQ(failure.message.rfind(path + "(a.npy): 1000000000 rows of 4 columns are more than ", 0), 0U) << failure;
}

TEST(Npz, ShowsNoControlCharactersInErrors) {
  const Folder folder;
  // libzip lets those of U+0080 to U+009F through.
  const std::string path = archive_of(folder,
                                      "a\xc2\x9b"
                                      "1m.npy",
                                      npy_of_shape("(1, 4)", 3));
  const Failure failure = failure_of([&] { load(path); });
  EXPECT_EQ(failure.message.rfind(path + "(a??1m.npy): ", 0), 0U) << failure;
}

// 5,000 arrays took 20 seconds while each of them was looked for in an archive opened anew.
TEST(Npz, ManyArraysTakeTheTimeOfManyArrays) {
  const Folder folder;
  NamedArrays arrays;
  for (int i = 0; i < 5000; ++i) arrays.emplace_back("a" + std::to_string(i), Array::from(std::vector<int>{i}));
  save(folder.file("a.npz"), arrays);
  const auto begin = std::chrono::steady_clock::now();
  const NamedArrays read = load_all(folder.file("a.npz"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  ASSERT_EQ(read.size(), 5000U);
  EXPECT_EQ(read[4999].second.at<std::int32_t>(0), 4999);
}

TEST(Npz, RefusesEntriesThatShareAName) {
  const Folder folder;
  const std::string path = folder.file("a.npz");
  save(path, {{"aa", Array::from(std::vector<float>{1})}, {"ab", Array::from(std::vector<float>{2})}});
  std::string bytes = bytes_of(path);
  for (std::size_t at = bytes.find("ab.npy"); at != std::string::npos; at = bytes.find("ab.npy", at))
    bytes[at + 1] = 'a';
  EXPECT_EQ(failure_of([&] { npz_names(source_of(bytes)); }), bad_data("test: two arrays are named 'aa'"));
}

TEST(Npz, WritesTheSameBytesForTheSameArrays) {
  const Folder folder;
  const NamedArrays arrays = {{"ids", matrix()}, {"", Array::from(std::vector<float>{1, 2})}};
  save(folder.file("a.npz"), arrays);
  save(folder.file("b.npz"), arrays);
  EXPECT_EQ(bytes_of(folder.file("a.npz")), bytes_of(folder.file("b.npz")));
  const NamedArrays read = load_all(folder.file("a.npz"));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_TRUE(same_array(read[0].second, matrix()));
  EXPECT_EQ(read[1].first, "arr_1");
}

TEST(Npz, CompressesWhenAsked) {
  const Folder folder;
  const Array zeros = Array::from(std::vector<double>(100000), 1000, 100);
  SaveOptions options;
  options.compress = true;
  save(folder.file("small.npz"), {{"zeros", zeros}}, options);
  save(folder.file("large.npz"), {{"zeros", zeros}});
  EXPECT_LT(std::filesystem::file_size(folder.file("small.npz")), 10000U);
  EXPECT_GT(std::filesystem::file_size(folder.file("large.npz")), 800000U);
  EXPECT_TRUE(same_array(load(folder.file("small.npz")), zeros));
}

}  // namespace
}  // namespace kith::io
