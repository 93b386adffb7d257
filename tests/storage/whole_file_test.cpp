#include "storage/whole_file.h"

#include "base/descriptor.h"
#include "content.h"
#include "kinds.h"

#include <fcntl.h>
#include <unistd.h>

namespace cohort {
namespace {

using Names = std::vector<std::string>;

class WholeFile : public EveryFileSystem {};
INSTANTIATE_TEST_SUITE_P(Kinds, WholeFile, testing::ValuesIn(kFileSystemKinds), kind_name);

TEST_P(WholeFile, IsReplacedAsOne) {
  for (const std::size_t before : kAwkwardSizes) {
    for (const std::size_t after : kAwkwardSizes) {
      ASSERT_TRUE(write_file_atomically(fs(), at("file"), bytes_of(letters(before, 'a'))));
      ASSERT_TRUE(write_file_atomically(fs(), at("file"), bytes_of(letters(after, 'k'))));
      EXPECT_EQ(content_of(fs(), at("file")), letters(after, 'k'));
    }
  }
  EXPECT_EQ(value_or_throw(fs().list(root() + "/")), Names{"file"});
}

TEST_P(WholeFile, IsReadUpToTheLimitAndNotBeyond) {
  for (const std::size_t size : kAwkwardSizes) {
    put(fs(), at("file"), letters(size));
    EXPECT_EQ(*read_file(fs(), at("file"), size), letters(size));
    EXPECT_EQ(*read_file(fs(), at("file"), ~std::uint64_t{0}), letters(size));
    if (size == 0) continue;
    EXPECT_EQ(code_name(read_file(fs(), at("file"), size - 1)), "usage");
  }
}

TEST_P(WholeFile, IsRefusedInWordsWhenItIsTooLarge) {
  put(fs(), at("file"), "abc");
  EXPECT_EQ(read_file(fs(), at("file"), 2).error().text(),
            "cannot read '" + at("file") +
                "': the file is larger than the limit of 2 B. Check that the path names the right file.");
}

TEST_P(WholeFile, IsNotWrittenWhereThereIsNoDirectory) {
  const Status written = write_file_atomically(fs(), at("absent/file"), bytes_of("a"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().text(), "cannot write '" + at("absent/file") + "': cannot open '" +
                                        at("absent/.file.tmp") + "' for writing: no such file or directory");
}

TEST_P(WholeFile, DoesNotReplaceADirectoryAndCleansUp) {
  ASSERT_TRUE(fs().make_directories(at("directory")));
  EXPECT_EQ(code_name(write_file_atomically(fs(), at("directory"), bytes_of("a"))), "io");
  EXPECT_EQ(value_or_throw(fs().list(root() + "/")), Names{"directory"});
}

TEST_P(WholeFile, OverwritesWhatACrashLeft) {
  put(fs(), at(".file.tmp"), letters(5000));
  ASSERT_TRUE(write_file_atomically(fs(), at("file"), bytes_of("a")));
  EXPECT_EQ(content_of(fs(), at("file")), "a");
  EXPECT_EQ(value_or_throw(fs().list(root() + "/")), Names{"file"});
}

TEST(WholeFileInMemory, MayHaveARelativePath) {
  MemoryFileSystem fs;
  ASSERT_TRUE(write_file_atomically(fs, "file", bytes_of("a")));
  fs.lose_unsynced();
  EXPECT_EQ(content_of(fs, "file"), "a");
}

TEST(WholeFileOfTheSystem, IsReadThoughItsSizeSaysZero) {
  LocalFileSystem fs;
  ASSERT_EQ(fs.info("/proc/self/status")->size_bytes, 0u);
  const auto status = read_file(fs, "/proc/self/status");
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(status->substr(0, 5), "Name:");
  EXPECT_EQ(status->back(), '\n');
  EXPECT_EQ(code_name(read_file(fs, "/proc/self/status", 10)), "usage");
}

// The kernel returns at most a page of this file per read(2), however large the buffer is.
TEST(WholeFileOfTheSystem, IsReadBeyondTheFirstPiece) {
  const Descriptor symbols(::open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
  if (!symbols.is_open()) GTEST_SKIP() << "this kernel shows no /proc/kallsyms";
  std::string first(std::size_t{1} << 20, ' ');
  const ssize_t count = ::pread(symbols.number(), first.data(), first.size(), 0);
  ASSERT_GT(count, 0);
  if (::pread(symbols.number(), first.data(), first.size(), count) == 0)
    GTEST_SKIP() << "/proc/kallsyms fits one read here";
  LocalFileSystem fs;
  EXPECT_GT(value_or_throw(read_file(fs, "/proc/kallsyms")).size(), static_cast<std::size_t>(count));
}

TEST(WholeFileOfTheSystem, IsRefusedBeforeMemoryIsTakenForIt) {
  const TemporaryDirectory directory;
  LocalFileSystem fs;
  const std::string path = directory.path() + "/hole";
  put(fs, path, "");
  ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 43), 0);
  EXPECT_EQ(code_name(read_file(fs, path)), "usage");
}

TEST(WholeFileOfTheSystem, WithoutEndIsRefused) {
  LocalFileSystem fs;
  EXPECT_EQ(code_name(read_file(fs, "/dev/zero", 100'000)), "usage");
}

}  // namespace
}  // namespace cohort
