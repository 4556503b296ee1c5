// Limits of control groups, read from trees as kernels and containers show them.
#include "backend/cgroup.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "backend/machine.hpp"

namespace kith::test {
namespace {

constexpr std::int64_t kNone = backend::CgroupMemory::kNone;

// A folder that stands for /, with files by their paths.
class Tree {
 public:
  explicit Tree(const std::vector<std::pair<std::string, std::string>>& files)
      : root_(std::filesystem::temp_directory_path() / ("kith-cgroup-" + std::to_string(getpid()))) {
    for (const auto& [path, text] : files) {
      const std::filesystem::path file = root_ / path;
      std::filesystem::create_directories(file.parent_path());
      std::ofstream(file) << text;
    }
  }
  ~Tree() { std::filesystem::remove_all(root_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  std::string root() const { return root_; }

 private:
  std::filesystem::path root_;
};

const std::string kUnified = "29 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string kVersion1 =
    "23 28 0:22 / /sys rw - sysfs sysfs rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,nosuid master:9 - cgroup cgroup rw,memory\n";

TEST(Cgroup, NothingIsLimitedWhereNothingIsMounted) {
  const Tree tree({{"proc/self/cgroup", "0::/\n"}, {"proc/self/mountinfo", "23 28 0:22 / /sys rw - sysfs sysfs rw\n"}});
  EXPECT_TRUE(std::isinf(backend::cgroup_processors(tree.root())));
  EXPECT_EQ(backend::cgroup_memory(tree.root()).limit, kNone);
  EXPECT_EQ(backend::cgroup_memory(tree.root() + "/none").free, kNone);
}

TEST(Cgroup, Version2TakesTheLeastOfAGroupAndThoseAboveIt) {
  const Tree tree({{"proc/self/cgroup", "0::/user/me/work\n"},
                   {"proc/self/mountinfo", kUnified},
                   {"sys/fs/cgroup/user/me/work/cpu.max", "max 100000\n"},
                   {"sys/fs/cgroup/user/me/cpu.max", "250000 100000\n"},
                   {"sys/fs/cgroup/user/cpu.max", "800000 100000\n"},
                   {"sys/fs/cgroup/user/me/work/memory.max", "max\n"},
                   {"sys/fs/cgroup/user/me/work/memory.current", "100\n"},
                   {"sys/fs/cgroup/user/me/memory.max", "9000\n"},
                   {"sys/fs/cgroup/user/me/memory.current", "1500\n"},
                   {"sys/fs/cgroup/user/me/memory.stat", "anon 400\ninactive_file 300\n"},
                   {"sys/fs/cgroup/user/memory.max", "10000\n"},
                   {"sys/fs/cgroup/user/memory.current", "9500\n"}});
  EXPECT_DOUBLE_EQ(backend::cgroup_processors(tree.root()), 2.5);
  const backend::CgroupMemory memory = backend::cgroup_memory(tree.root());
  EXPECT_EQ(memory.limit, 9000);
  EXPECT_EQ(memory.free, 500);  // of the group above; its own has 9000 − (1500 − 300)
}

TEST(Cgroup, TheLimitFromWhichTheKernelTakesMemoryBackCounts) {
  const Tree tree({{"proc/self/cgroup", "0::/a\n"},
                   {"proc/self/mountinfo", kUnified},
                   {"sys/fs/cgroup/a/memory.max", "9000\n"},
                   {"sys/fs/cgroup/a/memory.high", "7000\n"},
                   {"sys/fs/cgroup/a/memory.current", "8000\n"}});
  EXPECT_EQ(backend::cgroup_memory(tree.root()).limit, 7000);
  EXPECT_EQ(backend::cgroup_memory(tree.root()).free, 0);
}

TEST(Cgroup, Version1HasAHierarchyForEachController) {
  const Tree tree({{"proc/self/cgroup", "5:memory:/box\n3:cpuacct,cpu:/slice/box\n0::/\n"},
                   {"proc/self/mountinfo", kVersion1},
                   {"sys/fs/cgroup/cpu,cpuacct/slice/box/cpu.cfs_quota_us", "-1\n"},
                   {"sys/fs/cgroup/cpu,cpuacct/slice/box/cpu.cfs_period_us", "100000\n"},
                   {"sys/fs/cgroup/cpu,cpuacct/slice/cpu.cfs_quota_us", "50000\n"},
                   {"sys/fs/cgroup/cpu,cpuacct/slice/cpu.cfs_period_us", "100000\n"},
                   {"sys/fs/cgroup/memory/box/memory.limit_in_bytes", "5000\n"},
                   {"sys/fs/cgroup/memory/box/memory.usage_in_bytes", "2000\n"},
                   {"sys/fs/cgroup/memory/box/memory.stat", "cache 10\ntotal_inactive_file 400\n"},
                   {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
                   {"sys/fs/cgroup/memory/memory.usage_in_bytes", "7000\n"}});
  EXPECT_DOUBLE_EQ(backend::cgroup_processors(tree.root()), 0.5);
  EXPECT_EQ(backend::cgroup_memory(tree.root()).limit, 5000);
  EXPECT_EQ(backend::cgroup_memory(tree.root()).free, 3400);
}

// Docker without a namespace of its own for control groups: the group's folder is what is mounted.
TEST(Cgroup, AContainerSeesItsOwnFolderOnly) {
  const Tree tree({{"proc/self/cgroup", "5:memory:/docker/0f/inner\n0::/\n"},
                   {"proc/self/mountinfo",
                    "35 31 0:32 /docker/0f /sys/fs/cgroup/memory ro,nosuid master:9 - cgroup cgroup rw,memory\n"},
                   {"sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "6000\n"},
                   {"sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n"}});
  EXPECT_EQ(backend::cgroup_memory(tree.root()).limit, 5000);
}

TEST(Machine, SaysWhatLimitsIt) {
  const backend::ThreadLimit threads = backend::available_threads();
  EXPECT_GE(threads.threads, 1);
  EXPECT_STRNE(threads.source, "");
  const backend::MemoryLimit memory = backend::free_memory();
  EXPECT_GT(memory.bytes, 0);
  EXPECT_STRNE(memory.source, "");
  EXPECT_GE(backend::largest_memory(), 1 << 20);
  EXPECT_LE(memory.bytes, backend::largest_memory());
}

}  // namespace
}  // namespace kith::test
