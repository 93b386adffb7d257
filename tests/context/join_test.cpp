#include "world/join.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

// Joins as the only rank, without a launcher.
Result<world::World> join_alone(const LinkSettings& environment, const LinkSettings& code) {
  static const std::unique_ptr<Arena> arena = value_or_throw(Arena::create(std::size_t{16} << 20));
  LaunchFacts facts;
  facts.links.settings = environment;
  return world::join(facts, *arena, {.links = code});
}

TEST(Join, MpiWithoutAnMpiLauncherIsAMistakeWithARemedy) {
  const auto joined = join_alone({.backend = Backend::kMpi}, {});
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code(), ErrorCode::kUsage);
  EXPECT_NE(joined.error().remedy().find("mpirun"), std::string::npos) << joined.error().text();
}

TEST(Join, CodeWinsOverTheEnvironment) {
  EXPECT_TRUE(join_alone({.backend = Backend::kMpi}, {.backend = Backend::kAuto}));
  EXPECT_FALSE(join_alone({.backend = Backend::kAuto}, {.backend = Backend::kMpi}));
}

TEST(Join, OnOneHostEveryBackendButMpiIsSharedMemory) {
  for (const Backend backend : {Backend::kAuto, Backend::kTcp, Backend::kUcx}) {
    const auto joined = join_alone({.backend = backend}, {});
    ASSERT_TRUE(joined) << joined.error().text();
    EXPECT_EQ(joined->group->traits().kind, "shared memory");
    EXPECT_FALSE(joined->shrink);
  }
}

TEST(Join, AnAlgorithmThatThereIsNotIsNamedWithThoseThatThereAre) {
  const auto joined = join_alone({.algorithm = "steam"}, {});
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code(), ErrorCode::kUsage);
  EXPECT_NE(joined.error().text().find("steam"), std::string::npos);
  EXPECT_NE(joined.error().remedy().find("ring"), std::string::npos);
  EXPECT_TRUE(join_alone({.algorithm = "steam"}, {.algorithm = "ring"}));
}

}  // namespace
}  // namespace cohort::test
