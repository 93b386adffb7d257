#include "state/run_directory.h"

#include "storage/content.h"
#include "storage/faulty_file_system.h"
#include "storage/memory_file_system.h"
#include "storage/path.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

std::string in_run(std::string_view name) {
  return storage::joined("runs/job", name);
}

using Names = std::vector<std::string>;
constexpr std::string_view kResults[] = {kBestModel, kLastModel, "steps.jsonl"};

Status prepare(FileSystem& fs) {
  return prepare_run_directory(fs, "runs/job", kResults);
}

TEST(RunDirectory, IsCreatedEmpty) {
  MemoryFileSystem fs;
  ASSERT_TRUE(prepare(fs));
  EXPECT_EQ(value_or_throw(fs.list("runs/job")), Names{});
}

TEST(RunDirectory, KeepsTheResultsOfEveryEarlierRunTogether) {
  MemoryFileSystem fs;
  for (const std::string run : {"one", "two", "three"}) {
    ASSERT_TRUE(prepare(fs));
    for (const std::string_view name : kResults) put(fs, in_run(name), run + std::string(name));
    put(fs, "runs/job/notes.txt", run);
  }
  ASSERT_TRUE(prepare(fs));
  EXPECT_EQ(value_or_throw(fs.list("runs/job")), (Names{"earlier-1", "earlier-2", "earlier-3", "notes.txt"}));
  for (const std::string_view name : kResults) {
    EXPECT_EQ(content_of(fs, in_run("earlier-1/" + std::string(name))), "one" + std::string(name));
    EXPECT_EQ(content_of(fs, in_run("earlier-2/" + std::string(name))), "two" + std::string(name));
    EXPECT_EQ(content_of(fs, in_run("earlier-3/" + std::string(name))), "three" + std::string(name));
  }
}

TEST(RunDirectory, NumbersGoOnAfterTheLargest) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.make_directories("runs/job/earlier-7"));
  ASSERT_TRUE(fs.make_directories("runs/job/earlier-9x"));
  put(fs, "runs/job/earlier-best.safetensors", "of another version");
  put(fs, in_run(kLastModel), "last");
  ASSERT_TRUE(prepare(fs));
  EXPECT_EQ(content_of(fs, in_run("earlier-8/" + std::string(kLastModel))), "last");
  EXPECT_EQ(content_of(fs, "runs/job/earlier-best.safetensors"), "of another version");
}

TEST(RunDirectory, LosesTheTemporaryFilesOfAKilledWriter) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.make_directories("runs/job"));
  put(fs, storage::temporary_of(in_run(kBestModel)), "half");
  put(fs, storage::temporary_of(in_run(kLastModel)), "half");
  put(fs, "runs/job/.write-check.tmp", "half");
  put(fs, "runs/job/.mine.tmp", "not ours");
  ASSERT_TRUE(prepare(fs));
  EXPECT_EQ(value_or_throw(fs.list("runs/job")), Names{".mine.tmp"});
}

TEST(RunDirectory, NamesTheFolderThatCannotBeUsed) {
  MemoryFileSystem fs;
  put(fs, "runs", "a file");
  const Status status = prepare(fs);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().text().find("the run directory 'runs/job' cannot be used"), std::string::npos)
      << status.error().text();
  MemoryFileSystem full(0);
  EXPECT_EQ(code_name(prepare(full)), "disk_full");
}

TEST(CheckRunDirectory, AcceptsFoldersThatAreThereOrCanBeMadeAndChangesNothing) {
  MemoryFileSystem fs;
  for (const char* const directory : {"runs/job", "job", "/a/b/c/d"}) {
    EXPECT_TRUE(check_run_directory(fs, directory)) << directory;
  }
  EXPECT_EQ(value_or_throw(fs.list(".")), Names{});
  ASSERT_TRUE(prepare(fs));
  put(fs, in_run(kBestModel), "model");
  EXPECT_TRUE(check_run_directory(fs, "runs/job"));
  EXPECT_EQ(value_or_throw(fs.list("runs/job")), Names{std::string(kBestModel)});
}

TEST(CheckRunDirectory, NamesTheFileThatIsInTheWay) {
  MemoryFileSystem fs;
  put(fs, "runs", "a file");
  for (const char* const directory : {"runs", "runs/job", "runs/job/deeper"}) {
    const Status status = check_run_directory(fs, directory);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().text(),
              std::string("the run directory '") + directory +
                  "' cannot be used: 'runs' is a file, expected a folder. Move the file away, or choose "
                  "another folder.");
  }
}

TEST(CheckRunDirectory, NamesAFolderThatCannotBeWrittenTo) {
  MemoryFileSystem disk;
  ASSERT_TRUE(disk.make_directories("runs/job"));
  constexpr std::uint64_t kCheckOfWriting = 3;  // after exists() and info()
  FaultyFileSystem fs(disk, {.fail_call = kCheckOfWriting, .code = ErrorCode::kPermission});
  const Status status = check_run_directory(fs, "runs/job");
  EXPECT_EQ(code_name(status), "permission");
  EXPECT_EQ(fs.calls(), kCheckOfWriting);
}

// Whichever call fails, no result is lost.
TEST(RunDirectory, AFailureLosesNoResult) {
  for (std::uint64_t call = 1;; ++call) {
    MemoryFileSystem disk;
    ASSERT_TRUE(disk.make_directories("runs/job"));
    for (const std::string_view name : kResults) put(disk, in_run(name), name);
    FaultyFileSystem fs(disk, {.fail_call = call});
    const bool ready = prepare(fs).has_value();
    for (const std::string_view name : kResults) {
      const std::string moved = content_of(disk, in_run("earlier-1/" + std::string(name)));
      EXPECT_TRUE(moved == name || content_of(disk, in_run(name)) == name) << name << " at " << call;
    }
    if (fs.calls() < call) {
      EXPECT_TRUE(ready);
      return;
    }
  }
}

}  // namespace
}  // namespace cohort
