#include "backend/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace kith::backend {
namespace {

bool lists(const std::string& names, std::string_view wanted) {
  std::istringstream stream(names);
  for (std::string name; std::getline(stream, name, ',');)
    if (name == wanted) return true;
  return false;
}

// Where a hierarchy is mounted, and which of its groups is there.
struct Mount {
  std::string group;
  std::string folder;
};

// The mount of a controller of version 1, or of version 2 where it is empty. Lines of mountinfo: "36 35 98:0 /group
// /folder options … - type source options".
bool find_mount(const std::string& root, const std::string& controller, Mount& mount) {
  std::ifstream mounts(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream ours(line);
    std::istringstream system(line.substr(dash + 3));
    std::string ignored;
    std::string type;
    std::string options;
    if (!(ours >> ignored >> ignored >> ignored >> mount.group >> mount.folder)) continue;
    if (!(system >> type >> ignored >> options)) continue;
    if (controller.empty() ? type == "cgroup2" : type == "cgroup" && lists(options, controller)) return true;
  }
  return false;
}

// The group of this process. Lines: "4:cpu,cpuacct:/group", version 2 "0::/group".
bool find_group(const std::string& root, const std::string& controller, std::string& group) {
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    group = line.substr(second + 1);
    if (controller.empty() ? controllers.empty() : lists(controllers, controller)) return true;
  }
  return false;
}

// The folder of this process's group and those above it, as far as they are mounted; none where there is no such
// hierarchy.
std::vector<std::string> group_folders(const std::string& root, const std::string& controller) {
  Mount mount;
  std::string group;
  if (!find_mount(root, controller, mount) || !find_group(root, controller, group)) return {};
  if (mount.group != "/") {  // of a container: the groups above are not to be seen
    const bool inside = group.compare(0, mount.group.size(), mount.group) == 0;
    group = inside ? group.substr(mount.group.size()) : "";
  }
  const std::string above = root + mount.folder;
  std::vector<std::string> folders;
  for (; !group.empty() && group != "/"; group.resize(group.rfind('/'))) {
    folders.push_back(above + group);
    if (group.find('/') == std::string::npos) break;
  }
  folders.push_back(above);
  return folders;
}

// False where there is no such file, or no number in it: "max".
template <class Number>
bool read_number(const std::string& file, Number& number) {
  std::ifstream stream(file);
  return static_cast<bool>(stream >> number);
}

// The number in a line "name number"; 0 where there is none.
std::int64_t read_field(const std::string& file, std::string_view name) {
  std::ifstream stream(file);
  std::string field;
  for (std::int64_t value = 0; stream >> field >> value;)
    if (field == name) return value;
  return 0;
}

// Names of files, which differ between the versions.
struct MemoryFiles {
  const char* controller;
  std::vector<const char*> limits;
  const char* used;
  const char* reclaimable;  // a field of memory.stat
};

void lower(CgroupMemory& memory, const std::string& folder, const MemoryFiles& files) {
  for (const char* const name : files.limits) {
    std::int64_t limit = 0;
    std::int64_t used = 0;
    if (!read_number(folder + name, limit)) continue;
    memory.limit = std::min(memory.limit, limit);
    if (!read_number(folder + files.used, used)) continue;
    const std::int64_t kept = std::max<std::int64_t>(0, used - read_field(folder + "/memory.stat", files.reclaimable));
    memory.free = std::min(memory.free, std::max<std::int64_t>(0, limit - kept));
  }
}

}  // namespace

double cgroup_processors(const std::string& root) {
  double least = std::numeric_limits<double>::infinity();
  const auto lower_to = [&](double quota, double period) {
    if (quota > 0 && period > 0) least = std::min(least, quota / period);
  };
  double quota = 0;
  double period = 0;
  for (const std::string& folder : group_folders(root, "")) {
    std::ifstream file(folder + "/cpu.max");
    if (file >> quota >> period) lower_to(quota, period);
  }
  for (const std::string& folder : group_folders(root, "cpu"))
    if (read_number(folder + "/cpu.cfs_quota_us", quota) && read_number(folder + "/cpu.cfs_period_us", period))
      lower_to(quota, period);
  return least;
}

CgroupMemory cgroup_memory(const std::string& root) {
  CgroupMemory memory;
  for (const MemoryFiles& files :
       {MemoryFiles{"", {"/memory.max", "/memory.high"}, "/memory.current", "inactive_file"},
        MemoryFiles{"memory", {"/memory.limit_in_bytes"}, "/memory.usage_in_bytes", "total_inactive_file"}})
    for (const std::string& folder : group_folders(root, files.controller)) lower(memory, folder, files);
  return memory;
}

}  // namespace kith::backend
