#include "storage/file_system.h"

#include "content.h"
#include "kinds.h"

#include <array>
#include <thread>

namespace cohort {
namespace {

using Names = std::vector<std::string>;

INSTANTIATE_TEST_SUITE_P(Kinds, EveryFileSystem, testing::ValuesIn(kFileSystemKinds), kind_name);

TEST_P(EveryFileSystem, CreatesANewFileOnlyWhereNothingIs) {
  ASSERT_TRUE(fs().create_new(at("a")));
  EXPECT_EQ(code_name(fs().create_new(at("a"))), "already_exists");
  EXPECT_EQ(code_name(fs().create_new(root().empty() ? "/" : root())), "already_exists");
  EXPECT_EQ(code_name(fs().create_new(at("absent/a"))), "not_found");
}

TEST_P(EveryFileSystem, GivesBackWhatWasWritten) {
  for (const std::size_t size : kAwkwardSizes) {
    const std::string text = letters(size);
    put(fs(), at("file"), text);
    EXPECT_EQ(content_of(fs(), at("file")), text);
    const auto info = fs().info(at("file"));
    ASSERT_TRUE(info);
    EXPECT_EQ(info->kind, FileKind::kFile);
    EXPECT_EQ(info->size_bytes, size);
    const auto file = fs().open_read(at("file"));
    ASSERT_TRUE(file);
    EXPECT_EQ(value_or_throw((*file)->size_bytes()), size);
  }
}

TEST_P(EveryFileSystem, ReadsFromAnyOffset) {
  for (const std::size_t size : kAwkwardSizes) {
    const std::string text = letters(size);
    put(fs(), at("file"), text);
    const auto file = fs().open_read(at("file"));
    ASSERT_TRUE(file);
    for (const std::size_t offset : kAwkwardSizes) {
      for (const std::size_t length : {0ul, 1ul, 4096ul, 5000ul}) {
        std::string into(length, '-');
        const auto count = (*file)->read_at(offset, std::as_writable_bytes(std::span(into)));
        ASSERT_TRUE(count);
        const std::string expected = offset < size ? text.substr(offset, length) : "";
        EXPECT_EQ(*count, expected.size());
        EXPECT_EQ(into, expected + std::string(length - expected.size(), '-'));
      }
    }
  }
}

TEST_P(EveryFileSystem, ReadsNothingFarBeyondTheEnd) {
  put(fs(), at("file"), "abc");
  const auto file = fs().open_read(at("file"));
  ASSERT_TRUE(file);
  std::array<std::byte, 8> into{};
  for (const int bit : {20, 40, 62, 63})
    EXPECT_EQ(value_or_throw((*file)->read_at(std::uint64_t{1} << bit, into)), 0u) << bit;
  EXPECT_EQ(value_or_throw((*file)->read_at((std::uint64_t{1} << 63) - 1, into)), 0u);
  EXPECT_EQ(value_or_throw((*file)->read_at(~std::uint64_t{0}, into)), 0u);
}

TEST_P(EveryFileSystem, AppendsPieceAfterPiece) {
  std::string expected;
  for (const auto open : {&FileSystem::create, &FileSystem::open_append, &FileSystem::open_append}) {
    const auto file = (fs().*open)(at("file"));
    ASSERT_TRUE(file);
    for (const std::size_t size : kAwkwardSizes) {
      ASSERT_TRUE((*file)->append(bytes_of(letters(size))));
      expected += letters(size);
    }
    EXPECT_TRUE((*file)->sync());
    EXPECT_TRUE((*file)->close());
  }
  EXPECT_EQ(content_of(fs(), at("file")), expected);
}

TEST_P(EveryFileSystem, TwoWritersOfOneFileBothAddToItsEnd) {
  const auto first = fs().create(at("file"));
  const auto second = fs().open_append(at("file"));
  ASSERT_TRUE(first && second);
  ASSERT_TRUE((*first)->append(bytes_of("a")));
  ASSERT_TRUE((*second)->append(bytes_of("b")));
  ASSERT_TRUE((*first)->append(bytes_of("c")));
  EXPECT_EQ(content_of(fs(), at("file")), "abc");
}

TEST_P(EveryFileSystem, CreateEmptiesWhatIsThere) {
  put(fs(), at("file"), "long ago");
  ASSERT_TRUE(fs().create(at("file")));
  EXPECT_EQ(content_of(fs(), at("file")), "");
}

TEST_P(EveryFileSystem, ClosesOnceAndTakesNothingAfterwards) {
  const auto file = fs().create(at("file"));
  ASSERT_TRUE(file);
  EXPECT_TRUE((*file)->close());
  EXPECT_TRUE((*file)->close());
  EXPECT_THROW((void)(*file)->append(bytes_of("a")), BugError);
  EXPECT_THROW((void)(*file)->sync(), BugError);
}

TEST_P(EveryFileSystem, RenamingReplacesTheOldFile) {
  put(fs(), at("old"), letters(4097, 'a'));
  put(fs(), at("new"), letters(4096, 'k'));
  const auto reader = fs().open_read(at("old"));
  ASSERT_TRUE(reader);
  ASSERT_TRUE(fs().rename(at("new"), at("old")));
  EXPECT_EQ(content_of(fs(), at("old")), letters(4096, 'k'));
  EXPECT_EQ(value_or_throw(fs().list(root() + "/")), Names{"old"});
  EXPECT_EQ(value_or_throw((*reader)->size_bytes()), 4097u);  // a reader that had it open keeps the old file
}

TEST_P(EveryFileSystem, RenamesDirectoriesWithTheirContent) {
  ASSERT_TRUE(fs().make_directories(at("a/b")));
  put(fs(), at("a/b/file"), "text");
  ASSERT_TRUE(fs().make_directories(at("c")));
  ASSERT_TRUE(fs().rename(at("a/b"), at("c/d")));
  EXPECT_EQ(content_of(fs(), at("c/d/file")), "text");
  ASSERT_TRUE(fs().rename(at("c"), at("a")));  // an empty directory is replaced
  EXPECT_EQ(content_of(fs(), at("a/d/file")), "text");
  EXPECT_EQ(value_or_throw(fs().list(root() + "/")), Names{"a"});
}

TEST_P(EveryFileSystem, RenamingToItselfChangesNothing) {
  put(fs(), at("file"), "text");
  EXPECT_TRUE(fs().rename(at("file"), at("file")));
  EXPECT_EQ(content_of(fs(), at("file")), "text");
}

TEST_P(EveryFileSystem, RefusesRenamesThatWouldLoseSomething) {
  ASSERT_TRUE(fs().make_directories(at("full")));
  put(fs(), at("full/file"), "inside");
  ASSERT_TRUE(fs().make_directories(at("empty")));
  put(fs(), at("file"), "text");
  EXPECT_EQ(code_name(fs().rename(at("file"), at("empty"))), "io");
  EXPECT_EQ(code_name(fs().rename(at("empty"), at("file"))), "io");
  EXPECT_EQ(code_name(fs().rename(at("empty"), at("full"))), "io");
  EXPECT_EQ(code_name(fs().rename(at("full"), at("full/inner"))), "io");
  EXPECT_EQ(code_name(fs().rename(at("absent"), at("file"))), "not_found");
  EXPECT_EQ(code_name(fs().rename(at("file"), at("absent/file"))), "not_found");
  EXPECT_EQ(value_or_throw(fs().list(root() + "/")), (Names{"empty", "file", "full"}));
  EXPECT_EQ(content_of(fs(), at("file")), "text");
  EXPECT_EQ(content_of(fs(), at("full/file")), "inside");
}

TEST_P(EveryFileSystem, ListsNamesInTheOrderOfTheirBytes) {
  EXPECT_EQ(value_or_throw(fs().list(root() + "/")), Names{});
  for (const char* name : {"b", "10", "B", "2", ".hidden", "\xc3\xa9"}) put(fs(), at(name), "");
  ASSERT_TRUE(fs().make_directories(at("a/inner")));
  EXPECT_EQ(value_or_throw(fs().list(root() + "/")),
            (Names{".hidden", "10", "2", "B", "a", "b", "\xc3\xa9"}));
}

TEST_P(EveryFileSystem, MakesDirectoriesOnceAndForAll) {
  EXPECT_TRUE(fs().make_directories(at("a/b/c")));
  EXPECT_TRUE(fs().make_directories(at("a/b/c/")));
  EXPECT_TRUE(fs().make_directories("/"));
  const auto info = fs().info(at("a/b"));
  ASSERT_TRUE(info);
  EXPECT_EQ(info->kind, FileKind::kDirectory);
  EXPECT_EQ(info->size_bytes, 0u);
  EXPECT_EQ(value_or_throw(fs().list(at("a/b"))), Names{"c"});
  EXPECT_TRUE(fs().sync_directory(at("a/b")));
}

TEST_P(EveryFileSystem, RemovesFilesAndEmptyDirectories) {
  ASSERT_TRUE(fs().make_directories(at("a")));
  put(fs(), at("a/file"), "text");
  EXPECT_EQ(code_name(fs().remove(at("a"))), "io");
  EXPECT_TRUE(fs().remove(at("a/file")));
  EXPECT_FALSE(value_or_throw(fs().exists(at("a/file"))));
  EXPECT_TRUE(fs().remove(at("a")));
  EXPECT_FALSE(value_or_throw(fs().exists(at("a"))));
  EXPECT_EQ(code_name(fs().remove(at("a"))), "not_found");
}

TEST_P(EveryFileSystem, SaysNotFoundForWhatIsAbsent) {
  for (const std::string& path : {at("absent"), at("absent/too"), std::string()}) {
    EXPECT_EQ(value_or_throw(fs().exists(path)), false);
    EXPECT_EQ(code_name(fs().open_read(path)), "not_found");
    EXPECT_EQ(code_name(fs().info(path)), "not_found");
    EXPECT_EQ(code_name(fs().list(path)), "not_found");
    EXPECT_EQ(code_name(fs().remove(path)), "not_found");
    EXPECT_EQ(code_name(fs().rename(path, at("b"))), "not_found");
    EXPECT_EQ(code_name(fs().sync_directory(path)), "not_found");
    EXPECT_EQ(code_name(fs().check_writable(path)), "not_found");
  }
  EXPECT_EQ(code_name(fs().create(at("absent/file"))), "not_found");
  EXPECT_EQ(code_name(fs().open_append(at("absent/file"))), "not_found");
  EXPECT_EQ(code_name(fs().create("")), "not_found");
  EXPECT_EQ(code_name(fs().make_directories("")), "not_found");
}

TEST_P(EveryFileSystem, RefusesADirectoryWhereAFileIsNeeded) {
  ASSERT_TRUE(fs().make_directories(at("directory")));
  for (const std::string& path : {at("directory"), std::string("/")}) {
    EXPECT_EQ(code_name(fs().open_read(path)), "io");
    EXPECT_EQ(code_name(fs().create(path)), "io");
    EXPECT_EQ(code_name(fs().open_append(path)), "io");
  }
}

TEST_P(EveryFileSystem, RefusesAFileWhereADirectoryIsNeeded) {
  put(fs(), at("file"), "text");
  EXPECT_EQ(code_name(fs().list(at("file"))), "io");
  EXPECT_EQ(code_name(fs().sync_directory(at("file"))), "io");
  EXPECT_EQ(code_name(fs().open_read(at("file/inner"))), "io");
  EXPECT_EQ(code_name(fs().create(at("file/inner"))), "io");
  EXPECT_EQ(code_name(fs().info(at("file/inner"))), "io");
  EXPECT_EQ(code_name(fs().remove(at("file/inner"))), "io");
  EXPECT_EQ(code_name(fs().make_directories(at("file"))), "already_exists");
  EXPECT_FALSE(value_or_throw(fs().exists(at("file/inner"))));
  EXPECT_EQ(content_of(fs(), at("file")), "text");
}

TEST_P(EveryFileSystem, KeepsAFileThatIsOpenWhenItsNameGoes) {
  put(fs(), at("file"), "text");
  const auto reader = fs().open_read(at("file"));
  const auto writer = fs().open_append(at("file"));
  ASSERT_TRUE(reader && writer);
  ASSERT_TRUE(fs().remove(at("file")));
  EXPECT_TRUE((*writer)->append(bytes_of("!")));
  EXPECT_EQ(value_or_throw((*reader)->size_bytes()), 5u);
  EXPECT_FALSE(value_or_throw(fs().exists(at("file"))));
}

TEST_P(EveryFileSystem, TellsWhatItCouldNotDo) {
  EXPECT_EQ(fs().open_read(at("a")).error().text(),
            "cannot open '" + at("a") + "' for reading: no such file or directory");
  EXPECT_EQ(fs().list(at("a")).error().text(), "cannot list '" + at("a") + "': no such file or directory");
  EXPECT_EQ(fs().rename(at("a"), at("b")).error().text(),
            "cannot rename '" + at("a") + "' to '" + at("b") + "': no such file or directory");
  EXPECT_EQ(fs().create(root() + "/").error().text(),
            "cannot open '" + root() + "/' for writing: is a directory");
}

TEST_P(EveryFileSystem, KnowsWhereItCanWriteAndCreatesNothing) {
  put(fs(), at("file"), "text");
  const auto before = value_or_throw(fs().list(root() + "/"));
  EXPECT_TRUE(fs().check_writable(root() + "/"));
  EXPECT_EQ(code_name(fs().check_writable(at("file"))), "io");
  EXPECT_EQ(value_or_throw(fs().list(root() + "/")), before);
}

TEST_P(EveryFileSystem, ServesSeveralThreads) {
  put(fs(), at("shared"), letters(4097));
  const auto shared = fs().open_read(at("shared"));
  ASSERT_TRUE(shared);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        const std::string own = at(std::to_string(i));
        for (int round = 0; round < 20; ++round) {
          put(fs(), own + ".new", letters(4097, static_cast<char>('a' + i)));
          EXPECT_TRUE(fs().rename(own + ".new", own));
          std::string into(4097, ' ');
          EXPECT_EQ(value_or_throw((*shared)->read_at(0, std::as_writable_bytes(std::span(into)))), 4097u);
          EXPECT_EQ(into, letters(4097));
          EXPECT_TRUE(fs().list(root() + "/"));
        }
      });
    }
  }
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(content_of(fs(), at(std::to_string(i))), letters(4097, static_cast<char>('a' + i)));
}

}  // namespace
}  // namespace cohort
