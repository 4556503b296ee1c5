// Files of collections: what comes back is what was saved, damage is found, and a save that is stopped leaves what was
// there.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "collection/model.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

namespace fs = std::filesystem;

// A folder of this test's own.
class CollectionFile : public testing::Test {
 protected:
  CollectionFile() {
    std::string name = (fs::temp_directory_path() / "kith-file-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~CollectionFile() override { fs::remove_all(folder_); }

  std::string path(const char* name = "points.kith") const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }
  static std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  fs::path folder_;
};

// Rows of which none is constant, so that every metric takes them.
template <Element T>
Matrix<T> varying_points(std::int64_t rows, Random& random) {
  Matrix<T> points = grid_points<T>(rows, 3, random);
  for (std::int64_t i = 0; i < rows; ++i) points(i, 0) = static_cast<T>(static_cast<float>(points(i, 0)) + 10);
  return points;
}

template <Element T>
Collection<T> some(const Options& options, std::int64_t rows = 700) {
  Random random(11);
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> tags;
  for (std::int64_t i = 0; i < rows; ++i) {
    ids.push_back(3 * i + 5);
    tags.push_back(i % 4);
  }
  return Collection<T>(varying_points<T>(rows, random), {ids, tags}, options);
}

template <Element T>
void expect_same_searches(const Collection<T>& got, const Collection<T>& want) {
  Random random(12);
  const Matrix<T> queries = varying_points<T>(9, random);
  const std::vector<std::int64_t> tags = {1};
  Filter filter;
  filter.tags = FilterLists{tags};
  for (const Filter& each : {Filter{}, filter}) {
    const auto a = got.search(queries.view(), 6, each);
    const auto b = want.search(queries.view(), 6, each);
    EXPECT_EQ(a.ids, b.ids);
    EXPECT_EQ(a.distances, b.distances);
  }
  EXPECT_EQ(got.ids(), want.ids());
}

template <Element T>
void expect_round_trip(const std::string& path, const Options& options, const std::vector<std::string>& prepared) {
  const Collection<T> saved = some<T>(options);
  Random random(1);
  const Matrix<T> queries = varying_points<T>(300, random);
  saved.search(queries.view(), 5);  // so that what is prepared by a search is there
  saved.save(path);
  const CollectionInfo info = collection_info(path);
  EXPECT_EQ(info.prepared, prepared) << to_string(options.method);
  EXPECT_TRUE(info.has_ids);
  EXPECT_TRUE(info.has_tags);
  EXPECT_EQ(info.file_bytes, static_cast<std::int64_t>(fs::file_size(path)));
  Collection<T> loaded = Collection<T>::load(path);
  EXPECT_EQ(loaded.options().metric, options.metric);
  EXPECT_EQ(loaded.options().method, options.method);
  expect_same_searches(loaded, saved);
  // What was prepared goes on with it.
  loaded.save(path);
  EXPECT_EQ(collection_info(path).prepared, prepared);
  // A file that is mapped may be written anew.
  loaded.add(queries.view().rows_from(0, 3));
  loaded.save(path);
  EXPECT_EQ(Collection<T>::load(path, {}, true).rows(), 703);
}

TEST_F(CollectionFile, ComesBackAsItWas) {
  Options options;
  options.backend = Backend::cpu;
  options.method = Method::brute;
  expect_round_trip<double>(path(), options, {"norms"});
  expect_round_trip<std::int8_t>(path(), options, {"norms"});
  options.metric = MetricKind::correlation;
  expect_round_trip<float>(path(), options, {"norms"});
  options.metric = Metric::minkowski(3);
  expect_round_trip<float>(path(), options, {});
  options.metric = MetricKind::euclidean;
  options.method = Method::tree;
  expect_round_trip<float>(path(), options, {"tree"});
  expect_round_trip<double>(path(), options, {"tree"});
  options.period = {7, 0, 7};
  expect_round_trip<float>(path(), options, {"tree"});
  options.period = {};
  options.method = Method::triangle;
  expect_round_trip<float>(path(), options, {"clusters"});
  options.method = Method::shifted_sort;
  options.shifted_sort.shifts = 3;
  expect_round_trip<float>(path(), options, {});
  EXPECT_EQ(files(), 1U);
}

TEST_F(CollectionFile, OfNoPoints) {
  Collection<float>(4).save(path());
  Collection<float> loaded = Collection<float>::load(path(), {}, true);
  EXPECT_EQ(loaded.rows(), 0);
  EXPECT_EQ(loaded.dims(), 4);
  const std::vector<float> row = {1, 2, 3, 4};
  loaded.add(MatrixView<float>(row.data(), 1, 4));
  EXPECT_EQ(loaded.ids(), (std::vector<std::int64_t>{0}));
}

TEST_F(CollectionFile, OfStridedPoints) {
  const std::vector<float> values = {1, 2, 99, 3, 4, 99, 5, 6, 99};
  Collection<float>(MatrixView<float>(values.data(), 3, 2, 3, 1)).save(path());
  EXPECT_EQ(Collection<float>::load(path(), {}, true).points(std::vector<std::int64_t>{2})(0, 1), 6);
  Collection<float>(MatrixView<float>(values.data(), 2, 3, 1, 3)).save(path());
  EXPECT_EQ(Collection<float>::load(path(), {}, true).points(std::vector<std::int64_t>{1})(0, 2), 6);
}

TEST_F(CollectionFile, IdsAreNotGivenAgain) {
  const std::vector<float> values = {1, 2, 3};
  Collection<float> first(MatrixView<float>(values.data(), 3, 1));
  first.remove(std::vector<std::int64_t>{2});
  first.save(path());
  Collection<float> loaded = Collection<float>::load(path());
  loaded.add(MatrixView<float>(values.data(), 1, 1));
  EXPECT_EQ(loaded.ids(), (std::vector<std::int64_t>{0, 1, 3}));
}

TEST_F(CollectionFile, DamageIsFound) {
  Options options;
  options.method = Method::tree;
  some<float>(options).save(path());
  const std::string good = bytes_of(path());
  // Each byte of the beginning, and some of the rest, which only `verify` reads.
  std::size_t head = 64;
  std::memcpy(&head, good.data() + 16, sizeof head);
  int accepted = 0;
  for (std::size_t at = 0; at < 64 + head; at += at < 64 ? 1 : 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    write(path(), bad);
    try {
      Collection<float>::load(path());
      ++accepted;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data) << error.what();
    }
  }
  EXPECT_EQ(accepted, 24);  // the bytes of the beginning that are not used
  for (std::size_t at = 8192; at < good.size(); at += 3001) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write(path(), bad);
    bool is_found = false;
    try {
      Collection<float>::load(path(), {}, true);
    } catch (const Error& error) {
      is_found = error.code() == ErrorCode::bad_data;
    }
    // Between sections nothing is checked, for nothing is there.
    EXPECT_TRUE(is_found || good[at] == 0) << at;
  }
}

// What leads elsewhere is checked by the search that first needs it.
TEST_F(CollectionFile, DamagedTreesAreNotWalked) {
  Options options;
  options.method = Method::tree;
  some<float>(options).save(path());
  std::string bad = bytes_of(path());
  const std::string name = "\"name\":\"tree.ids\",\"offset\":";
  const std::size_t described = bad.find("\"tree.ids\"");
  ASSERT_NE(described, std::string::npos);
  const std::size_t offset_at = bad.find("\"offset\":", described);
  const auto offset = static_cast<std::size_t>(std::stoll(bad.substr(offset_at + 9, 20)));
  bad[offset + 3] = '\x7f';
  write(path(), bad);
  const Collection<float> loaded = Collection<float>::load(path());
  Random random(2);
  const Matrix<float> query = grid_points<float>(1, 3, random);
  EXPECT_TRUE(
      fails_with(ErrorCode::bad_data, {"section tree.ids is damaged"}, [&] { loaded.search(query.view(), 1); }));
}

TEST_F(CollectionFile, OfOtherSizesVersionsAndOrders) {
  some<float>({}).save(path());
  const std::string good = bytes_of(path());
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{64}, good.size() / 2, good.size() - 1}) {
    write(path(), good.substr(0, size));
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {path()}, [&] { Collection<float>::load(path()); })) << size;
  }
  write(path(), good + "x");
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"cut off or added to"}, [&] { Collection<float>::load(path()); }));
  const auto checked = [&](std::string bytes) {
    const auto sum = static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), 36));
    std::memcpy(bytes.data() + 36, &sum, sizeof sum);
    return bytes;
  };
  std::string newer = good;
  newer[12] = 2;
  write(path(), checked(newer));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"version 2", "up to 1"}, [&] { Collection<float>::load(path()); }));
  std::string turned = good;
  std::reverse(turned.begin() + 8, turned.begin() + 12);
  write(path(), turned);
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"another byte order"}, [&] { Collection<float>::load(path()); }));
  write(path(), good);
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"points of float32; float64 are wanted"},
                         [&] { Collection<double>::load(path()); }));
  EXPECT_TRUE(
      fails_with(ErrorCode::bad_data, {"no-such-file"}, [&] { Collection<float>::load(path("no-such-file")); }));
  EXPECT_TRUE(
      fails_with(ErrorCode::cannot_write, {"no-such-folder"}, [&] { some<float>({}).save(path("no-such-folder/x")); }));
  EXPECT_EQ(files(), 1U);
}

// A process that is killed while it saves leaves the old file or the new one, and nothing else.
TEST_F(CollectionFile, AKillLeavesAWholeFile) {
  some<float>({}, 100).save(path());
  Random random(4);
  const Matrix<float> points = grid_points<float>(200000, 3, random);
  for (int i = 0; i < 12; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Collection<float> large(points.view());
      for (;;) large.save(path());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + random.below(60)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const Collection<float> loaded = Collection<float>::load(path(), {}, true);
    EXPECT_TRUE(loaded.rows() == 100 || loaded.rows() == 200000) << loaded.rows();
  }
}

TEST_F(CollectionFile, KeepsThePermissionsOfWhatItReplaces) {
  some<float>({}, 10).save(path());
  fs::permissions(path(), fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  some<float>({}, 20).save(path());
  EXPECT_EQ(fs::status(path()).permissions(), fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink(path(), path("link"));
  some<float>({}, 30).save(path("link"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(Collection<float>::load(path()).rows(), 30);
}

}  // namespace
}  // namespace kith::test
