// The groups by purpose, on one host, on hosts with equally many ranks, and on others.

#include "reduce/lanes.h"
#include "reduce/reducing.h"

namespace cohort::test {
namespace {

/// The groups that a rank is expected to have.
struct Expected {
  int near = 0;  ///< ranks; 0: none
  int across = 0;
  int shard = 0;
};

Status compare(const Seat& seat, const Company& groups, const Expected& expected) {
  const int near = groups.near() != nullptr ? groups.near()->size() : 0;
  const int across = groups.across() != nullptr ? groups.across()->size() : 0;
  if (near == expected.near && across == expected.across && groups.shard() == expected.shard &&
      groups.all().size() == seat.size() && groups.all().rank() == seat.index() &&
      groups.is_on_one_host() == (across == 0)) {
    return {};
  }
  return unexpected(seat, "{} near, {} across, shard {}; expected {}, {} and {}", near, across,
                    groups.shard(), expected.near, expected.across, expected.shard);
}

void run(const std::string& kind, int world, const SeatBody& body) {
  const WorldOutcome outcome = kind_named(kind).run(world, body, {});
  EXPECT_TRUE(outcome.ok()) << kind << ", world of " << world << ": " << outcome.text();
}

TEST(Company, OneHostIsNear) {
  run("shared_memory", 3, [](Seat& seat) {
    return compare(seat, Company(*seat, "one", NearGroups::kInOrder), {.near = 3, .shard = seat.index()});
  });
  run("shared_memory", 1,
      [](Seat& seat) { return compare(seat, Company(*seat, "one", NearGroups::kByHost), {}); });
}

TEST(Company, RanksThatShareNoMemoryAreAcross) {
  run("loopback", 3, [](Seat& seat) {
    return compare(seat, Company(*seat, "one", NearGroups::kByHost), {.across = 3, .shard = seat.index()});
  });
}

TEST(Company, HostsWithEquallyManyRanksAreAGrid) {
  run("hosts_of_two", 6, [](Seat& seat) {
    const int host = seat.index() / 2, place = seat.index() % 2;
    return compare(seat, Company(*seat, "one", NearGroups::kInOrder),
                   {.near = 2, .across = 3, .shard = place * 3 + host});
  });
  run("hosts_in_turn", 6, [](Seat& seat) {
    const int host = seat.index() % 3, place = seat.index() / 3;
    return compare(seat, Company(*seat, "one", NearGroups::kByHost),
                   {.near = 2, .across = 3, .shard = place * 3 + host});
  });
}

// The ranks of a place come in another order than their hosts.
TEST(Company, RanksAcrossFollowTheirHosts) {
  run("hosts_crosswise", 4, [](Seat& seat) -> Status {
    const int host = seat.index() % 3 == 0 ? 0 : 1, place = seat.index() / 2;
    const Company groups(*seat, "one", NearGroups::kByHost);
    if (groups.across()->rank() != host) return unexpected(seat, "rank {} across", groups.across()->rank());
    return compare(seat, groups, {.near = 2, .across = 2, .shard = place * 2 + host});
  });
}

TEST(Company, OtherHostsAreNoGrid) {
  for (const int world : {3, 5}) {
    run("hosts_of_two", world, [](Seat& seat) {
      return compare(seat, Company(*seat, "one", NearGroups::kByHost),
                     {.across = seat.size(), .shard = seat.index()});
    });
  }
  run("hosts_in_turn", 6, [](Seat& seat) {
    return compare(seat, Company(*seat, "one", NearGroups::kInOrder),
                   {.across = seat.size(), .shard = seat.index()});
  });
}

const char* const kKinds[] = {"shared_memory", "loopback", "hosts_of_two", "hosts_in_turn",
                              "hosts_crosswise"};

TEST(Company, GathersTheShardsInTheirOrder) {
  for (const char* kind : kKinds) {
    for (const int world : {1, 2, 3, 4, 5, 6, 8}) {
      for (const bool in_place : {true, false}) {
        run(kind, world, [in_place](Seat& seat) -> Status {
          const Company groups(*seat, "one", NearGroups::kByHost);
          constexpr std::size_t kEach = 5;
          std::vector<float> whole(kEach * static_cast<std::size_t>(groups.size()), -1);
          const std::size_t first = kEach * static_cast<std::size_t>(groups.shard());
          std::vector<float> apart(kEach);
          const std::span<float> own = in_place ? std::span(whole).subspan(first, kEach) : std::span(apart);
          for (std::size_t i = 0; i < kEach; ++i) own[i] = static_cast<float>(first + i);
          COHORT_RETURN_IF_ERROR(groups.all_gather(own, std::span(whole)));
          for (std::size_t i = 0; i < whole.size(); ++i) {
            if (whole[i] != static_cast<float>(i)) return unexpected(seat, "element {} is {}", i, whole[i]);
          }
          return {};
        });
      }
    }
  }
}

TEST(Company, MeansAreThoseOfAllRanks) {
  for (const char* kind : kKinds) {
    for (const int world : {1, 2, 4, 6, 8}) {
      run(kind, world, [](Seat& seat) -> Status {
        const Company groups(*seat, "one", NearGroups::kByHost);
        for (const std::size_t count : {0u, 1u, 2u, 7u, 16u, 61u}) {
          std::vector<double> from(count), to(count, -1);
          for (std::size_t i = 0; i < count; ++i) {
            // In steps of 12 the mean over hosts and over ranks is a whole number, however they are grouped.
            from[i] = 12.0 * seat.index() * static_cast<double>(i + 1);
          }
          COHORT_RETURN_IF_ERROR(groups.mean(std::span<const double>(from), std::span(to)));
          COHORT_RETURN_IF_ERROR(groups.mean(std::span<const double>(from), std::span(from)));  // in place
          for (std::size_t i = 0; i < count; ++i) {
            const double expected = 6.0 * (seat.size() - 1) * static_cast<double>(i + 1);
            if (to[i] != expected || from[i] != expected) {
              return unexpected(seat, "{} and {} at {} of {}, expected {}", to[i], from[i], i, count,
                                expected);
            }
          }
        }
        return {};
      });
    }
  }
}

// Rank 0 shares only the group of all ranks with rank 3, and rank 3 waits in the other groups.
TEST(Company, AFailedMeanIsToldToEveryRank) {
  run("hosts_of_two", 4, [](Seat& seat) -> Status {
    const Company groups(*seat, "one", NearGroups::kByHost);
    COHORT_RETURN_IF_ERROR(seat.rank.barrier());  // all ranks have their groups
    if (seat.index() == 0) {
      groups.abort(Error(ErrorCode::kAborted, "the disk is full"));
      return seat.rank.barrier();
    }
    std::vector<double> numbers(8);
    const Status outcome = groups.mean(std::span<const double>(numbers), std::span(numbers));
    const std::string text = outcome ? "no failure" : outcome.error().text();
    if (text.find("the disk is full") == std::string::npos) return unexpected(seat, "{}", text);
    return seat.rank.barrier();
  });
}

// Rank 2 does not come. Rank 0 finds out in a group of two, and tells rank 3, which finds rank 2 in another
// place of another group.
TEST(Company, AFailureNamesTheSameRankInAllGroups) {
  run("hosts_of_two", 4, [](Seat& seat) -> Status {
    const Company groups(*seat, "one", NearGroups::kByHost);
    COHORT_RETURN_IF_ERROR(seat.rank.barrier());  // all ranks have their groups
    if (seat.index() == 2) return seat.rank.barrier();
    const bool is_first = seat.index() == 0;
    const Status outcome = is_first ? groups.across()->run(barrier().within(std::chrono::milliseconds(50)))
                                    : groups.near()->run(barrier());
    if (!outcome) groups.abort(outcome.error());
    const Status later = groups.all().run(barrier());
    if (later || later.error().rank() != 2) {
      return unexpected(seat, "{}", later ? "no failure" : later.error().text());
    }
    return seat.rank.barrier();
  });
}

TEST(Lanes, TwoBucketsAreInFlightBetweenHosts) {
  run("shared_memory", 2, [](Seat& seat) -> Status {
    const Lanes lanes(*seat, NearGroups::kByHost);
    return lanes.num_bucket_lanes() == 1 ? Status() : unexpected(seat, "{} lanes", lanes.num_bucket_lanes());
  });
  run("hosts_of_two", 4, [](Seat& seat) -> Status {
    const Lanes lanes(*seat, NearGroups::kByHost);
    return lanes.num_bucket_lanes() == 2 ? Status() : unexpected(seat, "{} lanes", lanes.num_bucket_lanes());
  });
}

TEST(Lanes, AFailureEndsAllLanes) {
  run("hosts_of_two", 4, [](Seat& seat) -> Status {
    Lanes lanes(*seat, NearGroups::kByHost);
    COHORT_RETURN_IF_ERROR(seat.rank.barrier());  // all ranks have their groups
    if (seat.index() == 0) lanes.abort(Error(ErrorCode::kAborted, "the disk is full"));
    for (int lane = 1; lane < lanes.num_lanes(); ++lane) {
      if (lanes[lane].all().run(barrier())) return unexpected(seat, "lane {} goes on", lane);
    }
    if (lanes.group().run(barrier())) return unexpected(seat, "lane 0 goes on");
    return seat.rank.barrier();
  });
}

}  // namespace
}  // namespace cohort::test
