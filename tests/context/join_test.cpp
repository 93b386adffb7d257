#include "comm/shared_memory/arena.h"
#include "world/membership.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

// Joins as the only rank, without a launcher.
Result<std::unique_ptr<world::Membership>> join_alone(const LinkSettings& environment,
                                                      const LinkSettings& code) {
  static const std::unique_ptr<Arena> arena = value_or_throw(Arena::create(std::size_t{16} << 20));
  LaunchFacts facts;
  facts.links.settings = environment;
  return world::Membership::join(facts, *arena, {.links = code});
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
    const world::Membership::Groups groups = (*joined)->take_groups();
    EXPECT_EQ(groups.own->traits().kind, "shared memory");
    EXPECT_EQ(groups.everyone, nullptr);
  }
}

std::string refusal(const LinkSettings& code) {
  const auto joined = join_alone({}, code);
  if (joined) return "accepted";
  EXPECT_EQ(joined.error().code(), ErrorCode::kUsage);
  return joined.error().text();
}

TEST(Join, ZeroIsNoChunkAndNoNumberOfSockets) {
  EXPECT_EQ(refusal({.chunk_bytes = 0}),
            "chunk_bytes is 0, expected 4096 or more. Leave LinkSettings::chunk_bytes unset for the length "
            "that is predicted to be fastest.");
  EXPECT_EQ(
      refusal({.sockets = 0}),
      "number of sockets between two ranks is 0, expected 1 to 8. Leave LinkSettings::sockets unset for "
      "the number that is measured to be faster.");
  EXPECT_NE(refusal({.chunk_bytes = 4095}), "accepted");
  EXPECT_NE(refusal({.sockets = 9}), "accepted");
  EXPECT_EQ(refusal({.algorithm = CollectiveAlgorithm::kRing,
                     .chunk_bytes = 4096,
                     .wire = WireDType::kBFloat16,
                     .sockets = 8}),
            "accepted");
}

}  // namespace
}  // namespace cohort::test
