// Parts of files: together they are the file, and a part does not see what is wrong with another.
#include <gtest/gtest.h>

#include "files.hpp"

namespace kith::io {
namespace {

Array numbers(std::int64_t rows, std::int64_t cols) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * cols; ++i) values.push_back(static_cast<float>(i));
  return Array::from(std::move(values), rows, cols);
}

TEST(LoadPart, PartsAreTheWhole) {
  const Folder folder;
  for (const char* name : {"a.npy", "a.npz", "a.fvecs", "a.fbin", "a.h5", "a.csv"}) {
    save(folder.file(name), numbers(11, 3));
    for (const std::int64_t parts : {1, 2, 4, 11, 15}) {
      std::vector<double> together;
      for (std::int64_t part = 0; part < parts; ++part) {
        const Part loaded = load_part(folder.file(name), part, parts);
        EXPECT_EQ(loaded.total, 11);
        EXPECT_EQ(loaded.first * 3, static_cast<std::int64_t>(together.size()));
        EXPECT_EQ(loaded.rows.cols(), 3);
        const std::vector<double> values = loaded.rows.values<double>();
        together.insert(together.end(), values.begin(), values.end());
      }
      EXPECT_EQ(together, numbers(11, 3).values<double>()) << name << ' ' << parts;
    }
  }
}

TEST(LoadPart, OtherPartsAreNotLookedAt) {
  const Folder folder;
  std::string bytes;
  for (std::int32_t row = 0; row < 4; ++row) bytes += raw(row == 3 ? 7 : 1) + raw(static_cast<float>(row));
  const std::string path = folder.put("a.fvecs", bytes);
  EXPECT_EQ(load_part(path, 0, 2).rows.values<float>(), (std::vector<float>{0, 1}));
  EXPECT_EQ(failure_of([&] { load_part(path, 1, 2); }),
            bad_data(path + ": byte 24: row 3 has dimension 7 but row 0 has 1"));
}

TEST(LoadPart, PartsAreNumberedFromZero) {
  const Folder folder;
  save(folder.file("a.npy"), numbers(3, 1));
  EXPECT_THROW(load_part(folder.file("a.npy"), 2, 2), Error);
  EXPECT_THROW(load_part(folder.file("a.npy"), -1, 2), Error);
  EXPECT_THROW(load_part(folder.file("a.npy"), 0, 0), Error);
}

}  // namespace
}  // namespace kith::io
