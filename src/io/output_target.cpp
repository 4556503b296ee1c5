#include "io/output_target.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {
namespace {

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

std::string name_in_folder(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool stat_folder(const std::string& path, struct stat& status) {
  const std::string folder = folder_of(path);
  return ::stat(folder.empty() ? "." : folder.c_str(), &status) == 0;
}

// /dev/fd/3, /proc/self/fd/3: links that the system follows to what is open, which may have no name.
bool names_open_file(std::string_view path) {
  const bool in_fd_folder = path.starts_with("/dev/fd/") || path == "/dev/stderr";
  const bool in_proc = path.starts_with("/proc/") && path.substr(0, path.rfind('/')).ends_with("/fd");
  return in_fd_folder || in_proc;
}

bool may_follow(const std::string& link, const struct stat& status) {
  constexpr mode_t kEverybodysFolder = S_ISVTX | S_IWOTH;
  struct stat folder = {};
  if (!stat_folder(link, folder) || (folder.st_mode & kEverybodysFolder) != kEverybodysFolder) return true;
  return status.st_uid == ::geteuid() || status.st_uid == folder.st_uid;
}

std::string follow(const std::string& path, const std::string& link, const struct stat& status) {
  if (!may_follow(link, status)) {
    fail_write(path, "it is another user's symbolic link in a folder where everybody may leave one");
  }
  std::error_code error;
  const std::string next = std::filesystem::read_symlink(link, error).string();
  if (error) fail_write(path, error.value());
  return next.starts_with('/') ? next : folder_of(link) + next;
}

// Whether both are the same entry of the same folder, whichever way their paths lead to it.
bool same_entry(const OutputTarget& a, const OutputTarget& b) {
  struct stat folder_a = {};
  struct stat folder_b = {};
  return name_in_folder(a.path) == name_in_folder(b.path) && stat_folder(a.path, folder_a) &&
         stat_folder(b.path, folder_b) && folder_a.st_dev == folder_b.st_dev && folder_a.st_ino == folder_b.st_ino;
}

}  // namespace

OutputTarget find_target(const std::string& path) {
  OutputTarget target;
  target.path = path;
  target.direct = is_standard_output(path) || names_open_file(path);
  constexpr int kMostLinks = 40;  // as Linux has it
  for (int links = 0; !target.direct; ++links) {
    if (links > kMostLinks) fail_write(path, ELOOP);
    if (::lstat(target.path.c_str(), &target.status) != 0) {
      if (errno != ENOENT) fail_write(path, errno);
      if (links > 0) fail_write(path, "it is a symbolic link to " + in_quotes(target.path) + ", which does not exist");
      return target;
    }
    if (!S_ISLNK(target.status.st_mode)) break;
    target.path = follow(path, target.path, target.status);
    target.direct = names_open_file(target.path);
  }
  target.exists = true;
  if (S_ISDIR(target.status.st_mode)) fail_write(path, EISDIR);
  target.direct = target.direct || !S_ISREG(target.status.st_mode);
  return target;
}

bool is_standard_output(const std::string& path) {
  return path == "-" || path == "/dev/stdout";
}

void check_output_paths(const std::vector<std::string>& paths) {
  std::vector<OutputTarget> targets;
  for (const std::string& path : paths) {
    const OutputTarget target = find_target(path);
    for (const OutputTarget& other : targets) {
      if (!target.direct && !other.direct && same_entry(target, other)) {
        throw Error(
            ErrorCode::invalid_argument,
            "two outputs are one file: " + paths[static_cast<std::size_t>(&other - targets.data())] + " and " + path);
      }
    }
    targets.push_back(target);
  }
}

void fail_write(const std::string& path, const std::string& reason) {
  throw Error(ErrorCode::cannot_write, "cannot write " + path + ": " + reason);
}

void fail_write(const std::string& path, int error) {
  fail_write(path, std::generic_category().message(error));
}

}  // namespace kith::io
