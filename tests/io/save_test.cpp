// Outputs appear whole or not at all.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "files.hpp"
#include "io/output_file.hpp"

namespace kith::io {
namespace {

const Array kPoints = Array::from(std::vector<float>{1, 2, 3, 4, 5, 6}, 2, 3);

const std::vector<Format> kFormats = formats_without({Format::groundtruth});

SaveOptions as(Format format) {
  SaveOptions options;
  options.format = format;
  return options;
}

TEST(Save, AFullDeviceIsCannotWrite) {
  for (const Format format : kFormats) {
    EXPECT_EQ(failure_of([&] { save("/dev/full", kPoints, as(format)); }),
              (Failure{ErrorCode::cannot_write, "cannot write /dev/full: No space left on device"}))
        << to_string(format);
  }
  EXPECT_EQ(failure_of([] { save_text("/dev/full", "text"); }).code, ErrorCode::cannot_write);
}

TEST(Save, DevicesAreWrittenDirectly) {
  for (const Format format : kFormats) {
    EXPECT_NO_THROW(save("/dev/null", kPoints, as(format))) << to_string(format);
  }
  struct stat status = {};
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST(Save, PipesGetTheBytesOfTheFile) {
  const Folder folder;
  for (const Format format : kFormats) {
    const std::string path = folder.file("whole");
    save(path, kPoints, as(format));
    const std::string pipe = folder.file("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::string received;
    std::thread reader([&] { received = bytes_of(pipe); });
    save(pipe, kPoints, as(format));
    reader.join();
    EXPECT_EQ(received, bytes_of(path)) << to_string(format);
    std::filesystem::remove(pipe);
  }
}

// Runs f in a child whose files cannot exceed `bytes`, and returns what it threw.
template <class F>
std::string failure_with_small_disk(rlim_t bytes, F&& f) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Failure failure = failure_of(f);
    const std::string message = std::string(to_string(failure.code)) + ": " + failure.message;
    if (::write(ends[1], message.data(), message.size()) < 0) ::_exit(2);
    std::exit(0);  // not _exit: libhdf5 must also survive its clean-up after a failed write
  }
  ::close(ends[1]);
  std::string message(1000, '\0');
  const ssize_t count = ::read(ends[0], message.data(), message.size());
  ::close(ends[0]);
  message.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? message : message + " (the child failed)";
}

TEST(Save, AFullDiskLeavesNothingAndTheOldFile) {
  const Array large = Array::from(std::vector<float>(300000, 1.0F), 100000, 3);
  for (const Format format : kFormats) {
    const Folder folder;
    const std::string path = folder.put("out", "old");
    EXPECT_EQ(failure_with_small_disk(100000, [&] { save(path, large, as(format)); }),
              std::string(to_string(ErrorCode::cannot_write)) + ": cannot write " + path + ": File too large")
        << to_string(format);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"out"})) << to_string(format);
    EXPECT_EQ(bytes_of(path), "old") << to_string(format);
  }
}

TEST(Save, NamesTheReason) {
  const Folder folder;
  const std::string nowhere = folder.file("none/a.npy");
  EXPECT_EQ(failure_of([&] { save(nowhere, kPoints); }),
            (Failure{ErrorCode::cannot_write, "cannot write " + nowhere + ": No such file or directory"}));
  EXPECT_EQ(failure_of([&] { save(folder.file(""), kPoints, as(Format::npy)); }).code, ErrorCode::cannot_write);
  EXPECT_EQ(failure_of([&] { save(folder.file("a"), kPoints); }),
            invalid_argument(folder.file("a") + ": the format is not known from its extension; name it"));
  EXPECT_EQ(failure_of([&] { save(folder.file("a.npy"), NamedArrays{}); }),
            invalid_argument(folder.file("a.npy") + ": no arrays to save"));
  EXPECT_EQ(failure_of([&] {
              save(folder.file("a.npy"), {{"a", kPoints}, {"b", kPoints}});
            }),
            invalid_argument(folder.file("a.npy") + ": a npy file holds one array, not 2"));
  EXPECT_EQ(failure_of([&] {
              save(folder.file("a.npz"), {{"a", kPoints}, {"a", kPoints}});
            }),
            invalid_argument(folder.file("a.npz") + ": two arrays are named 'a'"));
  EXPECT_EQ(failure_of([&] {
              SaveOptions options;
              options.compress = true;
              save(folder.file("a.npy"), kPoints, options);
            }),
            invalid_argument(folder.file("a.npy") + ": a npy file is not compressed"));
  EXPECT_TRUE(folder.names().empty());
}

TEST(Save, ReplacesAFileAndKeepsItsMode) {
  const Folder folder;
  const std::string path = folder.put("a.npy", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  save(path, kPoints);
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
  EXPECT_TRUE(same_array(load(path), kPoints));
}

TEST(Save, NewFilesObeyTheUmask) {
  const Folder folder;
  const mode_t old = ::umask(027);
  save(folder.file("a.npy"), kPoints);
  ::umask(old);
  struct stat status = {};
  ASSERT_EQ(::stat(folder.file("a.npy").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST(Save, WritesThroughSymbolicLinks) {
  const Folder folder;
  const std::string target = folder.put("target.npy", "old");
  const std::string link = folder.file("link.npy");
  std::filesystem::create_symlink(target, link);
  save(link, kPoints);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(same_array(load(target), kPoints));
}

struct stat status_of(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status;
}

TEST(Save, ReplacesAFileAndKeepsItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  const Folder folder;
  const std::string path = folder.put("a.npy", "old");
  ASSERT_EQ(::chown(path.c_str(), 12345, 54321), 0);
  ASSERT_EQ(::chmod(path.c_str(), 04460), 0);
  save(path, kPoints);
  EXPECT_EQ(status_of(path).st_uid, 12345U);
  EXPECT_EQ(status_of(path).st_gid, 54321U);
  EXPECT_EQ(status_of(path).st_mode & 07777, 0460U);
}

TEST(Save, DoesNotFollowAnothersLinkInASharedFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving links away needs root";
  const Folder folder;
  const std::string target = folder.put("target.npy", "old");
  ASSERT_EQ(::chmod(target.c_str(), 0600), 0);
  const std::string shared = folder.file("shared");
  std::filesystem::create_directory(shared);
  ASSERT_EQ(::chmod(shared.c_str(), 01777), 0);
  const std::string link = shared + "/link.npy";
  std::filesystem::create_symlink(target, link);
  ASSERT_EQ(::lchown(link.c_str(), 12345, 12345), 0);
  const std::string mine = folder.file("mine.npy");
  std::filesystem::create_symlink(link, mine);
  for (const std::string& path : {link, mine}) {
    EXPECT_EQ(failure_of([&] { save(path, kPoints); }),
              (Failure{ErrorCode::cannot_write,
                       "cannot write " + path +
                           ": it is another user's symbolic link in a folder where everybody may leave one"}));
  }
  EXPECT_EQ(bytes_of(target), "old");
  EXPECT_EQ(status_of(target).st_mode & 0777, 0600U);
  ASSERT_EQ(::lchown(link.c_str(), 0, 0), 0);
  save(mine, kPoints);
  EXPECT_TRUE(same_array(load(target), kPoints));
}

TEST(Save, RefusesLinksThatLeadNowhere) {
  const Folder folder;
  const std::string path = folder.file("a.npy");
  std::filesystem::create_symlink("missing.npy", path);
  EXPECT_EQ(failure_of([&] { save(path, kPoints); }),
            (Failure{ErrorCode::cannot_write, "cannot write " + path + ": it is a symbolic link to '" +
                                                  folder.file("missing.npy") + "', which does not exist"}));
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  std::filesystem::remove(path);
  std::filesystem::create_symlink("a.npy", path);
  EXPECT_EQ(failure_of([&] { save(path, kPoints); }),
            (Failure{ErrorCode::cannot_write, "cannot write " + path + ": Too many levels of symbolic links"}));
}

TEST(Save, IsAtomicUnderProcToo) {
  const Folder folder;
  const std::string path = folder.put("a.npy", "old");
  const int file = ::open(path.c_str(), O_RDONLY);
  save("/proc/self/root" + path, kPoints);
  char bytes[4] = {};
  EXPECT_EQ(::pread(file, bytes, 3, 0), 3);
  EXPECT_STREQ(bytes, "old");
  ::close(file);
  EXPECT_TRUE(same_array(load(path), kPoints));
}

TEST(Save, OpenDescriptorsAreWrittenDirectly) {
  const Folder folder;
  const int file = ::open(folder.put("a", "").c_str(), O_WRONLY);
  save("/proc/self/fd/" + std::to_string(file), kPoints, as(Format::csv));
  ::close(file);
  EXPECT_EQ(bytes_of(folder.file("a")), "1,2,3\n4,5,6\n");
}

TEST(Save, RefusesTwoOutputsThatAreOneFile) {
  const Folder folder;
  const std::string path = folder.file("a.npy");
  const auto both = [&](const std::string& other) {
    return failure_of([&] { save_together({{path, {{"", kPoints}}, {}}, {other, {{"", kPoints}}, {}}}); });
  };
  const auto refused = [&](const std::string& other) {
    return invalid_argument("two outputs are one file: " + path + " and " + other);
  };
  std::filesystem::create_symlink(".", folder.file("folder"));
  const std::string spelled = folder.file("folder/.//a.npy");
  EXPECT_EQ(both(path), refused(path));
  EXPECT_EQ(both(spelled), refused(spelled));
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"folder"}));
  save(path, kPoints);
  const std::string link = folder.file("link.npy");
  std::filesystem::create_symlink("a.npy", link);
  EXPECT_EQ(both(link), refused(link));
  EXPECT_NO_THROW(save_together({{"/dev/null", {{"", kPoints}}, as(Format::npy)},  //
                                 {"/dev/null", {{"", kPoints}}, as(Format::npy)}}));
}

TEST(Save, AMappedFileCanBeReplaced) {
  const Folder folder;
  const std::string path = folder.file("a.npy");
  save(path, kPoints);
  const Array mapped = load(path);
  save(path, Array::from(std::vector<float>{9}));
  EXPECT_TRUE(same_array(mapped, kPoints));
}

TEST(Save, SeveralFilesOrNone) {
  const Folder folder;
  const std::string ids = folder.file("ids.npy");
  const std::string distances = folder.file("distances.bvecs");
  const Array fraction = Array::from(std::vector<float>{0.5}, 1, 1);
  EXPECT_EQ(failure_of([&] {
              save_together({{ids, {{"", kPoints}}, {}}, {distances, {{"", fraction}}, {}}});
            }),
            bad_data("row 0, column 0: 0.5 is not a value of uint8"));
  EXPECT_TRUE(folder.names().empty());
  save_together({{ids, {{"", kPoints}}, {}}, {distances, {{"", kPoints}}, {}}});
  EXPECT_EQ(folder.names().size(), 2U);
}

TEST(Save, TemporariesCanBeRemovedFromASignalHandler) {
  const Folder folder;
  OutputFile file(folder.file("a.npy"));
  file.write("half of it");
  ASSERT_EQ(folder.names().size(), 1U);
  EXPECT_NE(folder.names()[0], "a.npy");
  remove_temporaries();
  EXPECT_TRUE(folder.names().empty());
  file.finish();
  EXPECT_EQ(failure_of([&] { file.commit(); }),
            (Failure{ErrorCode::cannot_write, "cannot write " + folder.file("a.npy") + ": No such file or directory"}));
}

TEST(Save, AnUnfinishedFileIsRemoved) {
  const Folder folder;
  {
    OutputFile file(folder.file("a.npy"));
    file.write("half of it");
    file.finish();
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(Save, WritesToStandardOutput) {
  const Folder folder;
  const std::string path = folder.file("captured");
  const int kept = ::dup(STDOUT_FILENO);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ASSERT_GE(::dup2(file, STDOUT_FILENO), 0);
  save("-", kPoints, as(Format::csv));
  save_text("/dev/stdout", "more\n");
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  ::close(file);
  EXPECT_EQ(bytes_of(path), "1,2,3\n4,5,6\nmore\n");
}

TEST(Save, TextIsWrittenWhole) {
  const Folder folder;
  save_text(folder.file("plan.json"), "{}\n");
  EXPECT_EQ(bytes_of(folder.file("plan.json")), "{}\n");
  EXPECT_EQ(folder.names().size(), 1U);
}

// As the floats that hold them, so that they read back equal in either type.
TEST(Save, TextHasFloatsOf16BitsAsFloats) {
  const Folder folder;
  const Array halves = Array::from(std::vector<Float16>{Float16(0.1), Float16(-2), Float16(NAN)}, 1, 3);
  save(folder.file("a.csv"), halves);
  EXPECT_EQ(bytes_of(folder.file("a.csv")), "0.099975586,-2,nan\n");
  EXPECT_TRUE(same_array(load(folder.file("a.csv")).converted(ElementType::float16), halves));
  save(folder.file("a.json"), halves);
  EXPECT_EQ(bytes_of(folder.file("a.json")), "[[0.099975586,-2,null]]\n");
  save(folder.file("b.json"), Array::from(std::vector<BFloat16>{BFloat16(0.1)}));
  EXPECT_EQ(bytes_of(folder.file("b.json")), "[0.100097656]\n");
}

TEST(Json, IsJson) {
  const Folder folder;
  const std::string path = folder.file("a.json");
  save(path, {{"ids", Array::from(std::vector<std::int64_t>{1, -2, 9007199254740993, 4}, 2, 2)},
              {"a \"name\"", Array::from(std::vector<float>{0.1F, std::numeric_limits<float>::infinity()})},
              {"none", Array::from(std::vector<double>{}, 0, 3)}});
  const auto json = nlohmann::json::parse(bytes_of(path));
  EXPECT_EQ(json["ids"], (nlohmann::json{{1, -2}, {9007199254740993, 4}}));
  EXPECT_EQ(json["a \"name\""][0].get<float>(), 0.1F);
  EXPECT_TRUE(json["a \"name\""][1].is_null());
  EXPECT_TRUE(json["none"].empty());
  save(path, Array::from(std::vector<std::uint8_t>{1, 2}, 1, 2));
  EXPECT_EQ(bytes_of(path), "[[1,2]]\n");
}

}  // namespace
}  // namespace kith::io
