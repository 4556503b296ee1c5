// Files of collections: what comes back is what was saved, damage is found, and a save that is stopped leaves what was
// there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "collection/model.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

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
  static std::string bytes_of(const std::string& path) { return bytes_of_file(path); }
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

// What one backend has prepared serves others as far as it goes; the rest is made by the first search.
TEST_F(CollectionFile, OfOtherBackends) {
  Random random(1);
  const Matrix<float> queries = varying_points<float>(300, random);
  for (const Backend writer : available_backends())
    for (const Backend reader : available_backends())
      for (const Method method : {Method::brute, Method::tree, Method::triangle}) {
        Options options;
        options.method = method;
        options.backend = writer;
        some<float>(options).save(path());
        options.backend = Backend::cpu;
        const Collection<float> want = some<float>(options);
        options.backend = reader;
        Collection<float> loaded = Collection<float>::load(path(), options);
        loaded.save(path("again.kith"));  // before anything is made
        EXPECT_EQ(collection_info(path("again.kith")).prepared, collection_info(path()).prepared);
        expect_same_searches(loaded, want);
        loaded.search(queries.view(), 5);
        loaded.save(path());
        if (reader == Backend::cpu) {
          EXPECT_EQ(collection_info(path()).prepared.size(), 1U) << to_string(method);
        }
        expect_same_searches(Collection<float>::load(path(), options, true), want);
      }
}

TEST_F(CollectionFile, ThreadsMeetInTheFirstSearch) {
  Options options;
  options.backend = Backend::cpu;
  for (const Method method : {Method::brute, Method::tree, Method::triangle}) {
    options.method = method;
    const Collection<float> want = some<float>(options);
    want.save(path());
    const Collection<float> loaded = Collection<float>::load(path(), options);
    std::vector<std::thread> searchers;
    for (int t = 0; t < 4; ++t) searchers.emplace_back([&] { expect_same_searches(loaded, want); });
    loaded.save(path("beside.kith"));
    for (std::thread& each : searchers) each.join();
  }
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

// A file whose head is another text, with the checksums that belong to it.
std::string with_head(const std::string& file, const nlohmann::json& head) {
  const auto sum = [](const std::string& text) {
    return static_cast<std::uint32_t>(
        ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
  };
  const std::string text = head.dump();
  std::string made = file;
  made.replace(64, text.size(), text);
  const std::uint64_t head_bytes = text.size();
  std::memcpy(made.data() + 16, &head_bytes, sizeof head_bytes);
  const std::uint32_t head_sum = sum(text);
  std::memcpy(made.data() + 32, &head_sum, sizeof head_sum);
  const std::uint32_t start_sum = sum(made.substr(0, 36));
  std::memcpy(made.data() + 36, &start_sum, sizeof start_sum);
  return made;
}

nlohmann::json head_of(const std::string& file) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, file.data() + 16, sizeof bytes);
  return nlohmann::json::parse(file.substr(64, bytes));
}

nlohmann::json& section_of(nlohmann::json& head, const std::string& name) {
  for (nlohmann::json& section : head["sections"])
    if (section["name"] == name) return section;
  throw std::out_of_range(name);
}

// The same file with other bytes at a place of a section, whose checksum is that of what it then has.
template <class V>
std::string with_value(const std::string& file, const std::string& name, std::size_t index, V value) {
  nlohmann::json head = head_of(file);
  nlohmann::json& section = section_of(head, name);
  std::string made = file;
  const auto offset = section["offset"].get<std::size_t>();
  std::memcpy(made.data() + offset + index * sizeof(V), &value, sizeof value);
  section["crc32"] = {static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(made.data() + offset), section["bytes"].get<uInt>()))};
  return with_head(made, head);
}

// What only a head that was made up can say, checksums and all.
TEST_F(CollectionFile, MadeUpHeadsAreRefused) {
  using nlohmann::json;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  some<float>({}, 70).save(path());
  const std::string with_ids = bytes_of(path());
  Random random(3);
  Collection<float>(varying_points<float>(70, random)).save(path());
  const std::string counted = bytes_of(path());
  const auto refused = [&](const std::string& file, const std::function<void(json&)>& change, const std::string& why) {
    json head = head_of(file);
    change(head);
    write(path(), with_head(file, head));
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {path(), why}, [&] { Collection<float>::load(path()); })) << head;
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {why}, [&] { collection_info(path()); }));
  };
  refused(
      counted, [](json& head) { head["next_id"] = 69; }, "the next id is 69, but there is 69 already");
  refused(
      counted, [](json& head) { head["next_id"] = -1; }, "the next id is -1");
  refused(
      counted, [](json& head) { head["first_id"] = -3; }, "its 70 ids from -3 on cannot be");
  refused(
      counted, [&](json& head) { head["first_id"] = kMost - 5; }, "cannot be");
  refused(
      counted, [&](json& head) { head["first_id"] = 100; }, "but there is 169 already");
  refused(
      counted, [&](json& head) { head["rows"] = kMost; }, "cannot be");
  refused(
      counted, [](json& head) { head["rows"] = -1; }, "cannot be");
  refused(
      counted, [](json& head) { head["rows"] = 71; }, "840 bytes");
  refused(
      counted, [&](json& head) { head["dims"] = std::int64_t{1} << 31; }, "cannot be");
  refused(
      counted, [](json& head) { head["dims"] = 0; }, "cannot be");
  refused(
      counted, [](json& head) { head["options"]["period"] = {1.0}; }, "1 periods for 3 dimensions");
  refused(
      counted,
      [](json& head) {
        head["options"]["period"] = {1.0, -1.0, 1.0};
      },
      "a period of -1");
  refused(
      counted,
      [](json& head) {
        head["options"].update({{"metric", "minkowski"}, {"p", 0.5}});
      },
      "p = 0.5");
  refused(
      counted, [](json& head) { head["options"]["metric"] = "nearness"; }, "nearness");
  refused(
      counted, [](json& head) { section_of(head, "points")["offset"] = 0; }, "lies at 0");
  refused(
      counted, [](json& head) { section_of(head, "points")["offset"] = 8193; }, "lies at 8193");
  refused(
      counted, [&](json& head) { section_of(head, "points")["offset"] = kMost / 4096 * 4096; }, "lies at");
  refused(
      counted, [&](json& head) { section_of(head, "points")["bytes"] = kMost; }, "lies at");
  refused(
      counted, [](json& head) { section_of(head, "points")["crc32"] = json::array(); }, "0 checksums");
  refused(
      counted, [](json& head) { section_of(head, "points")["name"] = "pints"; }, "no part points");
  refused(
      with_ids, [](json& head) { section_of(head, "ids")["offset"] = section_of(head, "points")["offset"]; },
      "where what precedes it reaches to");
  refused(
      with_ids, [](json& head) { section_of(head, "tags")["name"] = "ids"; }, "section ids is there twice");
  refused(
      with_ids, [](json& head) { section_of(head, "ids")["bytes"] = 8; }, "part ids");
}

// Ids are read by the first call that needs them.
TEST_F(CollectionFile, MadeUpIdsAreRefusedWhenTheyAreNeeded) {
  some<float>({}, 70).save(path());
  const std::string good = bytes_of(path());
  Random random(3);
  const Matrix<float> query = varying_points<float>(1, random);
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    write(path(), bytes);
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {path(), why}, [&] { Collection<float>::load(path(), {}, true); }));
    Collection<float> loaded = Collection<float>::load(path());
    EXPECT_EQ(loaded.rows(), 70);
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {why}, [&] { loaded.search(query.view(), 2); }));
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {why}, [&] { loaded.ids(); }));
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {why}, [&] { loaded.add(query.view()); }));
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {why}, [&] { loaded.save(path("other.kith")); }));
  };
  refused(with_value<std::int64_t>(good, "ids", 3, 0), "id 3 is 0 after 11; ids ascend");
  refused(with_value<std::int64_t>(good, "ids", 3, 11), "id 3 is 11 after 11; ids ascend");
  refused(with_value<std::int64_t>(good, "ids", 0, -1), "id 0 is -1");
  refused(with_value<std::int64_t>(good, "ids", 69, 5000), "the next id is 213, but there is 5000 already");
  std::string damaged = good;
  nlohmann::json head = head_of(good);
  damaged[section_of(head, "ids")["offset"].get<std::size_t>()] ^= 1;
  refused(damaged, "section ids is damaged");
}

// Pages of this process that are in memory, those of mapped files among them.
std::int64_t resident_bytes() {
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

// 20 GB of points, all of them holes that nobody wrote, with ids. Nothing of it is prepared.
void write_large(const std::string& path, std::int64_t dims, const Options& options) {
  constexpr std::int64_t kFirst = std::int64_t{1} << 20;
  constexpr std::int64_t kPointBytes = 20'480'000'000;
  constexpr std::int64_t kIdsAt = kFirst + (kPointBytes / 4096 + 1) * 4096;
  const std::int64_t rows = kPointBytes / 4 / dims;
  const std::int64_t all_bytes = kIdsAt + (rows * 8 / 4096 + 1) * 4096;
  const auto checksums = [](std::int64_t bytes) {
    return std::vector<std::uint32_t>(static_cast<std::size_t>((bytes + (1 << 26) - 1) >> 26), 1U);
  };
  Collection<float>(3, options).save(path);
  std::string file = std::string(bytes_of_file(path), 0, 64) + std::string(kFirst - 64, '\0');
  nlohmann::json head = head_of(bytes_of_file(path));
  head["rows"] = rows;
  head["dims"] = dims;
  head["next_id"] = rows;
  head["sections"] = {
      {{"name", "points"}, {"offset", kFirst}, {"bytes", kPointBytes}, {"crc32", checksums(kPointBytes)}},
      {{"name", "ids"}, {"offset", kIdsAt}, {"bytes", rows * 8}, {"crc32", checksums(rows * 8)}}};
  const auto file_bytes = static_cast<std::uint64_t>(all_bytes);
  std::memcpy(file.data() + 24, &file_bytes, sizeof file_bytes);
  std::ofstream(path, std::ios::binary) << with_head(file, head);
  fs::resize_file(path, static_cast<std::uintmax_t>(all_bytes));
}

// Loading reads the head, whatever the method, the backend, and what the file has prepared.
TEST_F(CollectionFile, LargeFilesAreThereAtOnce) {
  for (const Backend backend : available_backends())
    for (const Method method : {Method::automatic, Method::brute, Method::tree, Method::triangle, Method::shifted_sort})
      for (const MetricKind metric : {MetricKind::euclidean, MetricKind::cosine}) {
        Options options;
        options.metric = metric;
        options.method = method;
        if (metric == MetricKind::cosine && method != Method::automatic && method != Method::brute) continue;
        const std::int64_t dims = method == Method::shifted_sort ? 16 : 128;
        write_large(path(), dims, options);
        options.backend = backend;
        const std::int64_t before = resident_bytes();
        double seconds = std::numeric_limits<double>::infinity();
        for (int i = 0; i < 3; ++i) {
          const auto start = std::chrono::steady_clock::now();
          const Collection<float> loaded = Collection<float>::load(path(), options);
          seconds = std::min(seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
          EXPECT_EQ(loaded.dims(), dims);
        }
        const std::string what = std::string(to_string(backend)) + " " + std::string(to_string(method));
        RecordProperty(what, std::to_string(seconds));
        if (kIsWatched) continue;
        EXPECT_LT(resident_bytes() - before, std::int64_t{32} << 20) << what;
        EXPECT_LT(seconds, 0.05) << what;
      }
}

// Trees and clusters whose numbers are wrong although their checksums are right.
TEST_F(CollectionFile, MadeUpTreesAndClustersAreRefusedWhenTheyAreNeeded) {
  Random random(3);
  const Matrix<float> query = varying_points<float>(1, random);
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    write(path(), bytes);
    const Collection<float> loaded = Collection<float>::load(path());
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {why}, [&] { loaded.search(query.view(), 2); }));
  };
  Options options;
  options.backend = Backend::cpu;
  options.method = Method::tree;
  some<float>(options).save(path());
  const std::string tree = bytes_of(path());
  for (const double count : {0.0, -1.0, 0.5, 1.0, 3.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    refused(with_value(tree, "tree", 1, count), "tree is damaged");                  // levels
    if (count != 0) refused(with_value(tree, "tree", 2, count), "tree is damaged");  // axes
  }
  refused(with_value(tree, "tree", 0, 2.0), "tree is damaged");
  refused(with_value(tree, "tree", 3, 1e18), "tree is damaged");  // boxes of the first level
  refused(with_value<std::uint32_t>(tree, "tree.ids", 5, 700), "tree is damaged");
  options.method = Method::triangle;
  some<float>(options).save(path());
  const std::string clusters = bytes_of(path());
  for (const std::int64_t offset : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{701}, std::int64_t{1} << 62})
    refused(with_value(clusters, "clusters", 1, offset), "clustering is damaged");
  for (const std::int64_t id : {std::int64_t{-1}, std::int64_t{700}})
    refused(with_value(clusters, "clusters.ids", 5, id), "clustering is damaged");
  for (const float value : {-1.0F, 1e30F, std::numeric_limits<float>::quiet_NaN()})
    refused(with_value(clusters, "clusters.lengths", 5, value), "clustering is damaged");
  for (const char* const part : {"clusters.centers", "clusters.rows"})
    refused(with_value(clusters, part, 0, std::numeric_limits<float>::infinity()), "clustering is damaged");
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

// A process that is killed while it saves leaves the old file or the new one. Of a file that was about to take its
// place nothing is left by the next save.
TEST_F(CollectionFile, AKillLeavesAWholeFile) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "not under ThreadSanitizer, which ends children that begin threads";
#endif
  some<float>({}, 100).save(path());
  Random random(4);
  const Matrix<float> points = grid_points<float>(20000, 3, random);
  for (int i = 0; i < 60; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Collection<float> large(points.view());
      const Collection<float> small(points.view().rows_from(0, 50));
      for (;;) {
        large.save(path());
        small.save(path());
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(1000 + random.below(20000)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_LE(files(), 2U);
    Collection<float> loaded = Collection<float>::load(path(), {}, true);
    EXPECT_TRUE(loaded.rows() == 100 || loaded.rows() == 50 || loaded.rows() == 20000) << loaded.rows();
    if (i % 10 != 9) continue;
    loaded.save(path());
    EXPECT_EQ(files(), 1U);
  }
}

TEST_F(CollectionFile, WhatAKilledProcessLeftIsRemovedByTheNextSave) {
  some<float>({}, 10).save(path());
  const std::string left = path(".points.kith.0123456789abcdef.tmp");
  const std::string at_work = path(".points.kith.00000000deadbeef.tmp");
  const std::vector<std::string> others = {path(".points.kith.0123456789abcdeg.tmp"), path(".points.kith.tmp"),
                                           path(".other.kith.0123456789abcdef.tmp")};
  for (const std::string& each : {left, at_work, others[0], others[1], others[2]}) write(each, "x");
  const int writer = ::open(at_work.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(writer, LOCK_EX), 0);
  some<float>({}, 20).save(path());
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(at_work));
  for (const std::string& each : others) EXPECT_TRUE(fs::exists(each)) << each;
  ::close(writer);
  some<float>({}, 30).save(path());
  EXPECT_FALSE(fs::exists(at_work));
  EXPECT_EQ(files(), 1 + others.size());
}

// Two of them at a time leave one of the two files.
TEST_F(CollectionFile, SavesMeet) {
  std::vector<std::thread> writers;
  for (int t = 0; t < 3; ++t)
    writers.emplace_back([&, t] {
      const Collection<float> mine = some<float>({}, 100 + t);
      for (int i = 0; i < 10; ++i) mine.save(path());
    });
  for (std::thread& each : writers) each.join();
  EXPECT_EQ(files(), 1U);
  EXPECT_GE(Collection<float>::load(path(), {}, true).rows(), 100);
}

TEST_F(CollectionFile, ACancelledSaveLeavesTheOldFile) {
  some<float>({}, 10).save(path());
  bool goes_on = true;
  Options options;
  options.progress = [&](const Progress&) { return goes_on; };
  const Collection<float> collection = some<float>(options, 20);
  goes_on = false;
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {path()}, [&] { collection.save(path()); }));
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(Collection<float>::load(path()).rows(), 10);
  goes_on = true;
  collection.save(path());
  EXPECT_EQ(Collection<float>::load(path()).rows(), 20);
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
