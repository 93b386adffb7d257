#include "storage/memory_file_system.h"

#include "content.h"

#include <set>

namespace cohort {
namespace {

using Names = std::vector<std::string>;

TEST(PowerCut, TakesContentThatWasNotSynced) {
  MemoryFileSystem fs;
  put_synced(fs, ".", "file", "kept");
  const auto file = fs.open_append("file");
  ASSERT_TRUE((*file)->append(bytes_of(" and synced")));
  ASSERT_TRUE((*file)->sync());
  ASSERT_TRUE((*file)->append(bytes_of(" and lost")));
  fs.lose_unsynced();
  EXPECT_EQ(content_of(fs, "file"), "kept and synced");
}

TEST(PowerCut, TakesNamesThatWereNotSynced) {
  MemoryFileSystem fs;
  const auto file = fs.create("file");
  ASSERT_TRUE((*file)->append(bytes_of("text")));
  ASSERT_TRUE((*file)->sync());
  fs.lose_unsynced();
  EXPECT_EQ(value_or_throw(fs.list(".")), Names{});
}

TEST(PowerCut, LeavesAnEmptyFileWhereOnlyTheNameWasSynced) {
  MemoryFileSystem fs;
  put(fs, "file", "text");
  ASSERT_TRUE(fs.sync_directory("."));
  fs.lose_unsynced();
  EXPECT_EQ(content_of(fs, "file"), "");
}

TEST(PowerCut, UndoesRenamesAndRemovals) {
  MemoryFileSystem fs;
  put_synced(fs, ".", "a", "first");
  put_synced(fs, ".", "b", "second");
  put_synced(fs, ".", "c", "third");
  ASSERT_TRUE(fs.rename("a", "b"));
  ASSERT_TRUE(fs.remove("c"));
  fs.lose_unsynced();
  EXPECT_EQ(content_of(fs, "a"), "first");
  EXPECT_EQ(content_of(fs, "b"), "second");
  EXPECT_EQ(content_of(fs, "c"), "third");

  ASSERT_TRUE(fs.rename("a", "b"));
  ASSERT_TRUE(fs.remove("c"));
  ASSERT_TRUE(fs.sync_directory("."));
  fs.lose_unsynced();
  EXPECT_EQ(value_or_throw(fs.list(".")), Names{"b"});
  EXPECT_EQ(content_of(fs, "b"), "first");
}

TEST(PowerCut, UndoesTheEmptyingOfAFile) {
  MemoryFileSystem fs;
  put_synced(fs, ".", "file", "old");
  put(fs, "file", "new and long");
  put(fs, "file", "newest");
  fs.lose_unsynced();
  EXPECT_EQ(content_of(fs, "file"), "old");
}

TEST(PowerCut, KnowsEveryDirectoryForItself) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.make_directories("a/b/c"));
  ASSERT_TRUE(fs.sync_directory("a"));
  fs.lose_unsynced();
  EXPECT_EQ(value_or_throw(fs.list("/")), Names{});
  ASSERT_TRUE(fs.make_directories("a/b/c"));
  ASSERT_TRUE(fs.sync_directory("/"));
  ASSERT_TRUE(fs.sync_directory("a"));
  fs.lose_unsynced();
  EXPECT_EQ(value_or_throw(fs.list("a")), Names{"b"});
  EXPECT_EQ(value_or_throw(fs.list("a/b")), Names{});
}

TEST(PowerCut, FindsADirectoryOnceThatWasHalfMoved) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.make_directories("x/y"));
  ASSERT_TRUE(fs.sync_directory("/"));
  ASSERT_TRUE(fs.sync_directory("x"));
  ASSERT_TRUE(fs.rename("x/y", "z"));
  ASSERT_TRUE(fs.sync_directory("/"));  // and not x
  fs.lose_unsynced();
  EXPECT_EQ(fs.list("x")->size() + fs.list("/")->size(), 2u);
}

TEST(PowerCut, ChangesNothingThatWasSynced) {
  MemoryFileSystem fs;
  put_synced(fs, ".", "file", "text");
  for (std::uint64_t seed = 0; seed < 10; ++seed) fs.lose_unsynced(seed);
  EXPECT_EQ(content_of(fs, "file"), "text");
}

TEST(TornPowerCut, KeepsAnyPrefixOfWhatWasNotSynced) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    MemoryFileSystem fs;
    put_synced(fs, ".", "file", "12");
    ASSERT_TRUE((*fs.open_append("file"))->append(bytes_of("345")));
    fs.lose_unsynced(seed);
    seen.insert(content_of(fs, "file"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"12", "123", "1234", "12345"}));
}

TEST(TornPowerCut, MayOrMayNotHaveEmptiedAFile) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    MemoryFileSystem fs;
    put_synced(fs, ".", "file", "old");
    put(fs, "file", "ab");
    fs.lose_unsynced(seed);
    seen.insert(content_of(fs, "file"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"old", "", "a", "ab"}));
}

TEST(TornPowerCut, IsTheSameForTheSameSeed) {
  const auto after = [](std::uint64_t seed) {
    MemoryFileSystem fs;
    for (const char* name : {"a", "b", "c"}) put(fs, name, letters(1000));
    EXPECT_TRUE(fs.sync_directory("."));
    fs.lose_unsynced(seed);
    return content_of(fs, "a") + "|" + content_of(fs, "b") + "|" + content_of(fs, "c");
  };
  EXPECT_EQ(after(1), after(1));
  EXPECT_NE(after(1), after(2));
}

TEST(MemoryCapacity, FillsToTheLastByte) {
  MemoryFileSystem fs(10);
  put(fs, "a", "123456");
  EXPECT_EQ(fs.free_bytes(), 4u);
  const auto file = fs.create("b");
  const Status full = (*file)->append(bytes_of("abcdef"));
  EXPECT_EQ(code_name(full), "disk_full");
  EXPECT_EQ(full.error().message(), "cannot write to 'b': no space left on device");
  EXPECT_EQ(content_of(fs, "b"), "abcd");
  EXPECT_EQ(fs.free_bytes(), 0u);
}

TEST(MemoryCapacity, IsGivenBack) {
  MemoryFileSystem fs(10);
  put(fs, "a", "1234567890");
  ASSERT_TRUE(fs.create("a"));
  EXPECT_EQ(fs.free_bytes(), 10u);
  put(fs, "a", "1234567890");
  ASSERT_TRUE(fs.remove("a"));
  EXPECT_EQ(fs.free_bytes(), 10u);
}

TEST(MemoryPaths, AreOneWhetherAbsoluteOrNot) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.make_directories("/a/b"));
  put(fs, "a/b/../file", "text");
  EXPECT_EQ(content_of(fs, "/a/./file"), "text");
}

}  // namespace
}  // namespace cohort
