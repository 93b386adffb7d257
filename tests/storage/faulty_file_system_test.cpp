#include "storage/faulty_file_system.h"

#include "content.h"

#include <set>

namespace cohort {
namespace {

TEST(FaultyFileSystem, CountsTheCallsOfAllMethods) {
  MemoryFileSystem disk;
  FaultyFileSystem fs(disk);
  EXPECT_TRUE(fs.make_directories("a"));
  EXPECT_TRUE(fs.sync_directory("a"));
  EXPECT_FALSE(value_or_throw(fs.exists("b")));
  EXPECT_FALSE(fs.info("b"));
  EXPECT_TRUE(fs.list("a"));
  EXPECT_TRUE(fs.check_writable("a"));
  EXPECT_EQ(fs.calls(), 6u);
  {
    const auto file = fs.create("b");
    EXPECT_TRUE((*file)->append(bytes_of("text")));
    EXPECT_TRUE((*file)->sync());
    EXPECT_TRUE((*file)->close());
  }
  EXPECT_EQ(fs.calls(), 10u);
  {
    const auto file = fs.open_read("b");
    EXPECT_TRUE((*file)->size_bytes());
    EXPECT_TRUE((*file)->read_at(0, {}));
  }
  EXPECT_TRUE(fs.open_append("b"));
  EXPECT_TRUE(fs.rename("b", "c"));
  EXPECT_TRUE(fs.remove("c"));
  EXPECT_EQ(fs.calls(), 16u);
}

TEST(FaultyFileSystem, FailsTheChosenCallOnly) {
  MemoryFileSystem disk;
  FaultyFileSystem fs(disk, {.fail_call = 2, .code = ErrorCode::kPermission});
  EXPECT_TRUE(fs.make_directories("a"));
  const Status failed = fs.make_directories("b");
  EXPECT_EQ(code_name(failed), "permission");
  EXPECT_EQ(failed.error().text(), "file system call 2 fails on purpose");
  EXPECT_FALSE(value_or_throw(disk.exists("b")));
  EXPECT_TRUE(fs.make_directories("b"));
}

TEST(FaultyFileSystem, AFailingAppendMayAddAPrefix) {
  const auto left = [](FailedAppend append, std::uint64_t seed) {
    MemoryFileSystem disk;
    FaultyFileSystem fs(disk, {.fail_call = 2, .append = append, .seed = seed});
    const auto file = fs.create("file");
    EXPECT_EQ(code_name((*file)->append(bytes_of("abc"))), "io");
    return content_of(disk, "file");
  };
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    seen.insert(left(FailedAppend::kAddsPrefix, seed));
    EXPECT_EQ(left(FailedAppend::kAddsNothing, seed), "");
  }
  EXPECT_EQ(seen, (std::set<std::string>{"", "a", "ab", "abc"}));
}

TEST(FaultyFileSystem, AfterACrashEveryCallIsAbortedUntilTheRestart) {
  MemoryFileSystem disk;
  FaultyFileSystem fs(disk);
  put_synced(fs, ".", "file", "text");
  const auto reader = fs.open_read("file");
  const auto writer = fs.open_append("file");
  fs.crash();
  EXPECT_EQ(code_name(fs.exists("file")), "aborted");
  EXPECT_EQ(code_name(fs.make_directories("a")), "aborted");
  EXPECT_EQ(code_name((*reader)->size_bytes()), "aborted");
  EXPECT_EQ(code_name((*writer)->append(bytes_of("!"))), "aborted");
  fs.restart();
  EXPECT_EQ(content_of(fs, "file"), "text");
}

TEST(FaultyFileSystem, ACrashLosesWhatWasNotSynced) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    MemoryFileSystem disk;
    FaultyFileSystem fs(disk, {.seed = seed});
    put_synced(fs, ".", "file", "ab");
    EXPECT_TRUE((*fs.open_append("file"))->append(bytes_of("cd")));
    put(fs, "unsynced", "text");
    fs.crash();
    fs.restart();
    EXPECT_EQ(value_or_throw(fs.list(".")), std::vector<std::string>{"file"});
    seen.insert(content_of(fs, "file"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"ab", "abc", "abcd"}));
}

TEST(FaultyFileSystem, FilesFromBeforeACrashAreStaleForGood) {
  MemoryFileSystem disk;
  FaultyFileSystem fs(disk);
  put_synced(fs, ".", "file", "text");
  const auto reader = fs.open_read("file");
  const auto writer = fs.open_append("file");
  fs.crash();
  fs.restart();
  EXPECT_EQ(code_name((*reader)->size_bytes()), "stale");
  EXPECT_EQ(code_name((*reader)->read_at(0, {})), "stale");
  EXPECT_EQ(code_name((*writer)->append(bytes_of("!"))), "stale");
  EXPECT_EQ(code_name((*writer)->sync()), "stale");
  EXPECT_EQ(code_name((*writer)->close()), "stale");
  EXPECT_EQ(content_of(fs, "file"), "text");
  EXPECT_TRUE((*fs.open_append("file"))->append(bytes_of("!")));
  EXPECT_EQ(content_of(fs, "file"), "text!");
}

TEST(FaultyFileSystem, CrashesAtTheChosenCall) {
  MemoryFileSystem disk;
  FaultyFileSystem fs(disk, {.crash_call = 3});
  EXPECT_TRUE(fs.make_directories("kept"));
  EXPECT_TRUE(fs.sync_directory("/"));
  EXPECT_EQ(code_name(fs.make_directories("never")), "aborted");
  EXPECT_EQ(code_name(fs.exists("kept")), "aborted");
  fs.restart();
  EXPECT_EQ(value_or_throw(fs.list("/")), std::vector<std::string>{"kept"});
}

}  // namespace
}  // namespace cohort
