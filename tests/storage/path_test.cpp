#include "storage/path.h"

#include "storage/memory_tree.h"

#include <gtest/gtest.h>

namespace cohort::storage {
namespace {

using Names = std::vector<std::string>;

TEST(Path, SplitsAtTheLastSlash) {
  EXPECT_EQ(directory_of("a/b/c"), "a/b");
  EXPECT_EQ(name_of("a/b/c"), "c");
  EXPECT_EQ(directory_of("/a"), "/");
  EXPECT_EQ(name_of("/a"), "a");
  EXPECT_EQ(directory_of("a"), ".");
  EXPECT_EQ(name_of("a"), "a");
}

TEST(Path, IsJoinedAgain) {
  for (const char* path : {"a/b/c", "/a", "./a", "/a/b"})
    EXPECT_EQ(joined(directory_of(path), name_of(path)), path);
}

TEST(Path, ComponentsLeadDownFromTheRoot) {
  EXPECT_EQ(components("/a/b"), (Names{"a", "b"}));
  EXPECT_EQ(components("a//./b/"), (Names{"a", "b"}));
  EXPECT_EQ(components("a/../b/c/.."), (Names{"b"}));
  EXPECT_EQ(components("../../a"), (Names{"a"}));
  EXPECT_EQ(components("/"), Names{});
  EXPECT_EQ(components("."), Names{});
  EXPECT_EQ(components(""), Names{});
}

}  // namespace
}  // namespace cohort::storage
